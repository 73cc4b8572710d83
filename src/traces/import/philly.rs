//! Microsoft Philly, `cluster_job_log` (Jeon et al., ATC '19): a JSON array of jobs, each with its attempts.

use std::borrow::Cow;

use serde::de::{IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};

use super::clock::{Calendar, Instant};
use super::code::{Notice, Reason};
use super::job::{Demand, Found, Problem, SourceJob, clean_name, is_blank, optional_name, state};

/// Which of a job's attempts count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Attempts {
    /// The first alone
    First,
    /// The last alone
    Last,
    /// The sum of all attempts: the time for which the job held its GPUs
    #[default]
    Sum,
    /// From the start of the first to the end of the last
    Span,
    /// A job for each attempt, submitted when the one before ended
    Each,
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    status: Option<Text<'a>>,
    vc: Option<Text<'a>>,
    jobid: Option<Text<'a>>,
    attempts: Option<Vec<Attempt<'a>>>,
    submitted_time: Option<Text<'a>>,
    user: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Attempt<'a> {
    #[serde(borrow)]
    start_time: Option<Text<'a>>,
    end_time: Option<Text<'a>>,
    detail: Option<Vec<Server>>,
}

/// A string, in the record's own bytes unless something in it is escaped.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

#[derive(Deserialize)]
struct Server {
    gpus: Option<Vec<IgnoredAny>>,
}

impl Attempt<'_> {
    fn gpus(&self) -> usize {
        let servers = self.detail.iter().flatten();
        servers.map(|server| server.gpus.as_ref().map_or(0, Vec::len)).sum()
    }
}

/// What an attempt's times say, where they say it.
#[derive(Clone, Copy)]
struct Times {
    start: Option<Instant>,
    end: Option<Instant>,
}

/// The jobs of a record: one, or as many as attempts.
pub(super) fn read(
    calendar: &Calendar,
    attempts: Attempts,
    text: &[u8],
    take: &mut dyn FnMut(Result<Found<'_>, Problem>) -> crate::Result<()>,
) -> crate::Result<()> {
    let mut notices = Vec::new();
    let text = String::from_utf8_lossy(text);
    if matches!(text, Cow::Owned(_)) {
        notices.push(Notice::NotUtf8);
    }
    let record: Record = match serde_json::from_str(&text) {
        Ok(record) => record,
        Err(error) => {
            return take(Err(Problem { reason: Reason::Malformed, detail: Some(within(&error)) }));
        }
    };
    let count = record.attempts.as_ref().map_or(0, Vec::len);
    if attempts != Attempts::Each || count == 0 {
        return take(job(calendar, attempts, &record, notices));
    }
    let mut submitted = Ok(None);
    for index in 0..count {
        let found = attempt_job(calendar, &record, index, &mut submitted, notices.clone());
        take(found)?;
    }
    Ok(())
}

/// A message of the JSON library without its line, which counts from the record's start.
fn within(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match error.line() {
        0 | 1 => text.to_owned(),
        line => format!("{text} ({} lines further on)", line - 1),
    }
}

fn field<'r>(text: Option<&'r Text<'_>>) -> Option<&'r str> {
    text.map(|text| text.0.trim()).filter(|text| !is_blank(text))
}

fn time(
    calendar: &Calendar,
    text: Option<&Text<'_>>,
    name: impl FnOnce() -> String,
) -> Result<Option<Instant>, Problem> {
    match field(text) {
        None => Ok(None),
        Some(text) => {
            calendar.date(text).map(Some).ok_or_else(|| Problem::field(Reason::BadDate, &name(), text))
        }
    }
}

fn times(calendar: &Calendar, record: &Record<'_>, index: usize) -> Result<Times, Problem> {
    let attempt = record.attempts.as_ref().and_then(|attempts| attempts.get(index));
    let of = |text: for<'t> fn(&'t Attempt<'_>) -> Option<&'t Text<'t>>, name: &str| {
        time(calendar, attempt.and_then(text), || format!("attempts[{index}].{name}"))
    };
    Ok(Times {
        start: of(|attempt| attempt.start_time.as_ref(), "start_time")?,
        end: of(|attempt| attempt.end_time.as_ref(), "end_time")?,
    })
}

fn submission(calendar: &Calendar, record: &Record<'_>) -> Result<Instant, Problem> {
    let submit = time(calendar, record.submitted_time.as_ref(), || "submitted_time".to_owned())?;
    submit.ok_or(Reason::NoSubmit.into())
}

