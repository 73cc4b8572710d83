//! Experiments: what is varied, the runs that follow from it, and what they come to.

mod axis;
mod builtin;
mod design;
mod entries;
mod experiment;
mod file;
mod inputs;
mod key;
mod manifest;
mod merge;
mod metric;
mod plot_spec;
mod results;
mod run;
mod shard;
mod source;
mod store;
mod tables;
mod tolerance;

pub(super) use entries::Entries;
pub(super) use results::draw_below;
pub(super) use run::pool;
pub(super) use source::{ReadFile, Source, axes};

pub use axis::Axis;
pub(super) use axis::significant;
pub use builtin::BUILTIN_EXPERIMENTS;
pub use design::{Design, OversizedJobs, RunKey, Setting, Variant};
pub use experiment::{Experiment, Runner};
pub use inputs::Input;
pub use key::{Key, SCENE_PARAMETERS, Scene, SceneParameter};
pub use manifest::Manifest;
pub use merge::{Merged, merge};
pub use metric::{Better, Metric, figure_columns, spoken};
pub use plot_spec::{Panels, PlotKind, PlotSpec, Presentation};
pub use results::{Estimate, Over, Resamples, Results};
pub use run::{check_failures, run_all, seconds_per_run, sweep};
pub use shard::Shard;
pub use store::{RunLine, Store};
pub use tables::{GEOMEAN, aggregate_rows, metrics};
pub use tolerance::Tolerance;
