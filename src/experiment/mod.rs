//! Many runs: comparisons of policies, and the paper's evaluation beside its measurements.

mod comparison;
mod evaluation;
mod measured;
mod reproduction;
mod settings;

pub use comparison::{Comparison, compare};
pub use evaluation::{Check, Evaluation, Headline};
pub use measured::{Condition, MeasuredRun, MeasuredRuns};
pub use reproduction::{Cell, Reduction, Reproduction, reproduce};
pub use settings::Settings;
