//! Servers and their GPUs: the description that a user gives, and the ground truth of a run.

mod spec;
mod state;

pub use spec::{ClusterSpec, GpuSpec, ServerSpec};
pub(crate) use state::{GpuState, Resident};
