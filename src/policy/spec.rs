use std::fmt;
use std::str::FromStr;

use super::{MemorySource, Order, Params, Pressure};
use crate::error::{Error, did_you_mean, input_error};

/// A scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    Exclusive,
    Horus,
    Lucid,
    Aegis,
}

impl PolicyKind {
    pub const ALL: [PolicyKind; 4] =
        [PolicyKind::Exclusive, PolicyKind::Horus, PolicyKind::Lucid, PolicyKind::Aegis];

    pub fn name(self) -> &'static str {
        match self {
            PolicyKind::Exclusive => "exclusive",
            PolicyKind::Horus => "horus",
            PolicyKind::Lucid => "lucid",
            PolicyKind::Aegis => "aegis",
        }
    }
}

/// A variant of AEGIS, written behind its name with `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modifier {
    Memory(MemorySource),
    Placement(Order),
    Pressure(Pressure),
    /// Pressure from GPU utilisation, from so many percent.
    Smi(u32),
}

impl Modifier {
    /// Name, effect and description.
    pub const ALL: [(&'static str, Modifier, &'static str); 15] = [
        ("peak-mem", Modifier::Memory(MemorySource::Peak), "memory from the profiled peak (the upper bound)"),
        ("horus-mem", Modifier::Memory(MemorySource::Horus), "memory from the Horus estimate"),
        ("faketensor-mem", Modifier::Memory(MemorySource::FakeTensor), "memory from the FakeTensor estimate"),
        ("gpumemnet-mem", Modifier::Memory(MemorySource::GpuMemNet), "memory from the GPUMemNet estimate"),
        ("magm", Modifier::Placement(Order::Magm), "most available GPU memory first (the default)"),
        ("lug", Modifier::Placement(Order::Lug), "lowest SMACT first (with +smi..: lowest GPU utilisation)"),
        ("bf", Modifier::Placement(Order::Bf), "best fit: least memory that fits first"),
        ("ff", Modifier::Placement(Order::Ff), "first fit: lowest GPU index first"),
        ("rr", Modifier::Placement(Order::Rr), "round robin, without memory and pressure filters"),
        ("no-thresholds", Modifier::Pressure(Pressure::None), "without the runtime-pressure filter"),
        (
            "smi40",
            Modifier::Smi(40),
            "pressure from nvidia-smi alone: no GPU at 40 % GPU utilisation or more",
        ),
        ("smi50", Modifier::Smi(50), "likewise, 50 %"),
        ("smi60", Modifier::Smi(60), "likewise, 60 %"),
        ("smi70", Modifier::Smi(70), "likewise, 70 %"),
        ("smi80", Modifier::Smi(80), "likewise, 80 %"),
    ];

    /// Other names: what is left of AEGIS without its pressure filter is memory feasibility (and observation,
    /// which all policies have).
    pub const ALIASES: [(&'static str, &'static str); 1] = [("memory-only", "no-thresholds")];

    fn find(name: &str) -> Option<Modifier> {
        let name = Self::ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
        Self::ALL.into_iter().find(|(known, _, _)| *known == name).map(|(_, modifier, _)| modifier)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, modifier, _)| *modifier == self).map_or("", |(name, _, _)| name)
    }

    fn kind(self) -> &'static str {
        match self {
            Modifier::Memory(_) => "memory",
            Modifier::Placement(_) => "placement",
            Modifier::Pressure(_) | Modifier::Smi(_) => "pressure",
        }
    }

    /// The parameters that it sets.
    pub(crate) fn keys(self) -> &'static [&'static str] {
        match self {
            Modifier::Memory(_) => &["memory_source"],
            Modifier::Placement(_) => &["placement"],
            Modifier::Pressure(_) => &["pressure"],
            Modifier::Smi(_) => &["pressure", "gpu_util_threshold"],
        }
    }

    fn apply(self, params: &mut Params) {
        match self {
            Modifier::Memory(source) => params.memory_source = source,
            Modifier::Placement(order) => params.placement = order,
            Modifier::Pressure(pressure) => params.pressure = pressure,
            Modifier::Smi(percent) => {
                params.pressure = Pressure::GpuUtilization;
                params.gpu_util_threshold = f64::from(percent) / 100.0;
            }
        }
    }
}

/// A policy with its modifiers, such as `aegis+peak-mem+lug`.
///
/// ```
/// use aegis_sim::policy::PolicySpec;
///
/// let policy: PolicySpec = "aegis+lug+peak-mem".parse()?;
/// assert_eq!(policy.to_string(), "aegis+peak-mem+lug");
/// assert!("lucid+lug".parse::<PolicySpec>().is_err());
/// # Ok::<(), aegis_sim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PolicySpec {
    pub kind: PolicyKind,
    /// One of a kind at most, in the order memory, placement, pressure.
    modifiers: Vec<Modifier>,
}

