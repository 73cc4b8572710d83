use serde::{Deserialize, Serialize};
use toml::Value;

use super::key::Key;
use crate::error::{Result, input_error};

/// What varies between settings: the values of one parameter, or of several together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    pub name: String,
    /// Names of the parameters.
    pub keys: Vec<String>,
    /// For each point of the axis the values of all `keys`, as text.
    pub values: Vec<Vec<String>>,
    /// The point at which all parameters are as they would be without the axis.
    pub default: Option<usize>,
    /// Whether its points are evenly spaced as logarithms.
    pub log: bool,
}

/// More values than any axis needs: a slip of the pen.
const MOST_VALUES: usize = 100_000;

impl Axis {
    /// An axis of one parameter from its entry in a file: a list of values, `{ start, stop, step }`, or
    /// `{ start, stop, points, log = true }`.
    ///
    /// # Errors
    /// An empty axis, a range that never ends, a value twice or out of range.
    pub fn of_entry(name: &str, entry: &Value) -> Result<Axis> {
        let key = Key::find(name)?;
        let mut log = false;
        let texts = match entry {
            Value::Array(list) => {
                list.iter().map(|value| text_of(name, value)).collect::<Result<Vec<_>>>()?
            }
            Value::Table(table) => {
                let range = Range::of_table(name, table)?;
                log = range.log;
                range.values(name)?
            }
            _ => {
                return Err(input_error!(
                    "axis {name}: expected a list of values, a range such as {{ start = 0, stop = 300, step = 10 }}, or one \
                     with log = true"
                ));
            }
        };
        let values = texts.iter().map(|text| Ok(vec![key.canonical(text)?])).collect::<Result<Vec<_>>>()?;
        Axis { name: name.to_owned(), keys: vec![name.to_owned()], values, default: None, log }.checked()
    }

    /// # Errors
    /// No values, or a value twice.
    pub(super) fn checked(self) -> Result<Axis> {
        if self.values.is_empty() {
            return Err(input_error!(
                "axis {}: has no value; give at least one, or take the axis out",
                self.name
            ));
        }
        for (i, value) in self.values.iter().enumerate() {
            if self.values[..i].contains(value) {
                return Err(input_error!(
                    "axis {}: has the value {} twice; remove one",
                    self.name,
                    value.join(", ")
                ));
            }
        }
        Ok(self)
    }

    pub fn parameters(&self) -> impl Iterator<Item = Key> + '_ {
        self.keys.iter().map(|key| Key::find(key).expect("checked when the experiment was read"))
    }

    /// Its values as numbers, where all of them are.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match self.keys.len() {
            1 => self.values.iter().map(|value| value[0].parse().ok()).collect(),
            _ => None,
        }
    }

    /// A point of it as people read it.
    pub fn label(&self, point: usize) -> String {
        self.values[point].join("/")
    }
}

/// A value of a list, as text.
pub(super) fn text_of(name: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(flag) => Ok(flag.to_string()),
        _ => Err(input_error!("{name}: expected a number, a word, or true or false")),
    }
}

struct Range {
    start: f64,
    stop: f64,
    step: Option<f64>,
    points: Option<f64>,
    log: bool,
}

impl Range {
    fn of_table(name: &str, table: &toml::Table) -> Result<Range> {
        let mut range = Range { start: f64::NAN, stop: f64::NAN, step: None, points: None, log: false };
        for (key, value) in table {
            let number = match value {
                Value::Integer(number) => Some(*number as f64),
                Value::Float(number) => Some(*number).filter(|number| number.is_finite()),
                _ => None,
            };
            match (key.as_str(), number, value) {
                ("start", Some(number), _) => range.start = number,
                ("stop", Some(number), _) => range.stop = number,
                ("step", Some(number), _) => range.step = Some(number),
                ("points", Some(number), _) => range.points = Some(number),
                ("log", _, Value::Boolean(log)) => range.log = *log,
                ("start" | "stop" | "step" | "points", ..) => {
                    return Err(input_error!("axis {name}: {key}: found {value}; expected a finite number"));
                }
                _ => {
                    return Err(input_error!(
                        "axis {name}: {key} = {value}: a range has start, stop and step, or start, stop, points and log = true"
                    ));
                }
            }
        }
        if range.start.is_nan() || range.stop.is_nan() {
            return Err(input_error!("axis {name}: a range needs start and stop, and step or points"));
        }
        Ok(range)
    }

