//! Records of a run condensed to figures.

mod stats;
mod summary;

pub use stats::{geometric_mean, mean, quantile_of_sorted, rank_correlation};
pub use summary::{Distribution, Figure, Summary};
