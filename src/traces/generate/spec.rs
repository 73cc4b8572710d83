use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;

use super::arrivals::{DAYS, HOURS, Profile};
use super::durations::{DurationClass, Durations};
use super::quantiles::Quantiles;
use crate::error::{Error, Result, check_builtin_or_path, did_you_mean, input_error};
use crate::model::check_schema;
use crate::workload::MAX_SPAN_S;

/// The statistics that a synthetic trace follows; `models/traces/README.md` describes the file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    schema_version: i64,
    /// Job ids begin with it.
    pub name: String,
    pub arrivals: ArrivalSpec,
    pub gpus: Vec<GpuShare>,
    pub durations: Durations,
    #[serde(default)]
    pub vc: Vec<VcShare>,
    /// The file, for messages.
    #[serde(skip)]
    pub source: String,
}

/// When jobs come.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivalSpec {
    /// Jobs per time over what the other keys amount to; waits between bursts are stretched or shortened for it.
    #[serde(default = "one")]
    pub rate: f64,
    /// A burst is over when no job has come for longer than this.
    pub burst_gap_s: f64,
    /// Jobs of a burst.
    pub burst_jobs: Quantiles,
    /// Between jobs of a burst.
    #[serde(default = "no_gap")]
    pub gap_s: Quantiles,
    /// From `burst_gap_s` after a burst's last job to the next burst, at the mean of the profile.
    pub wait_s: Quantiles,
    #[serde(default)]
    pub regular: Option<Regular>,
    /// How often a wait ends by hour of the day; only ratios matter.
    #[serde(default = "flat_day")]
    pub hourly: Vec<f64>,
    /// The same by day of the week, from Monday.
    #[serde(default = "flat_week")]
    pub weekday: Vec<f64>,
}

/// Waits that a clock ends, whatever the hour: a script that submits every ten minutes, say.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regular {
    /// Of the waits.
    pub share: f64,
    /// From a burst's last job to the next burst.
    pub gap_s: Quantiles,
}

/// The share of jobs that ask for so many GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuShare {
    pub count: u32,
    pub share: f64,
}

/// The share of jobs of a virtual cluster.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VcShare {
    pub name: String,
    pub share: f64,
}

/// The specifications that ship with the simulator: name and TOML text.
pub const BUILTIN_SPECS: [(&str, &str); 5] = [
    ("philly", include_str!("../../../models/traces/philly.toml")),
    ("saturn", include_str!("../../../models/traces/saturn.toml")),
    ("venus", include_str!("../../../models/traces/venus.toml")),
    ("earth", include_str!("../../../models/traces/earth.toml")),
    ("uranus", include_str!("../../../models/traces/uranus.toml")),
];

/// Jobs of one burst at most.
const MOST_JOBS: f64 = 1e6;
/// Shares may miss a sum of 1 by so much, from rounding.
const SHARE_TOLERANCE: f64 = 1e-3;

fn one() -> f64 {
    1.0
}

fn no_gap() -> Quantiles {
    Quantiles::constant(0.0)
}

fn flat_day() -> Vec<f64> {
    vec![1.0; HOURS]
}

fn flat_week() -> Vec<f64> {
    vec![1.0; DAYS]
}

impl Spec {
    pub(super) fn new(name: &str, arrivals: ArrivalSpec, durations: Durations) -> Spec {
        let (gpus, vc) = (Vec::new(), Vec::new());
        Spec { schema_version: 1, name: name.into(), arrivals, gpus, durations, vc, source: name.into() }
    }

    /// A built-in specification by name, or a TOML file by path.
    pub fn open(name: &str) -> Result<Spec> {
        if let Some((builtin, text)) = BUILTIN_SPECS.iter().find(|(builtin, _)| *builtin == name) {
            return Self::parse(&format!("models/traces/{builtin}.toml"), text);
        }
        let path = Path::new(name);
        check_builtin_or_path("trace specification", name, &BUILTIN_SPECS, "TOML")?;
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        Self::parse(name, &text)
    }

    /// Parses a specification.
    ///
    /// # Errors
    /// [`Error::Input`] with file and line or key for anything that cannot be used.
    pub fn parse(source: &str, text: &str) -> Result<Spec> {
        let spec: Spec = toml::from_str(text).map_err(|error| {
            let hint = unknown_field_hint(error.message());
            input_error!("{source} cannot be used: {error}{hint}")
        })?;
        let spec = Spec { source: source.to_owned(), ..spec };
        check_schema(source, spec.schema_version)?;
        spec.check()?;
        Ok(spec)
    }

