//! Many runs: comparisons of policies, the paper's evaluation beside its measurements, validation over seeds, experiments and
//! their baselines.

mod comparison;
mod evaluation;
pub mod gate;
mod measured;
mod measured_jobs;
mod reproduction;
mod settings;
pub mod sweep;
mod threshold_data;
mod threshold_result;
mod threshold_study;
pub mod tune;
mod validation;

pub use comparison::{Comparison, compare, makespan_vs_bound};
pub use evaluation::{Check, Evaluation, Headline};
pub use measured::{Condition, MeasuredRun, MeasuredRuns, error_pct};
pub use measured_jobs::{MeasuredJob, MeasuredJobs};
pub use reproduction::{Cell, Reduction, Reproduction, reproduce};
pub use settings::Settings;
pub use threshold_data::{StudyData, StudyFigures, StudyJob, StudySequence, StudySetting};
pub use threshold_result::{SettingResult, ThresholdStudy};
pub use threshold_study::{StudyReplay, StudyRuns};
pub use validation::{
    Aggregate, Change, Counterfactual, CounterfactualRun, Difference, Direction, Errors, FigureLimits,
    Interval, JobErrors, ReductionChange, Reference, Scope, SlowdownChange, Status, Target, Targets,
    ValidatedFigure, ValidatedHeadline, ValidatedJob, ValidatedJobs, ValidatedRun, Validation, validate,
    validate_with_sound_telemetry,
};
