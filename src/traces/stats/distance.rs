use std::collections::BTreeSet;

use super::describe::Description;
use super::statistics::Statistic;

/// How far a trace is from another: 0 where they are the same.
///
/// Distances and no significance: with the sizes of traces, any difference is significant.
pub fn distances(from: &Description, to: &Description) -> Vec<Statistic> {
    let samples = [
        ("duration", "durations", &from.durations_s, &to.durations_s),
        ("inter_arrival", "inter-arrival times", &from.inter_arrivals_s, &to.inter_arrivals_s),
    ];
    let mut all = Vec::new();
    for (name, label, a, b) in samples {
        all.push(Statistic::new(
            format!("{name}_ks"),
            format!("{label}, Kolmogorov-Smirnov distance"),
            ks(a, b),
        ));
        let wasserstein = log_wasserstein(a, b);
        all.push(Statistic::new(
            format!("{name}_log10_wasserstein"),
            format!("{label}, Wasserstein distance of log10 [decades]"),
            wasserstein,
        ));
    }
    for (of, label, share) in [
        ("jobs", "jobs by GPUs", jobs_share as fn(&Description, u32) -> f64),
        ("service", "GPU service by GPUs", service_share),
    ] {
        all.push(Statistic::new(
            format!("gpus_{of}_total_variation"),
            format!("{label}, total variation distance"),
            total_variation(from, to, share),
        ));
    }
    all
}

/// The largest difference between the fractions of ascending values at or below a value; NaN where a sample is empty.
///
/// Of two samples, as statrs has it; but there it sums up 1/n for each of n values, and stands behind a feature that locks
/// nalgebra with all its optional dependencies.
fn ks(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return f64::NAN;
    }
    steps(a, b).map(|(_, difference)| difference).fold(0.0, f64::max)
}

/// The area between the distributions of decimal logarithms of ascending values: by how many decades the values of one
/// have to be moved, on average, to become the other. Below a second, where traces have no resolution, all are a second.
/// NaN where a sample is empty.
fn log_wasserstein(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return f64::NAN;
    }
    let logs =
        |values: &[f64]| -> Vec<f64> { values.iter().map(|value| libm::log10(value.max(1.0))).collect() };
    let (a, b) = (logs(a), logs(b));
    let (mut area, mut before) = (0.0, None);
    for (at, difference) in steps(&a, &b) {
        area += before.map_or(0.0, |(from, difference)| difference * (at - from));
        before = Some((at, difference));
    }
    area
}

/// Each value that occurs in ascending samples, and by how much the fractions at or below it differ. Values that are equal
/// are taken in together, so that ties count as they should.
fn steps(a: &[f64], b: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let next = a.get(i).into_iter().chain(b.get(j)).copied().reduce(f64::min)?;
        i += a[i..].iter().take_while(|value| **value == next).count();
        j += b[j..].iter().take_while(|value| **value == next).count();
        Some((next, (i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs()))
    })
}

fn jobs_share(description: &Description, gpus: u32) -> f64 {
    description.gangs.get(&gpus).map_or(0.0, |(jobs, _)| *jobs as f64) / description.jobs as f64
}

fn service_share(description: &Description, gpus: u32) -> f64 {
    let total_gpu_s: f64 = description.gangs.values().map(|(_, gpu_s)| gpu_s).sum();
    description.gangs.get(&gpus).map_or(0.0, |(_, gpu_s)| *gpu_s) / total_gpu_s
}

/// Half of the sum of differences: the share that would have to be moved to another number of GPUs.
fn total_variation(a: &Description, b: &Description, share: fn(&Description, u32) -> f64) -> f64 {
    let gpus: BTreeSet<u32> = a.gangs.keys().chain(b.gangs.keys()).copied().collect();
    gpus.into_iter().map(|gpus| (share(a, gpus) - share(b, gpus)).abs()).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Catalogue, Trace};

    #[test]
    fn ties_count_at_once() {
        // Fractions at or below 1: 2/3 and 1/4; at or below 2: 1 and 3/4.
        let distance = ks(&[1.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 3.0]);
        assert!((distance - (2.0 / 3.0 - 0.25)).abs() < 1e-12, "{distance}");
        assert_eq!(ks(&[1.0; 1000], &[1.0; 7]), 0.0);
        assert_eq!(ks(&[1.0], &[2.0]), 1.0);
        assert!(ks(&[], &[2.0]).is_nan());
    }

    #[test]
    fn the_wasserstein_distance_is_that_of_a_shift() {
        let times = |by: f64| -> Vec<f64> { (0..50).map(|i| by * f64::from(10 + i * i)).collect() };
        assert!((log_wasserstein(&times(1.0), &times(100.0)) - 2.0).abs() < 1e-12);
        assert_eq!(log_wasserstein(&times(3.0), &times(3.0)), 0.0);
        // Half of the values moved by one decade; 0.1 is as good as 0.
        let moved = log_wasserstein(&[0.0, 10.0], &[0.1, 100.0]);
        assert!((moved - 0.5).abs() < 1e-12, "{moved}");
        let sizes = log_wasserstein(&[10.0, 1000.0], &[10.0, 10.0, 1000.0, 1000.0]);
        assert!(sizes.abs() < 1e-12, "{sizes}");
        assert!(log_wasserstein(&[], &[1.0]).is_nan());
    }

    #[test]
    fn mixes_differ_by_what_would_have_to_move() {
        let describe = |lines: &str| {
            let text = format!("job_id,submit_s,workload,gpus,duration_s\n{lines}");
            let trace = Trace::parse("t", "t.csv", text.as_bytes()).unwrap();
            Description::of(&trace, &Catalogue::builtin(), None)
        };
        let a = describe("a,0,,1,8\nb,0,,1,8\nc,0,,2,8\nd,0,,4,8\n");
        let b = describe("a,0,,1,8\nb,0,,8,8\n");
        assert_eq!(total_variation(&a, &b, jobs_share), 0.5);
        // Of 64 GPU-seconds, 16 on 1 GPU; of 72, 8.
        assert_eq!(total_variation(&a, &b, service_share), 8.0 / 9.0);
        assert!(distances(&a, &a).iter().all(|stat| stat.value == 0.0));
    }
}