    fn values(&self, name: &str) -> Result<Vec<String>> {
        let Range { start, stop, .. } = *self;
        match (self.step, self.points, self.log) {
            (Some(step), None, false) => {
                if start == stop {
                    return Ok(vec![tidy(start)]);
                }
                let steps = (stop - start) / step;
                if !(steps.is_finite() && steps > 0.0) {
                    return Err(input_error!(
                        "axis {name}: a range from {start} to {stop} in steps of {step} never ends; give a step {} 0",
                        if stop > start { "above" } else { "below" }
                    ));
                }
                // A last step that misses `stop` by rounding is one that meets it.
                let count = count(name, (steps + 1e-9).floor() + 1.0)?;
                Ok((0..count).map(|i| tidy(start + i as f64 * step)).collect())
            }
            (None, Some(points), log) => {
                let count = count(name, points)?;
                if points.fract() != 0.0 || count < 2 {
                    return Err(input_error!(
                        "axis {name}: points: found {points}; expected a whole number from 2"
                    ));
                }
                if log && !(start > 0.0 && stop > 0.0) {
                    return Err(input_error!("axis {name}: start and stop must be above 0 where log = true"));
                }
                let at = |i: usize| {
                    let share = i as f64 / (count - 1) as f64;
                    match log {
                        true => start * libm::pow(stop / start, share),
                        false => start + share * (stop - start),
                    }
                };
                Ok((0..count).map(|i| tidy(at(i))).collect())
            }
            (Some(_), Some(_), _) => Err(input_error!("axis {name}: give step or points, not both")),
            (Some(_), None, true) => {
                Err(input_error!("axis {name}: log = true needs points in place of step"))
            }
            (None, None, _) => Err(input_error!("axis {name}: a range needs step or points")),
        }
    }
}

fn count(name: &str, count: f64) -> Result<usize> {
    if (1.0..=MOST_VALUES as f64).contains(&count) {
        return Ok(count as usize);
    }
    Err(input_error!("axis {name}: has {count} values; expected 1 to {MOST_VALUES}"))
}

/// To nine significant digits: 0.1 + 0.2 is 0.3 to whoever wrote the range.
fn tidy(value: f64) -> String {
    significant(value, 9)
}

/// A number to some significant digits, without zeros at its end.
pub(in crate::experiment) fn significant(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    (rounded + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, entry: &str) -> Result<Vec<String>> {
        let table: toml::Table = toml::from_str(&format!("entry = {entry}")).unwrap();
        Axis::of_entry(name, &table["entry"]).map(|axis| axis.values.concat())
    }

    #[test]
    fn ranges_hold_what_was_meant() {
        let of = |name, entry| axis(name, entry).unwrap();
        assert_eq!(of("observation_window_s", "[0, 30.0, 5]"), ["0", "30", "5"]);
        assert_eq!(
            of("observation_window_s", "{ start = 0, stop = 30, step = 10 }"),
            ["0", "10", "20", "30"]
        );
        assert_eq!(of("observation_window_s", "{ start = 30, stop = 0, step = -20 }"), ["30", "10"]);
        assert_eq!(
            of("smact_threshold", "{ start = 0.1, stop = 0.4, step = 0.1 }"),
            ["0.1", "0.2", "0.3", "0.4"]
        );
        assert_eq!(
            of("arrival_rate_scale", "{ start = 0.25, stop = 4, points = 5, log = true }"),
            ["0.25", "0.5", "1", "2", "4"]
        );
        assert_eq!(of("smact_threshold", "{ start = 0, stop = 1, points = 3 }"), ["0", "0.5", "1"]);
        assert_eq!(of("gpu_count", "{ start = 3, stop = 3, step = 1 }"), ["3"]);
        assert_eq!(of("recovery", "[\"idle\", \"floors\"]"), ["idle", "floors"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (name, entry, says) in [
            ("observation_window_s", "[]", "has no value"),
            ("observation_window_s", "[30, 30.0]", "has the value 30 twice"),
            (
                "observation_window_s",
                "{ start = 0, stop = 300, step = 0 }",
                "never ends; give a step above 0",
            ),
            (
                "observation_window_s",
                "{ start = 0, stop = 300, step = -1 }",
                "never ends; give a step above 0",
            ),
            ("observation_window_s", "{ start = 9, stop = 3, step = 1 }", "never ends; give a step below 0"),
            (
                "observation_window_s",
                "{ start = 0, stop = 300, step = 1e-9 }",
                "values; expected 1 to 100000",
            ),
            (
                "observation_window_s",
                "{ start = 0, stop = inf, step = 1 }",
                "stop: found inf; expected a finite number",
            ),
            ("observation_window_s", "{ start = 0, stop = 9, stpe = 1 }", "stpe = 1: a range has start"),
            ("observation_window_s", "{ start = 0, stop = 9 }", "needs step or points"),
            ("observation_window_s", "{ start = 0, stop = 9, points = 3, log = true }", "must be above 0"),
            ("observation_window_s", "{ stop = 9, step = 3 }", "needs start and stop"),
            (
                "observation_window_s",
                "{ start = -10, stop = 9, step = 3 }",
                "found \"-10\"; expected a number from 0",
            ),
            ("observation_window_s", "30", "expected a list of values"),
            ("smact_treshold", "[0.5]", "did you mean smact_threshold"),
            ("gpu_count", "{ start = 1, stop = 2, points = 3 }", "found \"1.5\"; expected a whole number"),
        ] {
            let message = axis(name, entry).unwrap_err().to_string();
            assert!(message.contains(says), "{entry}: {message}");
        }
    }
}
