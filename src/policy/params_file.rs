use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::params::Parameter;
use super::{Params, PolicyKind, PolicySpec};
use crate::error::{Error, Result, check_builtin_or_path, did_you_mean, input_error};
use crate::model::check_schema;

/// A set of parameters: values for all policies, and values for one policy that come after them.
#[derive(Debug, Clone, Default)]
pub struct ParamsFile {
    /// Section (`all` or a policy's name), key and value as text, in the order of application.
    values: Vec<(String, &'static str, String)>,
}

/// The parameter sets that ship with the simulator: name and TOML text.
pub const BUILTIN_PARAMS: [(&str, &str); 2] = [
    ("default", include_str!("../../models/params/default.toml")),
    ("ideal", include_str!("../../models/params/ideal.toml")),
];

const ALL: &str = "all";

impl ParamsFile {
    /// A built-in set by name, or a TOML file by path.
    pub fn open(name: &str) -> Result<ParamsFile> {
        if let Some((builtin, text)) = BUILTIN_PARAMS.iter().find(|(builtin, _)| *builtin == name) {
            return Self::parse(&format!("models/params/{builtin}.toml"), text);
        }
        let path = Path::new(name);
        check_builtin_or_path("parameter set", name, &BUILTIN_PARAMS, "TOML")?;
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        Self::parse(name, &text)
    }

    /// Parses a parameter file: `schema_version = 1`, keys for all policies at the top or under `[all]`, and
    /// keys for one policy under its name.
    ///
    /// # Errors
    /// [`Error::Input`] with file and line for unknown sections and keys and for values out of range.
    pub fn parse(source: &str, text: &str) -> Result<ParamsFile> {
        let table = DeTable::parse(text)
            .map_err(|error| input_error!("{source} cannot be used: {error}"))?
            .into_inner();
        let line = |span: std::ops::Range<usize>| text[..span.start].matches('\n').count() + 1;
        let mut file = ParamsFile::default();
        let mut version = None;
        let mut sections = Vec::new();
        for (key, value) in &table {
            let place = format!("{source}, line {}", line(key.span()));
            match value.get_ref() {
                DeValue::Table(section) => sections.push((key.get_ref().as_ref(), section, place)),
                DeValue::Integer(number) if key.get_ref() == "schema_version" => {
                    version = number.as_str().parse::<i64>().ok();
                }
                _ if key.get_ref() == "schema_version" => {
                    return Err(input_error!("{place}: schema_version: expected the whole number 1"));
                }
                value => file.push(&place, ALL, key.get_ref(), value)?,
            }
        }
        let version = version
            .ok_or_else(|| input_error!("{source}: schema_version is missing; add schema_version = 1"))?;
        check_schema(source, version)?;
        // What holds for all comes first, whatever the order in the file.
        sections.sort_by_key(|(name, _, _)| *name != ALL);
        for (name, section, place) in sections {
            let names = [ALL].into_iter().chain(PolicyKind::ALL.map(PolicyKind::name));
            if !names.clone().any(|known| known == name) {
                return Err(input_error!(
                    "{place}: unknown section [{name}]: {}sections are {}",
                    did_you_mean(name, names.clone()),
                    names.collect::<Vec<_>>().join(", ")
                ));
            }
            for (key, value) in section {
                let place = format!("{source}, line {}", line(key.span()));
                file.push(&place, name, key.get_ref(), value.get_ref())?;
            }
        }
        Ok(file)
    }

    fn push(&mut self, place: &str, section: &str, key: &str, value: &DeValue<'_>) -> Result<()> {
        let at = |problem: Error| input_error!("{place}: {problem}");
        let parameter = Parameter::find(key).map_err(at)?;
        let text = match value {
            DeValue::String(text) => text.to_string(),
            // Hexadecimal and the like are no numbers to a parameter; digits alone would be other ones.
            DeValue::Integer(number) if number.radix() != 10 => {
                return Err(input_error!(
                    "{place}: parameter {key}: expected {}, in decimal",
                    parameter.domain
                ));
            }
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Boolean(flag) => flag.to_string(),
            _ => return Err(input_error!("{place}: parameter {key}: expected {}", parameter.domain)),
        };
        Params::default().set(key, &text).map_err(at)?;
        self.values.push((section.to_owned(), parameter.key, text));
        Ok(())
    }

