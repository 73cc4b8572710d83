//! A job as its source tells of it, before it is kept or dropped.

use std::borrow::Cow;

use super::code::{Notice, Reason};

/// A job of a production log. Times are in microseconds, of any origin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceJob<'a> {
    pub id: Cow<'a, str>,
    pub submit_us: i64,
    /// `None` in formats that have none: the workload's runtime holds.
    pub duration_us: Option<i64>,
    pub demand: Demand,
    pub workload: Cow<'a, str>,
    pub user: Option<Cow<'a, str>>,
    pub vc: Option<Cow<'a, str>>,
    pub state: Option<Cow<'a, str>>,
}

/// GPUs of all instances of a job, and the share of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Demand {
    pub gpus: u32,
    pub share: Option<f64>,
}

/// Most GPUs that a job of a trace may ask for.
const MAX_GPUS: f64 = u16::MAX as f64;

impl Demand {
    /// Of `instances` that each ask for `gpus`, which may be a fraction: 0.5 is half of one GPU, 1.5 three quarters of
    /// two.
    pub fn of(gpus: f64, instances: f64) -> Result<Demand, Reason> {
        // Counts that were divided are not always whole to the last bit.
        let whole = if (gpus - gpus.round()).abs() < 1e-6 { gpus.round() } else { gpus.ceil() };
        let total = whole * instances;
        if total.is_nan() || total <= 0.0 {
            return Err(Reason::ZeroGpus);
        }
        if total > MAX_GPUS {
            return Err(Reason::TooManyGpus);
        }
        Demand { gpus: total as u32, share: None }.with_share(gpus / whole)
    }

    /// To the millionth; 1 is whole GPUs, and what rounds to 0 is none.
    pub fn with_share(self, share: f64) -> Result<Demand, Reason> {
        let share = (share * 1e6).round() / 1e6;
        if share == 0.0 {
            return Err(Reason::ZeroGpus);
        }
        Ok(Demand { share: (share < 1.0).then_some(share), ..self })
    }
}

/// Why a row became no job, and the place in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    pub reason: Reason,
    pub detail: Option<String>,
}

impl From<Reason> for Problem {
    fn from(reason: Reason) -> Problem {
        Problem { reason, detail: None }
    }
}

impl Problem {
    /// Of a field: what stands in it.
    pub fn field(reason: Reason, field: &str, found: &str) -> Problem {
        let found: String = found.chars().take(60).collect();
        Problem { reason, detail: Some(format!("{field}: found {found:?}")) }
    }
}

/// A job with what is unusual about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found<'a> {
    pub job: SourceJob<'a>,
    pub notices: Vec<Notice>,
}

/// Whether a field says that there is no value.
pub(super) fn is_blank(text: &str) -> bool {
    text.len() <= 4 && ["", "None", "null", "NULL", "nan", "NaN", "N/A", "-"].contains(&text)
}

/// A name as a trace can hold it; `None` if it is longer than any name. What had to be replaced to be text is owned.
pub(super) fn clean_name<'r>(mut text: Cow<'r, str>, notices: &mut Vec<Notice>) -> Option<Cow<'r, str>> {
    const MAX_NAME_BYTES: usize = 256;
    if matches!(text, Cow::Owned(_)) || memchr::memchr(0, text.as_bytes()).is_some() {
        notices.push(Notice::NotUtf8);
        text = Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    (text.len() <= MAX_NAME_BYTES).then_some(text)
}

/// The same of a name that a job need not have.
pub(super) fn optional_name<'r>(text: Cow<'r, str>, notices: &mut Vec<Notice>) -> Option<Cow<'r, str>> {
    let text = (!is_blank(&text)).then_some(text)?;
    let name = clean_name(text, notices);
    if name.is_none() {
        notices.push(Notice::LongName);
    }
    name
}

/// The state in this project's words, and whether it is one in which a job has ended.
pub(super) fn state(text: &str) -> (Cow<'_, str>, bool) {
    const KNOWN: [(&str, &str, bool); 21] = [
        ("completed", "completed", true),
        ("complete", "completed", true),
        ("success", "completed", true),
        ("succeeded", "completed", true),
        ("pass", "completed", true),
        ("terminated", "completed", true),
        ("failed", "failed", true),
        ("failure", "failed", true),
        ("cancelled", "cancelled", true),
        ("canceled", "cancelled", true),
        ("killed", "cancelled", true),
        ("timeout", "timeout", true),
        ("node_fail", "node_fail", true),
        ("out_of_memory", "out_of_memory", true),
        ("running", "running", false),
        ("pending", "pending", false),
        ("suspended", "suspended", false),
        ("waiting", "waiting", false),
        ("ready", "ready", false),
        ("requeued", "requeued", false),
        ("completing", "completing", false),
    ];
    // Slurm says by whom: "CANCELLED by 1000".
    let text = text.split(" by ").next().unwrap_or_default();
    match KNOWN.iter().find(|(name, _, _)| name.eq_ignore_ascii_case(text)) {
        Some(&(_, name, ended)) => (Cow::Borrowed(name), ended),
        None => (Cow::Owned(text.to_lowercase()), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_shares_of_whole_gpus() {
        let of = |gpus, instances| Demand::of(gpus, instances).map(|demand| (demand.gpus, demand.share));
        assert_eq!(of(2.0, 1.0), Ok((2, None)));
        assert_eq!(of(0.25, 4.0), Ok((4, Some(0.25))));
        assert_eq!(of(1.5, 1.0), Ok((2, Some(0.75))));
        assert_eq!(of(2.999_999_9, 1.0), Ok((3, None)));
        assert_eq!([of(0.0, 3.0), of(1e-7, 1.0)], [Err(Reason::ZeroGpus); 2]);
        assert_eq!(of(1.0, 0.0), Err(Reason::ZeroGpus));
        assert_eq!(of(1e7, 1.0), Err(Reason::TooManyGpus));
        assert_eq!(of(f64::NAN, 1.0), Err(Reason::ZeroGpus));
    }

    #[test]
    fn states_have_one_name() {
        assert_eq!(state("CANCELED"), ("cancelled".into(), true));
        assert_eq!(state("CANCELLED by 1000"), ("cancelled".into(), true));
        assert_eq!(state("pass"), ("completed".into(), true));
        assert_eq!(state("SUSPENDED"), ("suspended".into(), false));
        assert_eq!(state("Odd State"), ("odd state".into(), true));
    }
}
