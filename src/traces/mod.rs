//! Traces from elsewhere: imported, mapped to workloads, made up, described, checked and converted.

pub mod convert;
pub mod generate;
pub mod import;
pub mod lint;
pub mod map;
pub mod stats;
