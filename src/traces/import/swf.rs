//! The Standard Workload Format 2.2: 18 fields separated by blanks, -1 for what is not known.

use std::borrow::Cow;
use std::collections::HashMap;

use super::clock::micros;
use super::code::{Notice, Reason};
use super::job::{Demand, Found, Problem, SourceJob, clean_name};

/// Reads lines of a file, its header comments among them.
#[derive(Default)]
pub(super) struct SwfReader {
    unix_start_us: i64,
    /// Names that comments such as `; user 3: anna` give to numbers.
    names: HashMap<(Kind, String), String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Job,
    User,
    Queue,
    Executable,
}

const KINDS: [(&str, Kind); 4] =
    [("job", Kind::Job), ("user", Kind::User), ("queue", Kind::Queue), ("executable", Kind::Executable)];

impl SwfReader {
    /// Another file has names of its own.
    pub fn begin_file(&mut self) {
        *self = SwfReader::default();
    }

    /// `None` for a comment.
    pub fn read<'r>(&mut self, line: &'r [u8]) -> Option<Result<Found<'r>, Problem>> {
        let text = String::from_utf8_lossy(line.trim_ascii());
        if let Some(comment) = text.strip_prefix(';') {
            self.comment(comment.trim());
            return None;
        }
        Some(self.job(&text))
    }

    fn comment(&mut self, text: &str) {
        let Some((key, value)) = text.split_once(':') else { return };
        let value = value.trim();
        if key.trim() == "UnixStartTime" {
            self.unix_start_us = micros(value, 1.0).filter(|&us| us > 0).unwrap_or(0);
        }
        let Some((kind, number)) = key.trim().split_once(' ') else { return };
        if let Some(&(_, kind)) = KINDS.iter().find(|(name, _)| *name == kind)
            && number.trim().parse::<u64>().is_ok()
        {
            self.names.insert((kind, number.trim().to_owned()), value.to_owned());
        }
    }

    fn job<'r>(&self, text: &str) -> Result<Found<'r>, Problem> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        if fields.len() != 18 {
            let detail = format!("{} fields, where the format has 18", fields.len());
            return Err(Problem { reason: Reason::Malformed, detail: Some(detail) });
        }
        let bad = |number: usize, name: &str| {
            Problem::field(Reason::BadNumber, &format!("field {number} ({name})"), fields[number - 1])
        };
        let seconds =
            |number: usize, name: &str| micros(fields[number - 1], 1.0).ok_or_else(|| bad(number, name));
        let count = |number: usize, name: &str| {
            let value = fields[number - 1].parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| bad(number, name))
        };
        let requested = count(8, "requested processors")?;
        let gpus = if requested > 0.0 { requested } else { count(5, "allocated processors")? };
        if gpus.fract() != 0.0 {
            return Err(bad(8, "requested processors"));
        }
        let demand = Demand::of(gpus, 1.0).map_err(|reason| match reason {
            Reason::TooManyGpus => Problem { reason, detail: Some(format!("{gpus} GPUs")) },
            reason => reason.into(),
        })?;
        let state = match fields[10] {
            "1" => Some("completed"),
            "0" => Some("failed"),
            "5" => Some("cancelled"),
            // A part of a job that goes on in other lines.
            "2" | "3" | "4" => return Err(Problem { reason: Reason::NotFinal, ..bad(11, "status") }),
            _ => None,
        };
        let submit_us = seconds(2, "submit time")?;
        let duration_us = match seconds(4, "run time")? {
            0 => return Err(Reason::ZeroDuration.into()),
            -1_000_000 => return Err(Reason::NoEnd.into()),
            us if us < 0 => return Err(Reason::NegativeDuration.into()),
            us => us,
        };
        let mut notices = Vec::new();
        let mut name = |kind: Kind, number: usize| -> Option<Cow<'r, str>> {
            let text = fields[number - 1];
            let name = match self.names.get(&(kind, text.to_owned())) {
                Some(name) => name.clone(),
                None if text == "-1" => return None,
                None => text.to_owned(),
            };
            let cleaned = clean_name(Cow::Borrowed(name.as_str()), &mut notices);
            if cleaned.is_none() {
                notices.push(Notice::LongName);
            }
            cleaned.map(|name| Cow::Owned(name.into_owned()))
        };
        let id = name(Kind::Job, 1).ok_or(Reason::NoId)?;
        let (user, vc) = (name(Kind::User, 12), name(Kind::Queue, 15));
        // A bare number is no workload.
        let executable = self.names.get(&(Kind::Executable, fields[13].to_owned()));
        Ok(Found {
            job: SourceJob {
                id,
                submit_us: self.unix_start_us + submit_us,
                duration_us: Some(duration_us),
                demand,
                workload: executable.map_or(Cow::Borrowed(""), |name| Cow::Owned(name.clone())),
                user,
                vc,
                state: state.map(Cow::Borrowed),
            },
            notices,
        })
    }
}
