//! What the integration tests share: random runs, and building runs from text.
#![allow(dead_code, unused_imports)] // Each test binary uses its own part.

mod cases;
mod log;
mod program;
mod scratch;

pub use cases::{Case, Shape, any_case};
pub use log::{Entry, Log, What};
pub use program::{aegis_sim, fails, run, succeeds};
pub use scratch::Scratch;

use proptest::test_runner::{Config, RngSeed};

/// Proptest's settings: the same cases in every run, unless `PROPTEST_RNG_SEED` or `PROPTEST_CASES` ask for
/// others.
pub fn config(cases: u32) -> Config {
    let from_env = Config::default();
    let asked = |name| std::env::var_os(name).is_some();
    Config {
        cases: if asked("PROPTEST_CASES") { from_env.cases } else { cases },
        rng_seed: if asked("PROPTEST_RNG_SEED") { from_env.rng_seed } else { RngSeed::Fixed(20) },
        failure_persistence: None,
        max_shrink_time: 10_000,
        ..from_env
    }
}

/// All policies with every combination of modifiers.
pub fn all_policies() -> Vec<String> {
    let mut policies: Vec<String> = ["exclusive", "horus", "lucid"].map(str::to_owned).into();
    for memory in ["", "+peak-mem", "+horus-mem", "+faketensor-mem", "+gpumemnet-mem"] {
        for order in ["", "+magm", "+lug", "+bf", "+ff", "+rr"] {
            for pressure in ["", "+no-thresholds", "+smi40", "+smi80"] {
                policies.push(format!("aegis{memory}{order}{pressure}"));
            }
        }
    }
    policies
}
