//! Which jobs of a log are wanted.

use super::clock::{Clock, micros};
use super::code::Reason;
use super::job::{SourceJob, state};
use crate::error::{Result, input_error};

/// Keeps jobs for which everything that is given holds; the default keeps all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Submitted at or after, in microseconds of the log's clock.
    from_us: Option<i64>,
    /// Submitted before.
    to_us: Option<i64>,
    pub vcs: Vec<String>,
    pub users: Vec<String>,
    min_gpus: Option<u32>,
    max_gpus: Option<u32>,
    states: Vec<String>,
    /// The options for dates, as they were given.
    dates: Vec<String>,
}

impl Filter {
    /// Dates, or seconds for logs that have no dates.
    pub fn submitted(mut self, clock: &Clock, from: Option<&str>, to: Option<&str>) -> Result<Filter> {
        let instant = |option: &str, text: &str| {
            let date = clock.date(text).or_else(|| clock.iso().date(text)).map(|instant| instant.us());
            date.or_else(|| micros(text, 1.0)).ok_or_else(|| {
                input_error!(
                    "{option} {text}: expected a date such as 2017-10-04 or \"2017-10-04 03:05:11\", or seconds for a log \
                     without dates"
                )
            })
        };
        self.from_us = from.map(|text| instant("--from", text)).transpose()?;
        self.to_us = to.map(|text| instant("--to", text)).transpose()?;
        let given = [("--from", from), ("--to", to)];
        self.dates =
            given.into_iter().filter_map(|(option, text)| Some(format!("{option} {}", text?))).collect();
        match (self.from_us, self.to_us) {
            (Some(from), Some(to)) if from >= to => {
                Err(input_error!("--from is not before --to; nothing would be left"))
            }
            _ => Ok(self),
        }
    }

    /// With at least and at most so many GPUs.
    pub fn with_gpus(self, min_gpus: Option<u32>, max_gpus: Option<u32>) -> Result<Filter> {
        match (min_gpus, max_gpus) {
            (Some(least), Some(most)) if least > most => {
                Err(input_error!("--min-gpus {least} is above --max-gpus {most}; nothing would be left"))
            }
            _ => Ok(Filter { min_gpus, max_gpus, ..self }),
        }
    }

    /// States in any of the words that logs have for them.
    pub fn in_states(mut self, states: &[String]) -> Filter {
        self.states = states.iter().map(|text| state(text).0.into_owned()).collect();
        self
    }

    pub(super) fn names_states(&self) -> bool {
        !self.states.is_empty()
    }

    /// What it keeps, in words.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.dates.clone();
        let lists = [("--vc", &self.vcs), ("--user", &self.users), ("--states", &self.states)];
        words.extend(
            lists
                .into_iter()
                .filter(|(_, names)| !names.is_empty())
                .map(|(option, names)| format!("{option} {}", names.join(","))),
        );
        let limits = [("--min-gpus", self.min_gpus), ("--max-gpus", self.max_gpus)];
        words.extend(limits.into_iter().filter_map(|(option, limit)| Some(format!("{option} {}", limit?))));
        words
    }

    pub(super) fn leaves_out(&self, job: &SourceJob<'_>) -> Option<Reason> {
        let is_in = |names: &[String], name: Option<&str>| {
            names.is_empty() || name.is_some_and(|name| names.iter().any(|known| known == name))
        };
        if !is_in(&self.states, job.state.as_deref()) && job.state.is_some() {
            return Some(Reason::OtherState);
        }
        if self.from_us.is_some_and(|from| job.submit_us < from)
            || self.to_us.is_some_and(|to| job.submit_us >= to)
        {
            return Some(Reason::OtherDate);
        }
        if !is_in(&self.vcs, job.vc.as_deref()) {
            return Some(Reason::OtherVc);
        }
        if !is_in(&self.users, job.user.as_deref()) {
            return Some(Reason::OtherUser);
        }
        let gpus = job.demand.gpus;
        if self.min_gpus.is_some_and(|least| gpus < least) || self.max_gpus.is_some_and(|most| gpus > most) {
            return Some(Reason::OtherGpus);
        }
        None
    }
}
