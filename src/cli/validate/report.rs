//! A validation for reading.

use serde_json::Value;

use super::rows;
use crate::experiment::{Aggregate, Interval, Scope, ValidatedRun, Validation};
use crate::report::{Format, Row, row, rows_to_table};

pub(in crate::cli) type Columns<'a> = &'a [(&'a str, &'a str)];

/// Figures that have a table of runs: name, heading, and what the heading's unit is in the figure's.
pub(in crate::cli) const FIGURES: [(&str, &str, f64); 6] = [
    ("makespan_s", "Makespan [s]", 1.0),
    ("jct_mean_s", "Mean JCT [s]", 1.0),
    ("jct_p95_s", "95th percentile of JCT [s]", 1.0),
    ("execution_time_mean_s", "Mean execution time [s]", 1.0),
    ("failed_attempts", "Failed attempts", 1.0),
    ("energy_j", "Energy [kJ]", 1000.0),
];

const RUN: Columns<'static> = &[
    ("trace", "trace"),
    ("policy", "policy"),
    ("makespan_s", "makespan [s]"),
    ("makespan_s_measured", "measured"),
    ("makespan_s_error_pct", "error [%]"),
    ("makespan_s_inside", "inside"),
    ("jct_mean_s", "JCT mean [s]"),
    ("jct_mean_s_measured", "measured"),
    ("jct_mean_s_error_pct", "error [%]"),
    ("jct_mean_s_inside", "inside"),
    ("failed_attempts", "OOMs"),
    ("failed_attempts_measured", "measured"),
];
const FIGURE: Columns<'static> = &[
    ("trace", "trace"),
    ("policy", "policy"),
    ("measured", "measured"),
    ("median", "median"),
    ("p5", "5 %"),
    ("p95", "95 %"),
    ("error_pct", "error [%]"),
    ("inside", "inside"),
];
const SCOPED: Columns<'static> = &[
    ("over", "over"),
    ("figure", "figure"),
    ("runs", "runs"),
    ("mae_pct", "MAE [%]"),
    ("worst_error_pct", "worst [%]"),
    ("worst_run", "of"),
    ("inside_share", "inside"),
    ("width_median_pct", "width [%]"),
];
const AGGREGATE: Columns<'static> = &[
    ("figure", "figure"),
    ("runs", "runs"),
    ("mae_pct", "MAE [%]"),
    ("worst_error_pct", "worst [%]"),
    ("worst_run", "of"),
    ("mean_abs_difference", "mean difference"),
    ("worst_difference", "worst"),
    ("inside_share", "inside"),
    ("width_median_pct", "width [%]"),
];
const JOBS: Columns<'static> = &[
    ("scope", "over"),
    ("jobs", "jobs"),
    ("abs_error_median_pct", "error median [%]"),
    ("abs_error_p90_pct", "error p90 [%]"),
    ("inside_share", "inside"),
    ("rank_correlation", "rank correlation"),
];
const HEADLINE: Columns<'static> = &[
    ("policy", "policy"),
    ("against", "against"),
    ("measured_reduction_pct", "measured [%]"),
    ("reduction_median_pct", "median [%]"),
    ("reduction_p5_pct", "5 %"),
    ("reduction_p95_pct", "95 %"),
    ("inside", "inside"),
];
const TARGETS: Columns<'static> = &[
    ("subject", "figure"),
    ("criterion", "limit on"),
    ("value", "value"),
    ("limit", "limit"),
    ("status", ""),
    ("of", "of"),
];

/// What is printed: runs, errors over all of them, jobs, headline and targets.
pub(super) fn sections(format: Format, validation: &Validation) -> String {
    let mark = if format == Format::Markdown { "## " } else { "" };
    let mut sections = Sections { format, mark, text: String::new() };
    let runs: Vec<Row> = validation.runs.iter().map(run_row).collect();
    sections.table(&format!("Medians over {} seeds", validation.seeds), &runs, RUN);
    sections.aggregates("Errors over all runs", validation, &Scope::All);
    sections.jobs(validation, false);
    sections.closing(validation);
    sections.text
}

/// report.md: all tables, with the figures (name, caption).
pub(super) fn document(validation: &Validation, figures: &[(&str, &str)]) -> String {
    let mut sections = Sections::document("# Validation\n\n", "## ");
    sections.text += &format!(
        "{} measured runs, each replayed under seeds 1 to {} and under the telemetry condition of its measured run. Errors \
         are those of the median over seeds; *inside*: whether the 90 % interval over seeds (5th to 95th percentile) holds \
         the measured value, or the share of runs where it does; *width*: that of the interval, in percent of the median, \
         as a median over the runs. validation.csv, jobs.csv and aggregate.csv have all figures.\n\n",
        validation.runs.len(),
        validation.seeds
    );
    sections.closing(validation);
    for (name, caption) in figures {
        sections.figure("", name, caption);
    }
    sections.aggregates("Errors over all runs", validation, &Scope::All);
    sections.jobs(validation, true);
    sections.runs(validation);
    let mut scopes: Vec<&Scope> = Vec::new();
    for aggregate in &validation.aggregates {
        if aggregate.scope != Scope::All && !scopes.contains(&&aggregate.scope) {
            scopes.push(&aggregate.scope);
        }
    }
    for scope in scopes {
        sections.aggregates(&format!("Errors: {}", name(scope)), validation, scope);
    }
    sections.finish()
}

/// Text of titled tables.
pub(in crate::cli) struct Sections {
    format: Format,
    /// In front of a table's title.
    mark: &'static str,
    pub text: String,
}