    /// Sets the values of this file that hold for a policy.
    pub fn apply(&self, kind: PolicyKind, params: &mut Params) {
        for (key, text) in self.values_of(kind) {
            params.set(key, text).expect("checked when the file was parsed");
        }
    }

    /// The parameters that this file sets for a policy.
    pub fn keys(&self, kind: PolicyKind) -> impl Iterator<Item = &'static str> + '_ {
        self.values_of(kind).map(|(key, _)| key)
    }

    fn values_of(&self, kind: PolicyKind) -> impl Iterator<Item = (&'static str, &str)> {
        let holds = move |section: &str| section == ALL || section == kind.name();
        self.values
            .iter()
            .filter(move |(section, ..)| holds(section))
            .map(|(_, key, text)| (*key, text.as_str()))
    }

    /// The built-in defaults of a policy.
    pub fn defaults(kind: PolicyKind) -> Params {
        let file = Self::open("default").expect("the built-in defaults parse: a test sees to it");
        let mut params = Params::default();
        file.apply(kind, &mut params);
        params
    }
}

/// The parameters of a run: defaults, then parameter files, then the policy's modifiers, then assignments.
pub fn resolve_params(policy: &PolicySpec, files: &[ParamsFile], assignments: &[String]) -> Result<Params> {
    let mut params = ParamsFile::defaults(policy.kind);
    for file in files {
        file.apply(policy.kind, &mut params);
    }
    policy.apply(&mut params);
    for assignment in assignments {
        params.assign(assignment)?;
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PARAMETERS;

    #[test]
    fn the_defaults_name_every_parameter() {
        let file = ParamsFile::open("default").unwrap();
        for parameter in PARAMETERS {
            assert!(file.values.iter().any(|(section, key, _)| section == ALL && *key == parameter.key));
        }
        ParamsFile::open("ideal").unwrap();
    }

    #[test]
    fn later_sources_win() {
        let policy: PolicySpec = "aegis+lug".parse().unwrap();
        let text =
            "schema_version = 1\nplacement = \"bf\"\ntick_s = 1\n[aegis]\ntick_s = 2\n[lucid]\ntick_s = 9\n";
        let file = ParamsFile::parse("p.toml", text).unwrap();
        let params = resolve_params(&policy, &[file], &["smact_threshold=0.5".into()]).unwrap();
        assert_eq!((params.tick_s, params.placement), (2.0, crate::policy::Order::Lug));
        assert_eq!((params.smact_threshold, params.smocc_threshold), (0.5, 0.35));
        let set = resolve_params(&policy, &[], &["placement=rr".into()]).unwrap();
        assert_eq!(set.placement, crate::policy::Order::Rr);
    }

    #[test]
    fn mistakes_are_named() {
        let says = |text: &str, expected: &str| {
            let message = ParamsFile::parse("p.toml", text).unwrap_err().to_string();
            assert!(message.starts_with("p.toml") && message.contains(expected), "{message}");
        };
        says("schema_version = 1\nwindow_s = 3\n", "line 2: unknown parameter \"window_s\"");
        says("schema_version = 1\n[aegis]\nsmact_treshold = 3\n", "did you mean smact_threshold");
        says(
            "schema_version = 1\n\ntick_s = -1\n",
            "line 3: parameter tick_s: found \"-1\"; expected a number",
        );
        says("schema_version = 1\ntick_s = nan\n", "line 2: parameter tick_s");
        says("schema_version = 1\ntick_s = [1]\n", "line 2: parameter tick_s");
        says(
            "schema_version = 1\n[aegiss]\ntick_s = 1\n",
            "line 2: unknown section [aegiss]: did you mean aegis",
        );
        says("schema_version = 2\n", "schema_version 2");
        says("schema_version = -1\n", "schema_version -1");
        says("tick_s = 2\n", "schema_version is missing");
        says("schema_version = \"1\"\n", "line 1: schema_version: expected the whole number 1");
        says("schema_version = 1\ntick_s = 0x10\n", "line 2: parameter tick_s: expected a number");
        says("schema_version = \n", "line 1");
    }
}
