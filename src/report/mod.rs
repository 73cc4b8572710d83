//! What runs leave on disk.

pub mod atomic;
pub mod plot;