impl Sections {
    /// A Markdown document that begins with `text`.
    pub fn document(text: &str, mark: &'static str) -> Sections {
        Sections { format: Format::Markdown, mark, text: text.to_owned() }
    }

    pub fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text + "\n"
    }

    pub fn table(&mut self, title: &str, rows: &[Row], columns: Columns<'_>) {
        self.text += &format!("{}{title}\n\n", self.mark);
        self.rows(rows, columns);
    }

    pub fn rows(&mut self, rows: &[Row], columns: Columns<'_>) {
        self.text += &format!("{}\n", rows_to_table(self.format, rows, columns));
    }

    /// Of a file `DIRname.svg`.
    pub fn figure(&mut self, dir: &str, name: &str, caption: &str) {
        self.text += &format!("![{name}]({dir}{name}.svg)\n\n{caption}\n\n");
    }

    pub fn aggregates(&mut self, title: &str, validation: &Validation, scope: &Scope) {
        self.table(title, &aggregates(validation, |aggregate| aggregate.scope == *scope), AGGREGATE);
    }

    /// The figures that have a table of runs, by policy and by trace.
    pub fn scoped_aggregates(&mut self, title: &str, validation: &Validation) {
        let main = |figure: &str| FIGURES.iter().any(|(name, ..)| *name == figure);
        let rows =
            aggregates(validation, |aggregate| aggregate.scope != Scope::All && main(&aggregate.figure));
        self.table(title, &rows, SCOPED);
    }

    /// A table of runs for each figure.
    pub fn runs(&mut self, validation: &Validation) {
        for (name, title, unit) in FIGURES {
            let rows = validation.runs.iter().filter_map(|run| figure_row(run, name, unit));
            let rows: Vec<Row> = rows.collect();
            if !rows.is_empty() {
                self.table(title, &rows, FIGURE);
            }
        }
    }

    pub fn jobs(&mut self, validation: &Validation, each_run: bool) {
        let rows = validation.job_errors.iter().zip(rows::job_error_rows(validation));
        let rows: Vec<Row> = rows
            .filter(|(errors, _)| each_run || !matches!(errors.scope, Scope::Run(..)))
            .map(|(errors, mut row)| {
                row.insert("scope".into(), name(&errors.scope).into());
                row
            })
            .collect();
        if !rows.is_empty() {
            self.table("Completion times of jobs", &rows, JOBS);
        }
    }

    /// Headline and targets, where there are any.
    pub fn closing(&mut self, validation: &Validation) {
        let headline = validation.headline.iter().zip(rows::headline_rows(validation));
        let headline: Vec<Row> = headline
            .map(|(reduction, mut row)| {
                let inside = reduction.simulated_pct.contains(reduction.measured_pct);
                row.insert("inside".into(), yes(inside).into());
                row
            })
            .collect();
        if !headline.is_empty() {
            self.table("Reduction of the geometric mean makespan", &headline, HEADLINE);
        }
        let targets = validation.targets.iter().zip(rows::target_rows(validation));
        let targets: Vec<Row> = targets
            .map(|(target, mut row)| {
                let of =
                    target.run.as_ref().map_or(String::new(), |(trace, policy)| format!("{trace} {policy}"));
                row.insert("of".into(), of.into());
                row
            })
            .collect();
        if !targets.is_empty() {
            self.table("Targets", &targets, TARGETS);
        }
    }
}

fn name(scope: &Scope) -> String {
    match scope {
        Scope::All => "all".to_owned(),
        Scope::Policy(name) | Scope::Trace(name) => name.clone(),
        Scope::Run(trace, policy) => format!("{trace} {policy}"),
    }
}

/// A run's main figures beside each other.
fn run_row(run: &ValidatedRun) -> Row {
    let mut row = row([("trace", run.trace.as_str().into()), ("policy", run.policy.to_string().into())]);
    for figure in &run.figures {
        let name = &figure.name;
        row.insert(name.clone(), figure.simulated.median.into());
        row.insert(format!("{name}_error_pct"), figure.error_pct().into());
        row.insert(format!("{name}_inside"), yes(figure.is_inside()).into());
        row.insert(format!("{name}_measured"), rows::measured(figure));
    }
    row
}

fn figure_row(run: &ValidatedRun, name: &str, unit: f64) -> Option<Row> {
    let figure = run.figure(name)?;
    let Interval { median, p5, p95 } = figure.simulated;
    let shown = |value: f64| -> Value {
        let whole = figure.is_count && value.fract() == 0.0;
        if whole { (value as u64).into() } else { (value / unit).into() }
    };
    Some(row([
        ("trace", run.trace.as_str().into()),
        ("policy", run.policy.to_string().into()),
        ("measured", shown(figure.measured)),
        ("median", shown(median)),
        ("p5", shown(p5)),
        ("p95", shown(p95)),
        ("error_pct", figure.error_pct().into()),
        ("inside", yes(figure.is_inside()).into()),
    ]))
}

/// With the run of the worst error, or of the worst difference where there is no error.
fn aggregates(validation: &Validation, keep: impl Fn(&Aggregate) -> bool) -> Vec<Row> {
    let rows = validation.aggregates.iter().zip(rows::aggregate_rows(validation));
    rows.filter(|(aggregate, _)| keep(aggregate))
        .map(|(aggregate, mut row)| {
            let worst = aggregate.error_pct.as_ref().unwrap_or(&aggregate.difference);
            let (trace, policy) = &worst.worst_run;
            row.insert("worst_run".into(), format!("{trace} {policy}").into());
            row.insert("over".into(), name(&aggregate.scope).into());
            row
        })
        .collect()
}

fn yes(inside: bool) -> &'static str {
    if inside { "yes" } else { "no" }
}
