//! A run: events, their handlers, and the record of what happened.
//!
//! At one instant events are handled in the order of [`Class`]: completions, OOM deaths, arrivals, first
//! activities, late memory growth, (telemetry samples,) scheduler ticks. Samples are taken at whole seconds
//! and worked out only when a scheduler asks for them; they see what happened before the tick of their
//! instant, and not what the tick did.

mod bound;
mod dispatch;
mod event;
mod physics;
mod record;
mod risk;
mod run;
mod running;
mod telemetry;
mod world;

pub use bound::{MakespanBound, makespan_bound};
pub use event::{Event, EventKind, NoObserver, Observer};
pub use record::{Attempt, GpuRecord, JobRecord, Outcome, RunRecord};
pub use run::{Class, Run};
pub use world::{Oversized, World};

use crate::error::Result;
use crate::policy::{Params, PolicySpec};

/// Replays a world's trace under a policy.
///
/// Deterministic: the same arguments give the same record on any machine. Seed 0 is the run without
/// run-to-run noise; telemetry varies under every seed.
///
/// # Errors
/// See [`Run::new`].
pub fn simulate(
    world: &World,
    policy: &PolicySpec,
    params: &Params,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<RunRecord> {
    Ok(Run::new(world, policy, params, seed)?.finish(observer))
}
