//! What a trace is like, in figures that can stand side by side, and how far two are apart.

mod describe;
mod distance;

pub use describe::{Description, GANG_BINS, Statistic, gang_bin, statistics};
pub use distance::distances;
