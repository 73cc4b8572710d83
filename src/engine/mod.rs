//! Time and the event queue. Knows nothing of GPUs, jobs or schedulers.
//!
//! A discrete-event run is a loop: take the earliest event, move the clock to it, let its handler
//! change the state and push later events. All of the order that a run depends on is here:
//!
//! * time is whole microseconds ([`Time`]), so equal times compare equal on every machine;
//! * events at one instant are ordered by their class, then by insertion ([`Key`]);
//! * a pushed event can be cancelled or moved through its [`Handle`]: an outdated completion is taken
//!   out of the queue rather than recognised as stale when it surfaces.

mod queue;
mod time;

pub use queue::{EventQueue, Handle, Key};
pub use time::{MICROS_PER_S, Time};