fn job<'r>(
    calendar: &Calendar,
    mode: Attempts,
    record: &'r Record<'r>,
    mut notices: Vec<Notice>,
) -> Result<Found<'r>, Problem> {
    let attempts = record.attempts.as_deref().unwrap_or_default();
    if attempts.is_empty() {
        return Err(Reason::NoAttempt.into());
    }
    let taken = match mode {
        Attempts::First => 0..1,
        Attempts::Last => attempts.len() - 1..attempts.len(),
        _ => 0..attempts.len(),
    };
    let last = taken.end - 1;
    let demand = Demand::of(attempts[last].gpus() as f64, 1.0)?;
    if attempts.iter().any(|attempt| attempt.gpus() != attempts[last].gpus()) {
        notices.push(Notice::GpusChange);
    }
    let submit = submission(calendar, record)?;
    notices.extend(submit.notice());
    let (mut first_start, mut before_us, mut sum_us) = (None, submit.us(), 0);
    for index in taken {
        let Times { start, end } = times(calendar, record, index)?;
        let (Some(start), Some(end)) = (start, end) else {
            if index < last && (mode == Attempts::Sum || mode == Attempts::Span && first_start.is_some()) {
                notices.push(Notice::OpenAttempt);
                continue;
            }
            return Err(if start.is_none() { Reason::NoStart } else { Reason::NoEnd }.into());
        };
        let (start_us, end_us) = run(start, end, before_us, &mut notices)?;
        if first_start.is_none() && start_us < submit.us() {
            notices.push(Notice::StartBeforeSubmit);
        }
        first_start.get_or_insert(start_us);
        sum_us += end_us - start_us;
        before_us = end_us;
    }
    let duration_us = match (mode, first_start) {
        (Attempts::Span, Some(start_us)) => before_us - start_us,
        _ => sum_us,
    };
    finish(record, None, submit.us(), duration_us, demand, notices)
}

/// When an attempt started and ended, `before_us` being the end of the one before.
fn run(
    start: Instant,
    end: Instant,
    before_us: i64,
    notices: &mut Vec<Notice>,
) -> Result<(i64, i64), Problem> {
    notices.extend([start, end].into_iter().filter_map(Instant::notice));
    let start_us = start.us_after(before_us);
    let end_us = end.us_after(start_us);
    if end_us < start_us { Err(Reason::EndBeforeStart.into()) } else { Ok((start_us, end_us)) }
}

/// `submitted`: when the attempt before ended, as far as it is known; or why none of the attempts is a job.
fn attempt_job<'r>(
    calendar: &Calendar,
    record: &'r Record<'r>,
    index: usize,
    submitted: &mut Result<Option<i64>, Problem>,
    mut notices: Vec<Notice>,
) -> Result<Found<'r>, Problem> {
    if index == 0 {
        *submitted = submission(calendar, record).map(|submit| {
            notices.extend(submit.notice());
            Some(submit.us())
        });
    }
    let before_us = submitted.clone()?;
    let attempt = record.attempts.as_ref().and_then(|attempts| attempts.get(index));
    let demand = Demand::of(attempt.map_or(0, Attempt::gpus) as f64, 1.0)?;
    let Times { start, end } = times(calendar, record, index)?;
    let Some(start) = start else {
        return Err(Reason::NoStart.into());
    };
    let submit_us = before_us.unwrap_or(start.us());
    let Some(end) = end else {
        // When the next one was submitted is not known but by its start.
        *submitted = Ok(None);
        return Err(Reason::NoEnd.into());
    };
    let (start_us, end_us) = run(start, end, submit_us, &mut notices)?;
    if start_us < submit_us {
        notices.push(Notice::StartBeforeSubmit);
    }
    *submitted = Ok(Some(end_us));
    finish(record, Some(index), submit_us, end_us - start_us, demand, notices)
}

fn finish<'r>(
    record: &'r Record<'r>,
    attempt: Option<usize>,
    submit_us: i64,
    duration_us: i64,
    demand: Demand,
    mut notices: Vec<Notice>,
) -> Result<Found<'r>, Problem> {
    if duration_us <= 0 {
        return Err(if duration_us == 0 { Reason::ZeroDuration } else { Reason::NegativeDuration }.into());
    }
    let id = record.jobid.as_ref().map(|text| text.0.trim()).filter(|text| !text.is_empty());
    let id = id.and_then(|id| clean_name(Cow::Borrowed(id), &mut notices)).ok_or(Reason::NoId)?;
    let mut name = |text: Option<&'r Text<'r>>| optional_name(Cow::Borrowed(field(text)?), &mut notices);
    let (user, vc) = (name(record.user.as_ref()), name(record.vc.as_ref()));
    let status = match field(record.status.as_ref()).map(state) {
        Some((status, false)) => return Err(Problem::field(Reason::NotFinal, "status", &status)),
        status => status.map(|(status, _)| status),
    };
    let attempts = record.attempts.as_ref().map_or(0, Vec::len);
    Ok(Found {
        job: SourceJob {
            id: attempt.map_or(id.clone(), |index| Cow::Owned(format!("{id}/{}", index + 1))),
            submit_us,
            duration_us: Some(duration_us),
            demand,
            workload: Cow::Borrowed(""),
            user,
            vc,
            // The status is that of the job's end: an attempt that was followed by another had failed.
            state: match attempt {
                Some(index) if index + 1 < attempts => Some(Cow::Borrowed("failed")),
                _ => status,
            },
        },
        notices,
    })
}
