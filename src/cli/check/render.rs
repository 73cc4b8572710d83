//! Comparisons for CI systems.

use std::io::Write;
use std::path::Path;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{SHOWN, Shown};
use crate::error::{Result, input_error};
use crate::experiment::gate::{Deviation, Gate, Outcome};
use crate::report::Format;

/// A test suite per trace, a test case per setting and metric.
///
/// # Errors
/// None that a caller could bring about.
pub fn junit(shown: &Shown<'_>) -> Result<String> {
    let mut suites: Vec<TestSuite> = Vec::new();
    for deviation in &shown.gate.deviations {
        let trace = Gate::trace(deviation);
        let index = suites.iter().position(|suite| suite.name.as_str() == trace).unwrap_or_else(|| {
            suites.push(TestSuite::new(trace.as_str()));
            suites.len() - 1
        });
        let mut case = TestCase::new(shown.gate.subject(deviation), status(shown, deviation));
        case.set_classname(trace.as_str());
        if deviation.outcome != Outcome::Same && !deviation.outcome.is_failure() {
            case.set_system_out(format!("{}: {}", deviation.outcome.name(), shown.gate.sentence(deviation)));
        }
        suites[index].add_test_case(case);
    }
    let mut report = Report::new(format!("aegis-sim check: {}", shown.title));
    report.add_test_suites(suites);
    let text = report.to_string();
    text.map_err(|error| input_error!("cannot write the comparison as JUnit XML: {error}"))
}

fn status(shown: &Shown<'_>, deviation: &Deviation) -> TestCaseStatus {
    if !deviation.outcome.is_failure() {
        return TestCaseStatus::success();
    }
    let kind = match deviation.outcome {
        Outcome::Failed => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(deviation.outcome.name()).set_message(shown.gate.sentence(deviation));
    status
}

/// Workflow commands: an error for each failure, a notice for each improvement. GitHub shows ten of a kind, so that is how
/// many there are.
pub fn annotations(shown: &Shown<'_>) -> String {
    let better = |deviation: &&Deviation| deviation.outcome == Outcome::Better;
    let errors: Vec<&Deviation> = shown.gate.failures().collect();
    let notices: Vec<&Deviation> = shown.gate.deviations.iter().filter(better).collect();
    let mut text = String::new();
    for (level, deviations) in [("error", errors), ("notice", notices)] {
        for (index, sentence) in shown.sentences(&deviations, "the job summary has all").iter().enumerate() {
            let title = match deviations.get(index).filter(|_| deviations.len() <= SHOWN || index + 1 < SHOWN)
            {
                Some(deviation) => {
                    let (trace, subject) = (Gate::trace(deviation), shown.gate.subject(deviation));
                    format!("{}: {trace}, {subject}", deviation.outcome.name())
                }
                None => "aegis-sim check".to_owned(),
            };
            text += &format!("::{level} title={}::{}\n", property(&title), message(sentence));
        }
    }
    text
}

/// Escaped as the message of a workflow command.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escaped as a property of a workflow command.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// Rows of a job summary: GitHub drops one of more than 1 MiB.
const SUMMARY_ROWS: usize = 2000;

/// Markdown: heading, summary, and the table of what is worth telling.
///
/// # Errors
/// None that a caller could bring about.
pub fn job_summary(shown: &Shown<'_>, mut wanted: impl FnMut(&&Deviation) -> bool) -> Result<String> {
    let verdict = match shown.gate.failures().count() {
        0 => "passed",
        _ => "failed",
    };
    let mut rows = 0;
    let table = shown.table(Format::Markdown, |deviation| {
        let wanted = wanted(deviation);
        rows += usize::from(wanted);
        wanted && rows <= SUMMARY_ROWS
    })?;
    let more = match rows.saturating_sub(SUMMARY_ROWS) {
        0 => String::new(),
        more => format!("\n... and {more} more\n"),
    };
    let title = shown.title.replace(['\n', '\r'], " ");
    Ok(format!("## {title}: {verdict}\n\n{}\n\n{table}{more}\n", shown.summary()))
}

/// Adds to a file that others write to as well.
///
/// # Errors
/// It cannot be written.
pub fn append(path: &Path, text: &str) -> Result<()> {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        input_error!(
            "cannot append the job summary to {}, which GITHUB_STEP_SUMMARY names: {error}",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflow_commands_are_escaped() {
        assert_eq!(message("a: 5 %, b\r\n::error::c"), "a: 5 %25, b%0D%0A::error::c");
        assert_eq!(property("worse: 5 %, b\n"), "worse%3A 5 %25%2C b%0A");
    }

    fn shown(title: &str, outcomes: &[Outcome]) -> Shown<'static> {
        let deviation = |(index, outcome): (usize, &Outcome)| Deviation {
            key: ["philly", "<a & \"b\">", "aegis", "makespan_s"].map(str::to_owned).into(),
            outcome: *outcome,
            baseline: 100.0,
            value: 101.0 + index as f64,
            tolerance: Some(Default::default()),
            error: Some("]]> \u{1}".to_owned()),
        };
        let columns = ["trace", "variant", "policy", "metric"].map(str::to_owned).into();
        let gate = Gate { columns, deviations: outcomes.iter().enumerate().map(deviation).collect() };
        let title = Box::leak(title.to_owned().into_boxed_str());
        Shown { gate, title, baseline: Path::new("b.csv") }
    }

    #[test]
    fn junit_is_well_formed_whatever_the_names() {
        let text = junit(&shown("<&> \u{1}", &Outcome::ALL)).unwrap();
        let report = Report::deserialize_from_str(&text).unwrap();
        assert_eq!((report.tests, report.failures, report.errors), (8, 4, 1), "{text}");
        let case = &report.test_suites[0].test_cases[0];
        assert_eq!(case.name.as_str(), "<a & \"b\"> (aegis), makespan_s");
        assert_eq!(junit(&shown("<&> \u{1}", &Outcome::ALL)).unwrap(), text);
    }

    #[test]
    fn annotations_are_no_more_than_github_shows() {
        let lines = |count: usize| {
            let text = annotations(&shown("t", &vec![Outcome::Worse; count]));
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!((lines(0).len(), lines(10).len(), lines(11).len(), lines(30).len()), (0, 10, 10, 10));
        assert!(lines(10)[9].starts_with("::error title=worse%3A philly%2C <a & "), "{:?}", lines(10)[9]);
        assert_eq!(lines(30)[9], "::error title=aegis-sim check::... and 21 more (the job summary has all)");
        let notice = annotations(&shown("t", &[Outcome::Better]));
        assert!(notice.starts_with("::notice title=better%3A philly"), "{notice}");
    }

    #[test]
    fn job_summaries_stay_below_the_limit() {
        let text = job_summary(&shown("a\nb", &vec![Outcome::Worse; 3000]), |_| true).unwrap();
        assert!(text.starts_with("## a b: failed\n") && text.contains("... and 1000 more"));
        assert!(text.len() < 1 << 20, "{}", text.len());
        assert!(job_summary(&shown("t", &[Outcome::Same]), |_| false).unwrap().starts_with("## t: passed"));
    }
}
