//! An experiment's metrics against a stored baseline: what keeps to its tolerance, and what does not.

mod baseline;
mod comparison;
mod measured;
mod outcome;
mod words;

pub use baseline::{Baseline, BaselineRow};
pub use comparison::{Deviation, Gate};
pub use measured::{Measured, measure};
pub use outcome::Outcome;
