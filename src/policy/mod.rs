//! The schedulers: pure decisions over an [`Observation`].
//!
//! A policy has no clock, no input or output, no randomness and no state of its own, and it cannot reach
//! the truth of a run: all it gets is an [`Observation`], a [`JobRequest`] and a [`RiskSource`]. The same
//! code could drive a real server.

mod aegis;
mod exclusive;
mod horus;
mod lucid;
mod observation;
mod params;
mod params_file;
mod relevance;
mod scheduler;
mod spec;

pub use observation::{
    Availability, Decision, GpuView, JobProfile, JobRequest, Observation, Placement, Recheck, Rejection,
    RiskSource,
};
pub use params::{
    BlindGpu, Domain, MemorySource, ObservationAnchor, Order, PARAMETERS, Parameter, Params, Pressure,
    Recovery,
};
pub use params_file::{BUILTIN_PARAMS, ParamsFile, resolve_params};
pub use relevance::parameter_matters;
pub use scheduler::{available_memory_mib, decide, next_recovery_floor_mib};
pub use spec::{Modifier, PolicyKind, PolicySpec};

use crate::workload::Metric;

/// A collocation policy: which GPUs a job may share.
///
/// The scheduler loop around it is common to all policies ([`decide`]): idle GPUs first, then this.
pub trait Policy: Send + Sync {
    /// Whether jobs may share GPUs at all.
    fn collocates(&self) -> bool {
        true
    }

    /// The memory per GPU that the policy takes the job to need; `None` where it does not know or ask.
    fn required_memory_mib(&self, job: &JobRequest<'_>, params: &Params) -> Option<f64>;

    /// Whether its decisions follow from this metric's telemetry.
    fn reads(&self, _: Metric, _: &Params) -> bool {
        false
    }

    /// Chooses GPUs for a job among GPUs that are not all idle.
    ///
    /// Pushes the chosen GPUs to `out.gpus`, or rejections with their reasons to `out.rejections`, and
    /// says in `out.recheck` when a rejected job is worth another look.
    fn place(
        &self,
        observation: &Observation<'_>,
        job: &JobRequest<'_>,
        risks: &mut dyn RiskSource,
        params: &Params,
        out: &mut Placement,
    );
}

/// The policy of a kind.
pub fn build(kind: PolicyKind) -> Box<dyn Policy> {
    match kind {
        PolicyKind::Exclusive => Box::new(exclusive::Exclusive),
        PolicyKind::Horus => Box::new(horus::Horus),
        PolicyKind::Lucid => Box::new(lucid::Lucid),
        PolicyKind::Aegis => Box::new(aegis::Aegis),
    }
}
