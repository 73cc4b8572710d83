//! Everything that is wrong with a trace, not only what is wrong first.
//!
//! What a run refuses is an error here, and the other way around; both go by the same columns, ranges and parsers.

mod code;
mod problem;
mod rows;
mod text;
mod whole;

use crate::cluster::ClusterSpec;
use crate::workload::Catalogue;

pub use code::{Code, Severity, codes_markdown};
pub use problem::Problem;

/// What was found in a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Lint {
    /// Lines of jobs, usable or not.
    pub jobs: u64,
    /// The worst first, then by line.
    pub problems: Vec<Problem>,
}

/// Goes through a whole trace file, whatever it holds, with the catalogue and the cluster that it is to run with.
pub fn lint(bytes: &[u8], catalogue: &Catalogue, cluster: &ClusterSpec) -> Lint {
    let mut problems = problem::Problems::default();
    let Some(text) = text::text(bytes, &mut problems) else {
        return Lint { jobs: 0, problems: problems.sorted() };
    };
    let rows = rows::Rows::read(&text, catalogue, cluster, &mut problems);
    whole::check(&rows, cluster.gpu_count(), &mut problems);
    Lint { jobs: rows.jobs, problems: problems.sorted() }
}

#[cfg(test)]
mod tests;
