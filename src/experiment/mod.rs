//! Many runs: comparisons of policies, and the paper's evaluation beside its measurements.

mod comparison;
mod evaluation;
mod measured;
mod reproduction;
mod settings;
mod threshold_data;
mod threshold_result;
mod threshold_study;

pub use comparison::{Comparison, compare};
pub use evaluation::{Check, Evaluation, Headline};
pub use measured::{Condition, MeasuredRun, MeasuredRuns};
pub use reproduction::{Cell, Reduction, Reproduction, reproduce};
pub use settings::Settings;
pub use threshold_data::{StudyData, StudyFigures, StudyJob, StudySequence, StudySetting};
pub use threshold_result::{SettingResult, ThresholdStudy};
pub use threshold_study::{StudyReplay, StudyRuns};