impl PolicySpec {
    pub fn modifiers(&self) -> &[Modifier] {
        &self.modifiers
    }

    /// Sets the parameters that the modifiers stand for.
    pub fn apply(&self, params: &mut Params) {
        for modifier in &self.modifiers {
            modifier.apply(params);
        }
    }
}

impl From<PolicyKind> for PolicySpec {
    fn from(kind: PolicyKind) -> Self {
        PolicySpec { kind, modifiers: Vec::new() }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        self.modifiers.iter().try_for_each(|modifier| write!(f, "+{}", modifier.name()))
    }
}

impl FromStr for PolicySpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = text.split('+').map(str::trim);
        let base = parts.next().unwrap_or_default();
        let kinds = PolicyKind::ALL;
        let kind = kinds.into_iter().find(|kind| kind.name() == base).ok_or_else(|| {
            input_error!(
                "unknown policy {base:?}: {}policies are {}",
                did_you_mean(base, kinds.map(PolicyKind::name)),
                kinds.map(PolicyKind::name).join(", ")
            )
        })?;
        // Beside their names as typed, for messages.
        let mut modifiers: Vec<(Modifier, &str)> = Vec::new();
        for name in parts {
            let Some(modifier) = Modifier::find(name) else {
                let aliases = Modifier::ALIASES.map(|(alias, _)| alias);
                let names = [&Modifier::ALL.map(|(name, _, _)| name)[..], &aliases].concat();
                return Err(input_error!(
                    "unknown modifier {:?} in {text:?}: {}modifiers of aegis are +{}",
                    format!("+{name}"),
                    did_you_mean(name, names.iter().copied()),
                    names.join(" +")
                ));
            };
            if kind != PolicyKind::Aegis {
                return Err(input_error!(
                    "{text:?}: +{name} changes aegis only; write {base} without it, or aegis+{name}"
                ));
            }
            if let Some((_, other)) = modifiers.iter().find(|(other, _)| other.kind() == modifier.kind()) {
                return Err(input_error!(
                    "{text:?}: +{other} and +{name} both set the {}; keep one",
                    modifier.kind()
                ));
            }
            modifiers.push((modifier, name));
        }
        let mut modifiers: Vec<Modifier> = modifiers.into_iter().map(|(modifier, _)| modifier).collect();
        modifiers.sort();
        Ok(PolicySpec { kind, modifiers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_modifiers_does_not_matter() {
        let one: PolicySpec = "aegis+no-thresholds+bf+horus-mem".parse().unwrap();
        let other: PolicySpec = "aegis+horus-mem+bf+no-thresholds".parse().unwrap();
        assert_eq!(one, other);
        assert_eq!(one.to_string(), "aegis+horus-mem+bf+no-thresholds");
    }

    #[test]
    fn an_alias_shows_as_what_it_stands_for() {
        let policy: PolicySpec = "aegis+memory-only+peak-mem".parse().unwrap();
        assert_eq!(policy, "aegis+no-thresholds+peak-mem".parse().unwrap());
        assert_eq!(policy.to_string(), "aegis+peak-mem+no-thresholds");
    }

    #[test]
    fn smi_sets_the_mode_and_its_threshold() {
        let policy: PolicySpec = "aegis+smi40".parse().unwrap();
        let mut params = Params::default();
        policy.apply(&mut params);
        assert_eq!((params.pressure, params.gpu_util_threshold), (Pressure::GpuUtilization, 0.4));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("aegis+smi70+memory-only", "+smi70 and +memory-only both set the pressure"),
            ("aegis+memory-only+no-thresholds", "+memory-only and +no-thresholds both set the pressure"),
            ("aegis+memory-onyl", "did you mean memory-only"),
            ("aegsi", "did you mean aegis?"),
            ("aegis+peek-mem", "did you mean peak-mem"),
            ("horus+peak-mem", "changes aegis only"),
            ("aegis+lug+magm", "+lug and +magm both set the placement"),
            ("aegis+lug+lug", "both set the placement"),
            ("aegis+", "unknown modifier \"+\""),
            ("", "unknown policy \"\""),
        ] {
            let message = text.parse::<PolicySpec>().unwrap_err().to_string();
            assert!(message.contains(says), "{text}: {message}");
        }
    }
}
