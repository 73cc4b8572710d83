//! Records of a run condensed to figures.

mod resources;
mod stats;
mod summary;

pub use resources::Resources;
pub use stats::{geometric_mean, mean, quantile_of_sorted, rank_correlation};
pub(crate) use stats::{quantile_by, sorted};
pub use summary::{Distribution, Figure, Summary};