    pub(super) fn check(&self) -> Result<()> {
        let place = |key: &str| format!("{}, key {key}", self.source);
        if !is_name(&self.name) {
            return Err(input_error!(
                "{}: found {:?}; expected a name of 1 to 256 bytes on one line, which job ids begin with",
                place("name"),
                self.name
            ));
        }
        self.arrivals.check(&self.source)?;
        self.check_gpus()?;
        let Durations { correlation, class } = &self.durations;
        number(&place("durations.correlation"), *correlation, 0.0, 0.999)?;
        let least = self.gpus[0].count;
        match class.first() {
            None => {
                return Err(input_error!("{}: empty; add a [[durations.class]]", place("durations.class")));
            }
            Some(first) if first.min_gpus > least => {
                return Err(input_error!(
                    "{}: the first class is for {} GPUs or more, and there are jobs with {least}; start with min_gpus \
                     = {least}",
                    place("durations.class"),
                    first.min_gpus
                ));
            }
            _ => {}
        }
        if let Some(pair) = class.windows(2).find(|pair| pair[1].min_gpus <= pair[0].min_gpus) {
            return Err(input_error!(
                "{}: min_gpus {} follows {}; expected them to ascend",
                place("durations.class"),
                pair[1].min_gpus,
                pair[0].min_gpus
            ));
        }
        for DurationClass { min_gpus, duration_s } in class {
            let key = format!("durations.class (min_gpus = {min_gpus}).duration_s");
            duration_s.check(&place(&key), 0.0, MAX_SPAN_S)?;
        }
        self.check_vcs()
    }

    fn check_gpus(&self) -> Result<()> {
        let place = format!("{}, key gpus", self.source);
        for GpuShare { count, .. } in &self.gpus {
            number(&format!("{place}.count"), f64::from(*count), 1.0, f64::from(u16::MAX))?;
        }
        if let Some(pair) = self.gpus.windows(2).find(|pair| pair[1].count <= pair[0].count) {
            return Err(input_error!(
                "{place}: count {} follows {}; expected counts to ascend",
                pair[1].count,
                pair[0].count
            ));
        }
        shares(&place, self.gpus.iter().map(|gpus| gpus.share))
    }

    fn check_vcs(&self) -> Result<()> {
        if self.vc.is_empty() {
            return Ok(());
        }
        let place = format!("{}, key vc", self.source);
        let mut names = HashSet::new();
        match self.vc.iter().find(|vc| !is_name(&vc.name) || !names.insert(&vc.name)) {
            Some(vc) => Err(input_error!(
                "{place}: found the name {:?} {}; give each virtual cluster its own name, of 1 to 256 bytes on one line",
                vc.name,
                if is_name(&vc.name) { "twice" } else { "for one" }
            )),
            None => shares(&place, self.vc.iter().map(|vc| vc.share)),
        }
    }
}

impl ArrivalSpec {
    pub(super) fn profile(&self) -> Profile {
        Profile::new(&self.hourly, &self.weekday)
    }

    fn check(&self, source: &str) -> Result<()> {
        let place = |key: &str| format!("{source}, key arrivals.{key}");
        number(&place("rate"), self.rate, 1e-6, 1e6)?;
        number(&place("burst_gap_s"), self.burst_gap_s, 0.0, MAX_SPAN_S)?;
        if self.burst_gap_s.fract() != 0.0 {
            return Err(input_error!(
                "{}: found {}; expected whole seconds, as submissions are",
                place("burst_gap_s"),
                self.burst_gap_s
            ));
        }
        self.burst_jobs.check(&place("burst_jobs"), 1.0, MOST_JOBS)?;
        self.gap_s.check(&place("gap_s"), 0.0, MAX_SPAN_S)?;
        if self.gap_s.max() > self.burst_gap_s && self.burst_jobs.max() > 1.0 {
            return Err(input_error!(
                "{}: up to {}, where a gap of more than burst_gap_s = {} ends a burst",
                place("gap_s"),
                self.gap_s.max(),
                self.burst_gap_s
            ));
        }
        self.wait_s.check(&place("wait_s"), 0.0, MAX_SPAN_S)?;
        if self.wait_s.max() <= 0.0 {
            return Err(input_error!(
                "{}: no wait is longer than 0 s; then all jobs would come at once",
                place("wait_s")
            ));
        }
        if let Some(Regular { share, gap_s }) = &self.regular {
            // Without any other waits, the hour of the day would say nothing.
            number(&place("regular.share"), *share, 0.0, 0.999)?;
            gap_s.check(&place("regular.gap_s"), 0.0, MAX_SPAN_S)?;
        }
        for (key, rates, count) in [("hourly", &self.hourly, HOURS), ("weekday", &self.weekday, DAYS)] {
            if rates.len() != count {
                return Err(input_error!(
                    "{}: found {} numbers; expected {count}, one each",
                    place(key),
                    rates.len()
                ));
            }
            for &rate in rates {
                number(&place(key), rate, 1e-3, 1e6)?;
            }
        }
        Ok(())
    }
}

/// What a job id or a virtual cluster may be called.
fn is_name(text: &str) -> bool {
    (1..=256).contains(&text.len()) && !text.contains(char::is_control)
}

fn number(place: &str, value: f64, low: f64, high: f64) -> Result<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(input_error!("{place}: found {value}; expected a number from {low} to {high}"))
}

