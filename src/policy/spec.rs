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
}

impl Modifier {
    /// Name, effect and description.
    pub const ALL: [(&'static str, Modifier, &'static str); 10] = [
        ("peak-mem", Modifier::Memory(MemorySource::Peak), "memory from the profiled peak (the upper bound)"),
        ("horus-mem", Modifier::Memory(MemorySource::Horus), "memory from the Horus estimate"),
        ("faketensor-mem", Modifier::Memory(MemorySource::FakeTensor), "memory from the FakeTensor estimate"),
        ("gpumemnet-mem", Modifier::Memory(MemorySource::GpuMemNet), "memory from the GPUMemNet estimate"),
        ("magm", Modifier::Placement(Order::Magm), "most available GPU memory first (the default)"),
        ("lug", Modifier::Placement(Order::Lug), "lowest SMACT first"),
        ("bf", Modifier::Placement(Order::Bf), "best fit: least memory that fits first"),
        ("ff", Modifier::Placement(Order::Ff), "first fit: lowest GPU index first"),
        ("rr", Modifier::Placement(Order::Rr), "round robin, without memory and pressure filters"),
        ("no-thresholds", Modifier::Pressure(Pressure::None), "without the runtime-pressure filter"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, modifier, _)| *modifier == self).map_or("", |(name, _, _)| name)
    }

    fn kind(self) -> &'static str {
        match self {
            Modifier::Memory(_) => "memory",
            Modifier::Placement(_) => "placement",
            Modifier::Pressure(_) => "pressure",
        }
    }

    fn apply(self, params: &mut Params) {
        match self {
            Modifier::Memory(source) => params.memory_source = source,
            Modifier::Placement(order) => params.placement = order,
            Modifier::Pressure(pressure) => params.pressure = pressure,
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
        let mut modifiers: Vec<Modifier> = Vec::new();
        for name in parts {
            let names = Modifier::ALL.map(|(name, _, _)| name);
            let Some((_, modifier, _)) = Modifier::ALL.into_iter().find(|(known, _, _)| *known == name)
            else {
                return Err(input_error!(
                    "unknown modifier {:?} in {text:?}: {}modifiers of aegis are +{}",
                    format!("+{name}"),
                    did_you_mean(name, names),
                    names.join(" +")
                ));
            };
            if kind != PolicyKind::Aegis {
                return Err(input_error!(
                    "{text:?}: +{name} changes aegis only; write {base} without it, or aegis+{name}"
                ));
            }
            if let Some(other) = modifiers.iter().find(|other| other.kind() == modifier.kind()) {
                return Err(input_error!(
                    "{text:?}: +{} and +{name} both set the {}; keep one",
                    other.name(),
                    modifier.kind()
                ));
            }
            modifiers.push(modifier);
        }
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
    fn mistakes_are_named() {
        for (text, says) in [
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
