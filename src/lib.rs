pub mod calibrate;
pub mod cluster;
pub mod engine;
mod error;
pub mod metrics;
pub mod model;
pub mod policy;
pub mod sim;
pub mod workload;

pub use error::{Error, Result};
