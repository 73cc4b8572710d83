use serde_json::{Value, json};

use super::row::{Row, SCHEMA_VERSION, row};
use crate::error::{Result, input_error};
use crate::metrics::{Figure, Summary};
use crate::policy::Params;
use crate::sim::{JobRecord, RunRecord};

/// jobs.csv: one row per job, in the order of submission.
pub fn job_rows(record: &RunRecord) -> Vec<Row> {
    record
        .jobs
        .iter()
        .map(|job| {
            let completed = job.completed();
            let attempted = |value: Value| if job.attempts > 0 { value } else { Value::Null };
            let when_completed = |figure: fn(&JobRecord) -> f64| {
                if completed { Value::from(figure(job)) } else { Value::Null }
            };
            row([
                ("job_id", job.id.as_str().into()),
                ("workload", job.workload.as_str().into()),
                ("gpus", job.gpus.into()),
                ("server", attempted(job.server.into())),
                ("submit_s", job.submit.as_s().into()),
                ("first_dispatch_s", attempted(job.first_dispatch.as_s().into())),
                ("first_launch_s", attempted(job.first_launch.as_s().into())),
                ("end_s", job.end.as_s().into()),
                ("outcome", if completed { "completed" } else { "given_up" }.into()),
                ("reason", job.given_up.into()),
                ("attempts", job.attempts.into()),
                ("solo_runtime_s", job.solo_runtime.as_s().into()),
                ("initial_queue_wait_s", attempted(job.initial_queue_wait_s().into())),
                ("queue_wait_s", attempted(job.queue_wait_s().into())),
                ("execution_time_s", attempted(job.execution_time_s().into())),
                ("jct_s", when_completed(JobRecord::jct_s)),
                ("slowdown", when_completed(JobRecord::slowdown)),
                ("normalized_jct", when_completed(JobRecord::normalized_jct)),
                ("schema_version", SCHEMA_VERSION.into()),
            ])
        })
        .collect()
}

/// attempts.csv: one row per attempt, in the order of dispatch.
pub fn attempt_rows(record: &RunRecord) -> Vec<Row> {
    record
        .attempts
        .iter()
        .map(|attempt| {
            let gpus: Vec<String> = record.gpus_of(attempt).iter().map(usize::to_string).collect();
            row([
                ("job_id", record.jobs[attempt.job].id.as_str().into()),
                ("attempt", attempt.number.into()),
                ("gpus", gpus.join(" ").into()),
                ("dispatch_s", attempt.dispatch.as_s().into()),
                ("launch_s", attempt.launch.as_s().into()),
                ("first_activity_s", attempt.first_activity.map(|time| time.as_s()).into()),
                ("end_s", attempt.end.as_s().into()),
                ("outcome", attempt.outcome.name().into()),
                ("collocated", attempt.collocated.into()),
                ("floor_mib", attempt.floor_mib.into()),
                ("schema_version", SCHEMA_VERSION.into()),
            ])
        })
        .collect()
}

/// summary.json: the run condensed, with the parameters that made it.
pub fn summary_json(summary: &Summary, params: &Params) -> Result<String> {
    let mut object = row([
        ("schema_version", SCHEMA_VERSION.into()),
        ("aegis_sim_version", env!("CARGO_PKG_VERSION").into()),
        ("trace", summary.trace.as_str().into()),
        ("policy", summary.policy.as_str().into()),
        ("seed", summary.seed.into()),
    ]);
    object.extend(summary.figures().into_iter().map(|(name, figure)| (name, Value::from(figure))));
    object.insert("events".into(), summary.events.into());
    let as_json = |error: serde_json::Error| input_error!("cannot write the summary as JSON: {error}");
    object.insert("gpus".into(), serde_json::to_value(&summary.gpus).map_err(as_json)?);
    let params: Row =
        params.entries().map(|(parameter, text)| (parameter.key.to_owned(), typed(text))).collect();
    object.insert("params".into(), Value::Object(params));
    let mut text = serde_json::to_string_pretty(&object).map_err(as_json)?;
    text.push('\n');
    Ok(text)
}

/// A parameter's text as the JSON type that it reads as.
fn typed(text: String) -> Value {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => serde_json::from_str(&text).unwrap_or(json!(number)),
        _ => text.parse::<bool>().map_or(Value::String(text), Value::Bool),
    }
}

/// A summary as a row: what ran, then all figures.
pub fn summary_row(summary: &Summary) -> Row {
    let mut row = row([("trace", summary.trace.as_str().into()), ("policy", summary.policy.as_str().into())]);
    row.extend(summary.figures().into_iter().map(|(name, figure): (String, Figure)| (name, figure.into())));
    row.insert("seed".into(), summary.seed.into());
    row.insert("schema_version".into(), SCHEMA_VERSION.into());
    row
}
