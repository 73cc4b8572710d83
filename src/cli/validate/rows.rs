//! A validation as rows of the documented columns.

use serde_json::{Value, json};

use crate::error::{Result, input_error};
use crate::experiment::{Errors, Interval, Scope, ValidatedFigure, ValidatedRun, Validation, error_pct};
use crate::report::{Row, SCHEMA_VERSION, row};

/// validation.csv: by run, then figure.
pub(super) fn figure_rows(validation: &Validation) -> Vec<Row> {
    let rows = validation.runs.iter().flat_map(|run| {
        run.figures.iter().map(|figure| {
            let mut row = run_row(run);
            row.insert("telemetry_blind_gpu".into(), run.telemetry_blind_gpu.as_str().into());
            row.insert("figure".into(), figure.name.as_str().into());
            row.insert("measured".into(), measured(figure));
            insert_interval(&mut row, "", Some(figure.simulated));
            row.insert("difference".into(), figure.difference().into());
            row.insert("error_pct".into(), figure.error_pct().into());
            row.insert("inside".into(), figure.is_inside().into());
            close(row, validation)
        })
    });
    rows.collect()
}

/// jobs.csv: by run, then job; none where no jobs were measured.
pub(super) fn job_rows(validation: &Validation) -> Vec<Row> {
    let rows = validation.runs.iter().flat_map(|run| {
        run.jobs.iter().flat_map(|jobs| &jobs.jobs).map(move |job| {
            let both = job.both_jcts_s();
            let mut row = run_row(run);
            row.insert("job_id".into(), job.job_id.as_str().into());
            row.insert("measured_jct_s".into(), job.measured_jct_s.into());
            insert_interval(&mut row, "jct_", job.simulated_jct_s);
            let error_pct = both.and_then(|(measured, simulated)| error_pct(simulated.median, measured));
            row.insert("error_pct".into(), error_pct.into());
            let inside = both.map(|(measured, simulated)| simulated.contains(measured));
            row.insert("inside".into(), inside.into());
            close(row, validation)
        })
    });
    rows.collect()
}

/// aggregate.csv: by scope, then figure.
pub(in crate::cli) fn aggregate_rows(validation: &Validation) -> Vec<Row> {
    let rows = validation.aggregates.iter().map(|aggregate| {
        let mut row = scope_row(&aggregate.scope);
        row.insert("figure".into(), aggregate.figure.as_str().into());
        row.insert("runs".into(), aggregate.runs.into());
        insert_errors(&mut row, ["mae_pct", "worst_error"], "_pct", aggregate.error_pct.as_ref());
        insert_errors(&mut row, ["mean_abs_difference", "worst_difference"], "", Some(&aggregate.difference));
        row.insert("inside_share".into(), aggregate.inside_share.into());
        row.insert("width_median_pct".into(), aggregate.width_median_pct.into());
        close(row, validation)
    });
    rows.collect()
}

/// Errors of the jobs' completion times, by scope.
pub(super) fn job_error_rows(validation: &Validation) -> Vec<Row> {
    let rows = validation.job_errors.iter().map(|errors| {
        let mut row = scope_row(&errors.scope);
        row.insert("jobs".into(), errors.jobs.into());
        row.insert("abs_error_median_pct".into(), errors.error_median_pct.into());
        row.insert("abs_error_p90_pct".into(), errors.error_p90_pct.into());
        row.insert("inside_share".into(), errors.inside_share.into());
        row.insert("rank_correlation".into(), errors.rank_correlation.into());
        row
    });
    rows.collect()
}

