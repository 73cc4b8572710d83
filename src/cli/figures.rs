//! Figures that several commands draw.

use std::path::Path;

use crate::error::Result;
use crate::report::plot::{self, Quantity};
use crate::sim::{JobRecord, RunRecord};

/// Distributions of JCT and slowdown, one curve per run: the figures `jct` and `slowdown` with a suffix.
pub(super) fn distributions(dir: &Path, suffix: &str, records: &[&RunRecord]) -> Result<()> {
    let series = |figure: &dyn Fn(&JobRecord) -> f64| -> Vec<(String, Vec<f64>)> {
        let values =
            |record: &RunRecord| record.jobs.iter().filter(|job| job.completed()).map(figure).collect();
        records.iter().map(|record| (record.policy.clone(), values(record))).collect()
    };
    let jct_h = series(&|job| job.jct_s() / 3600.0);
    plot::write(
        dir,
        &format!("jct{suffix}"),
        &plot::ecdf(&jct_h, Quantity::linear("job completion time [h]")),
    )?;
    let slowdown = series(&JobRecord::slowdown);
    plot::write(dir, &format!("slowdown{suffix}"), &plot::ecdf(&slowdown, Quantity::log("slowdown")))?;
    Ok(())
}

/// [`distributions`] per trace, of records that are grouped by trace.
pub(super) fn distributions_by_trace<'a>(
    dir: &Path,
    records: impl Iterator<Item = &'a RunRecord>,
) -> Result<()> {
    let records: Vec<&RunRecord> = records.collect();
    for of_trace in records.chunk_by(|a, b| a.trace == b.trace) {
        distributions(dir, &format!("_{}", of_trace[0].trace), of_trace)?;
    }
    Ok(())
}
