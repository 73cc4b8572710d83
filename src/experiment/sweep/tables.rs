//! Tables of an experiment's results.

use super::metric::Metric;
use super::results::{Over, Results};
use crate::error::Result;
use crate::report::{Row, SCHEMA_VERSION};

/// What stands in place of a trace for the means over all of them.
pub const GEOMEAN: &str = "geomean";

/// runs.csv: a row per setting and trace, and one for the geometric mean over traces, with the mean of every metric over
/// seeds and its 95 % interval.
pub fn aggregate_rows(results: &Results<'_>) -> Result<Vec<Row>> {
    let design = results.design();
    let columns = design.setting_columns();
    let metrics = metrics(results)?;
    let mut rows = Vec::with_capacity(design.setting_count() * (design.traces.len() + 1));
    for (index, setting) in design.settings().enumerate() {
        let fields = design.setting_fields(&setting);
        for over in results.overs() {
            let mut row = Row::new();
            let mut put = |name: String, value: serde_json::Value| {
                row.insert(name, value);
            };
            let (trace, failed) = match over {
                Over::Trace(trace) => (design.traces[trace].as_str(), results.failed(index, trace)),
                Over::Traces => {
                    (GEOMEAN, (0..design.traces.len()).map(|trace| results.failed(index, trace)).sum())
                }
            };
            put("trace".into(), trace.into());
            for (column, field) in columns.iter().zip(&fields) {
                put(
                    column.clone(),
                    if field.is_empty() { serde_json::Value::Null } else { field.as_str().into() },
                );
            }
            put("replicates".into(), design.replicates.into());
            put("failed_runs".into(), failed.into());
            for metric in &metrics {
                let estimate = results.estimate(metric, index, over);
                put(format!("{}_mean", metric.name), estimate.mean.into());
                put(format!("{}_low", metric.name), estimate.low.into());
                put(format!("{}_high", metric.name), estimate.high.into());
            }
            put("schema_version".into(), SCHEMA_VERSION.into());
            rows.push(row);
        }
    }
    Ok(rows)
}

pub fn metrics(results: &Results<'_>) -> Result<Vec<Metric>> {
    results.manifest.presentation.metrics.iter().map(|name| Metric::find(name, true)).collect()
}
