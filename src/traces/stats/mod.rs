//! What a trace is like, in figures that can stand side by side, and how far two are apart.

mod describe;
mod distance;
mod statistics;

pub use describe::{Description, GANG_BINS, gang_bin};
pub use distance::distances;
pub use statistics::{Statistic, statistics};