/// Whether shares are of a whole.
fn shares(place: &str, shares: impl Iterator<Item = f64>) -> Result<()> {
    let mut sum = 0.0;
    for share in shares {
        number(&format!("{place}.share"), share, 1e-9, 1.0)?;
        sum += share;
    }
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        return Err(input_error!("{place}: shares add up to {sum}; expected 1"));
    }
    Ok(())
}

/// The parser says: unknown field `a`, expected one of `b`, `c`.
fn unknown_field_hint(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(name) if message.starts_with("unknown field") => {
            did_you_mean(name, quoted).trim_end().to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &str = "schema_version = 1\nname = \"some\"\n\
        [arrivals]\nburst_gap_s = 5\nburst_jobs = { points = [[0.5, 1], [1, 4]] }\n\
        wait_s = { points = [[0, 0], [1, 100]] }\n\
        [[gpus]]\ncount = 1\nshare = 0.75\n[[gpus]]\ncount = 8\nshare = 0.25\n\
        [[durations.class]]\nmin_gpus = 1\nduration_s = { points = [[0, 1], [0.9, 60]], tail = { alpha = 1.5, max = 600 } }\n\
        [[vc]]\nname = \"a\"\nshare = 1\n";

    #[test]
    fn builtin_specs_parse_under_their_names() {
        for (name, _) in BUILTIN_SPECS {
            assert_eq!(Spec::open(name).unwrap().name, name);
        }
        let message = Spec::open("phily").unwrap_err().to_string();
        assert!(message.contains("did you mean philly? built in are philly, saturn"), "{message}");
    }

    #[test]
    fn what_may_be_left_out_is_flat_and_at_once() {
        let spec = Spec::parse("s.toml", SOME).unwrap();
        assert_eq!(
            (spec.arrivals.hourly.len(), spec.arrivals.weekday.len(), spec.arrivals.rate),
            (24, 7, 1.0)
        );
        assert_eq!((spec.arrivals.gap_s.max(), spec.durations.correlation), (0.0, 0.0));
    }

    #[test]
    fn mistakes_are_named() {
        let says = |from: &str, to: &str, expected: &str| {
            assert!(SOME.contains(from), "{from}");
            let message = Spec::parse("s.toml", &SOME.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(message.starts_with("s.toml") && message.contains(expected), "{message}");
        };
        says("burst_gap_s", "burst_gaps_s", "line 4");
        says("burst_gap_s", "burst_gaps_s", "did you mean burst_gap_s");
        says("[[vc]]", "[[vcs]]", "did you mean vc");
        says("alpha", "alfa", "did you mean alpha");
        says("count = 1\n", "", "missing field `count`");
        says("schema_version = 1", "schema_version = 2", "schema_version 2");
        says("schema_version = 1\n", "", "schema_version");
        says("\"some\"", "\"\"", "key name");
        says("\"some\"", "\"a\\nb\"", "key name");
        says("name = \"a\"", "name = \"a\\u0000\"", "key vc");
        says("burst_gap_s = 5", "burst_gap_s = 5.5", "expected whole seconds");
        says("burst_gap_s = 5", "burst_gap_s = 5\ngap_s = { points = [[1, 6]] }", "ends a burst");
        says("burst_gap_s = 5", "burst_gap_s = -5", "key arrivals.burst_gap_s: found -5");
        says("[0.5, 1]", "[0.5, 0]", "key arrivals.burst_jobs.points: found [0.5, 0]");
        says("[1, 100]", "[1, 0]", "key arrivals.wait_s: no wait is longer");
        says(
            "burst_gap_s = 5",
            "burst_gap_s = 5\nhourly = [1, 2]",
            "key arrivals.hourly: found 2 numbers; expected 24",
        );
        says(
            "burst_gap_s = 5",
            "burst_gap_s = 5\nweekday = [1, 2, 3, 4, 5, 6, 0]",
            "key arrivals.weekday: found 0",
        );
        says("burst_gap_s = 5", "burst_gap_s = 5\nrate = 0", "key arrivals.rate: found 0");
        let regular = "[arrivals.regular]\nshare = 1\ngap_s = { points = [[1, 600]] }\n[[gpus]]";
        says("[[gpus]]", regular, "key arrivals.regular.share: found 1");
        says("count = 8", "count = 1", "key gpus: count 1 follows 1");
        says("share = 0.75", "share = 0.5", "key gpus: shares add up to 0.75");
        says("share = 0.75", "share = -0.5", "key gpus.share: found -0.5");
        says("min_gpus = 1", "min_gpus = 2", "jobs with 1; start with min_gpus = 1");
        says("[0.9, 60]", "[0.9, 0.5]", "(min_gpus = 1).duration_s.points");
        says("name = \"a\"", "name = \"\"", "key vc: found the name \"\"");
        says("name = \"a\"", "name = \"a\"\nname = \"b\"", "duplicate key");
    }
}
