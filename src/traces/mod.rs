//! Traces from elsewhere: imported, mapped to workloads, made up, described, checked and converted.

pub mod generate;
