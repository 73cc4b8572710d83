//! `aegis-sim trace`, and runs of large traces. One program, as each that is linked takes time.

#[path = "../common/mod.rs"]
mod common;
mod documents;
mod generate;
mod import;
mod large;
mod map;
mod round_trip;
mod tools;
