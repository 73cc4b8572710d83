//! Trace-driven discrete-event simulator of schedulers that share GPUs between training jobs.
//!
//! A [`World`](sim::World) joins a trace with a workload catalogue, a cluster and a model of interference,
//! memory and telemetry. [`simulate`](sim::simulate) replays it under a policy and returns what happened;
//! [`Summary`](metrics::Summary) condenses that to makespan, job completion times (JCT), queueing delays and
//! slowdowns.
//!
//! ```
//! use aegis_sim::experiment::Settings;
//! use aegis_sim::metrics::Summary;
//! use aegis_sim::policy::PolicySpec;
//! use aegis_sim::sim::{NoObserver, simulate};
//! use aegis_sim::workload::Trace;
//!
//! // What is built in: 53 workloads, 3 x A100 40 GB, seed 0; `open` also takes the path of a CSV file.
//! let settings = Settings::default();
//! let world = settings.world(&Trace::open("philly")?)?;
//!
//! let mut makespans_s = Vec::new();
//! for name in ["exclusive", "aegis"] {
//!     let policy: PolicySpec = name.parse()?;
//!     let params = settings.params(&policy)?;
//!     let record = simulate(&world, &policy, &params, settings.seed, &mut NoObserver)?;
//!     let summary = Summary::of(&record);
//!     assert_eq!(summary.completed_jobs, 60);
//!     makespans_s.push(summary.makespan_s);
//! }
//! assert!(makespans_s[1] < 0.8 * makespans_s[0], "sharing GPUs saves a fifth of the time at least");
//! # Ok::<(), aegis_sim::Error>(())
//! ```
//!
//! Data flows one way: trace, catalogue, cluster and policy into [`sim`], its records into [`metrics`] and
//! [`report`]. A policy sees an [`Observation`](policy::Observation), never the truth of a run.

pub mod calibrate;
pub mod cli;
pub mod cluster;
pub mod engine;
mod error;
pub mod experiment;
pub mod metrics;
pub mod model;
pub mod policy;
pub mod report;
pub mod sim;
pub mod traces;
pub mod workload;

pub use error::{Error, Result};
