use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, input_error};

/// A part of an experiment's runs: every `count`-th from the `index`-th on, so that parts take about as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// From 1.
    pub fn index(self) -> usize {
        self.index
    }

    pub fn count(self) -> usize {
        self.count
    }

    /// Whether a run is part of it.
    pub fn has(self, run: usize) -> bool {
        run % self.count == self.index - 1
    }

    /// `i/n`; or `auto` and `auto/n`, which take the index from a Slurm job array or a Kubernetes indexed Job by way of
    /// `env`, and `auto` the count, too.
    ///
    /// # Errors
    /// Anything else, and `auto` outside of these.
    pub fn of_argument(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Shard> {
        let Some(rest) = text.strip_prefix("auto") else { return text.parse() };
        let count: Option<usize> = match rest.strip_prefix('/') {
            Some(count) => Some(count.parse().map_err(|_| expected(text))?),
            None if rest.is_empty() => None,
            None => return Err(expected(text)),
        };
        let number = |name: &str| -> Result<Option<usize>> {
            let Some(value) = env(name) else { return Ok(None) };
            let parsed = value.trim().parse().map(Some);
            parsed.map_err(|_| {
                input_error!("--shard {text}: {name} is {value:?}; expected a whole number from 0")
            })
        };
        let (index, found) = if let Some(id) = number("SLURM_ARRAY_TASK_ID")? {
            let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(1);
            let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
            let index = id.checked_sub(first).map(|since| since / step + 1).ok_or_else(|| {
                input_error!("--shard {text}: SLURM_ARRAY_TASK_ID {id} is below SLURM_ARRAY_TASK_MIN {first}")
            })?;
            (index, number("SLURM_ARRAY_TASK_COUNT")?)
        } else if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            (index + 1, None)
        } else {
            return Err(input_error!(
                "--shard {text}: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; run it in a Slurm job array or a \
                 Kubernetes indexed Job, or give --shard i/n"
            ));
        };
        let count = count.or(found).ok_or_else(|| {
            input_error!(
                "--shard {text}: nothing says how many shards there are; give it, as in --shard auto/8"
            )
        })?;
        if let Some(found) = found.filter(|&found| found != count) {
            return Err(input_error!(
                "--shard {text}: the job array has {found} tasks, not {count}; use --shard auto"
            ));
        }
        Shard::new(index, count)
    }

    fn new(index: usize, count: usize) -> Result<Shard> {
        if (1..=count).contains(&index) && count <= 1_000_000 {
            return Ok(Shard { index, count });
        }
        if count == 0 {
            return Err(input_error!(
                "shard {index}/0: there is at least one shard; expected i/n such as 1/1"
            ));
        }
        Err(input_error!("shard {index}/{count}: expected 1/{count} to {count}/{count}"))
    }

    /// The name of its folder beside those of the others.
    pub fn folder(self) -> String {
        let width = self.count.to_string().len();
        format!("shard-{:0width$}-of-{}", self.index, self.count)
    }
}

fn expected(text: &str) -> Error {
    input_error!("--shard {text:?}: expected i/n such as 2/8, auto, or auto/n")
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shard> {
        let parsed = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        let (index, count) = parsed.ok_or_else(|| expected(text))?;
        Shard::new(index, count)
    }
}

impl TryFrom<String> for Shard {
    type Error = Error;

    fn try_from(text: String) -> Result<Shard> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, env: &[(&str, &str)]) -> Result<String> {
        let env =
            |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Shard::of_argument(text, &env).map(|shard| shard.to_string())
    }

    #[test]
    fn arrays_say_which_shard_it_is() {
        assert_eq!(of("2/3", &[]).unwrap(), "2/3");
        let slurm = |id, first, step| {
            [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", first),
                ("SLURM_ARRAY_TASK_STEP", step),
                ("SLURM_ARRAY_TASK_COUNT", "4"),
            ]
        };
        assert_eq!(of("auto", &slurm("0", "0", "1")).unwrap(), "1/4");
        assert_eq!(of("auto", &slurm("4", "1", "1")).unwrap(), "4/4");
        assert_eq!(of("auto/4", &slurm("7", "1", "2")).unwrap(), "4/4");
        assert_eq!(of("auto/8", &[("JOB_COMPLETION_INDEX", "0")]).unwrap(), "1/8");
    }

    #[test]
    fn mistakes_are_named() {
        let index = [("JOB_COMPLETION_INDEX", "8")];
        let array = [("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "4")];
        for (text, env, says) in [
            ("0/3", &[][..], "expected 1/3 to 3/3"),
            ("4/3", &[], "expected 1/3 to 3/3"),
            ("1/0", &[], "at least one shard"),
            ("two", &[], "expected i/n"),
            ("automatic", &[], "expected i/n"),
            ("auto/x", &[], "expected i/n"),
            ("auto", &[], "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"),
            ("auto", &index, "nothing says how many shards"),
            ("auto/8", &index, "shard 9/8"),
            ("auto/8", &array, "has 4 tasks, not 8"),
            ("auto/8", &[("JOB_COMPLETION_INDEX", "x")], "JOB_COMPLETION_INDEX is \"x\""),
        ] {
            let message = of(text, env).unwrap_err().to_string();
            assert!(message.contains(says), "{text}: {message}");
        }
    }
}
