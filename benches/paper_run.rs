//! One run of a paper trace (60 jobs) per policy, as a ratio to `exclusive` in the same process.
//!
//! Rounds are interleaved and the least time of each counts, so that a busy machine disturbs all alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aegis_sim::experiment::Settings;
use aegis_sim::policy::PolicySpec;
use aegis_sim::sim::{NoObserver, simulate};
use aegis_sim::workload::Trace;

const POLICIES: [&str; 7] =
    ["exclusive", "horus", "lucid", "aegis", "aegis+horus-mem", "aegis+peak-mem", "aegis+no-thresholds"];
const ROUNDS: usize = 40;

fn main() -> aegis_sim::Result<()> {
    let settings = Settings::default();
    println!("{:8} {:22} {:>10} {:>14} {:>10}", "trace", "policy", "ms", "/ exclusive", "events");
    for trace in ["philly", "saturn", "venus"] {
        let world = settings.world(&Trace::open(trace)?)?;
        let mut runs = Vec::new();
        for name in POLICIES {
            let policy: PolicySpec = name.parse()?;
            let params = settings.params(&policy)?;
            runs.push((policy, params, Duration::MAX, 0));
        }
        for _ in 0..ROUNDS {
            for (policy, params, least, events) in &mut runs {
                let start = Instant::now();
                let record = black_box(simulate(&world, policy, params, 0, &mut NoObserver)?);
                *least = (*least).min(start.elapsed());
                *events = record.events;
            }
        }
        let exclusive = runs[0].2.as_secs_f64();
        for (policy, _, least, events) in &runs {
            let s = least.as_secs_f64();
            println!(
                "{trace:8} {:22} {:10.3} {:14.1} {events:10}",
                policy.to_string(),
                s * 1e3,
                s / exclusive
            );
        }
    }
    Ok(())
}