pub(super) fn headline_rows(validation: &Validation) -> Vec<Row> {
    let rows = validation.headline.iter().map(|reduction| {
        let simulated = reduction.simulated_pct;
        row([
            ("policy", reduction.policy.to_string().into()),
            ("against", reduction.against.to_string().into()),
            ("measured_reduction_pct", reduction.measured_pct.into()),
            ("reduction_median_pct", simulated.median.into()),
            ("reduction_p5_pct", simulated.p5.into()),
            ("reduction_p95_pct", simulated.p95.into()),
            ("difference_points", (simulated.median - reduction.measured_pct).into()),
            ("inside", simulated.contains(reduction.measured_pct).into()),
        ])
    });
    rows.collect()
}

pub(super) fn target_rows(validation: &Validation) -> Vec<Row> {
    let rows = validation.targets.iter().map(|target| {
        let run = target.run.as_ref();
        row([
            ("subject", target.subject.as_str().into()),
            ("criterion", target.criterion.into()),
            ("value", target.value.into()),
            ("limit", target.limit.into()),
            ("status", target.status.name().into()),
            ("trace", run.map(|(trace, _)| trace.as_str()).into()),
            ("policy", run.map(|(_, policy)| policy.as_str()).into()),
        ])
    });
    rows.collect()
}

/// validation.json.
pub(super) fn json_text(validation: &Validation) -> Result<String> {
    let value = json!({
        "schema_version": SCHEMA_VERSION,
        "seeds": validation.seeds,
        "figures": figure_rows(validation),
        "jobs": job_rows(validation),
        "aggregate": aggregate_rows(validation),
        "job_errors": job_error_rows(validation),
        "headline": headline_rows(validation),
        "targets": target_rows(validation),
    });
    let text = serde_json::to_string_pretty(&value);
    text.map(|text| text + "\n").map_err(|error| input_error!("cannot write the results as JSON: {error}"))
}

fn run_row(run: &ValidatedRun) -> Row {
    row([("trace", run.trace.as_str().into()), ("policy", run.policy.to_string().into())])
}

/// Where a trace or policy is blank, the row is over all of them.
fn scope_row(scope: &Scope) -> Row {
    let (name, trace, policy) = match scope {
        Scope::All => ("all", None, None),
        Scope::Policy(policy) => ("policy", None, Some(policy)),
        Scope::Trace(trace) => ("trace", Some(trace), None),
        Scope::Run(trace, policy) => ("run", Some(trace), Some(policy)),
    };
    row([
        ("scope", name.into()),
        ("trace", trace.map(String::as_str).into()),
        ("policy", policy.map(String::as_str).into()),
    ])
}

fn close(mut row: Row, validation: &Validation) -> Row {
    row.insert("seeds".into(), validation.seeds.into());
    row.insert("schema_version".into(), SCHEMA_VERSION.into());
    row
}

/// A count is whole, unless a file has it as a fraction.
pub(super) fn measured(figure: &ValidatedFigure) -> Value {
    let whole = figure.is_count && figure.measured.fract() == 0.0;
    if whole { (figure.measured as u64).into() } else { figure.measured.into() }
}

fn insert_interval(row: &mut Row, prefix: &str, interval: Option<Interval>) {
    let unit = if prefix.is_empty() { "" } else { "_s" };
    let mut insert = |name: &str, value: Option<f64>| {
        row.insert(format!("{prefix}{name}{unit}"), value.into());
    };
    insert("median", interval.map(|interval| interval.median));
    insert("p5", interval.map(|interval| interval.p5));
    insert("p95", interval.map(|interval| interval.p95));
}

/// Mean and worst under their names, and which run the worst is of.
fn insert_errors(row: &mut Row, [mean, worst]: [&str; 2], unit: &str, errors: Option<&Errors>) {
    let run = errors.map(|errors| &errors.worst_run);
    row.insert(mean.to_owned(), errors.map(|errors| errors.mean_absolute).into());
    row.insert(format!("{worst}{unit}"), errors.map(|errors| errors.worst).into());
    row.insert(format!("{worst}_trace"), run.map(|(trace, _)| trace.as_str()).into());
    row.insert(format!("{worst}_policy"), run.map(|(_, policy)| policy.as_str()).into());
}
