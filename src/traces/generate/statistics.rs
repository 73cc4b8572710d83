use super::arrivals::HOUR_S;
use super::spec::{ArrivalSpec, Regular, Spec};
use crate::error::{Result, input_error};

/// Points per hour at which waits are looked at.
const POINTS: usize = 2;

/// What a specification says of its traces, worked out without drawing.
///
/// How often bursts end at each time of the week is taken from that time's rate, as if it had lasted; from there on, waits
/// pass through the week as they do in a trace.
pub struct Statistics<'a> {
    spec: &'a Spec,
    profile: super::arrivals::Profile,
    /// Share of the gaps that are waits between bursts.
    wait_share: f64,
    wait_scale: f64,
    /// Share of the waits that begin at a time of the week, and that time.
    starts: Vec<(f64, f64)>,
    mean_gap_s: f64,
}

impl<'a> Statistics<'a> {
    /// Of traces with jobs that arrive `rate` times as fast.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if no waits between bursts are short enough for the rate.
    pub fn of(spec: &'a Spec, rate: f64) -> Result<Statistics<'a>> {
        let arrivals = &spec.arrivals;
        let wait_scale = wait_scale(&spec.source, arrivals, rate * arrivals.rate)?;
        let profile = arrivals.profile();
        let weights: Vec<f64> =
            burst_rates(arrivals, wait_scale).iter().flat_map(|&weight| [weight; POINTS]).collect();
        let sum: f64 = weights.iter().sum();
        let time_s = |point: usize| (point as f64 + 0.5) * HOUR_S / POINTS as f64;
        let starts =
            weights.iter().enumerate().map(|(point, weight)| (weight / sum, time_s(point))).collect();
        let burst_jobs = arrivals.burst_jobs.whole_mean();
        let mean_gap_s = weights.len() as f64 / sum / burst_jobs;
        Ok(Statistics { spec, profile, wait_share: 1.0 / burst_jobs, wait_scale, starts, mean_gap_s })
    }

    /// Probability that the next job comes within so many whole seconds.
    pub fn gap_cdf(&self, gap_s: f64) -> f64 {
        let arrivals = &self.spec.arrivals;
        let mut waits = 0.0;
        if gap_s >= arrivals.burst_gap_s {
            let after_s = gap_s - arrivals.burst_gap_s;
            for &(share, start_s) in &self.starts {
                let passed_s =
                    self.profile.operational_s(start_s + after_s) - self.profile.operational_s(start_s);
                waits += share * arrivals.wait_s.cdf(passed_s / self.wait_scale);
            }
        }
        if let Some(Regular { share, gap_s: regular_s }) = &arrivals.regular {
            waits = (1.0 - share) * waits + share * regular_s.cdf(gap_s);
        }
        (1.0 - self.wait_share) * arrivals.gap_s.cdf(gap_s) + self.wait_share * waits.min(1.0)
    }

    /// Probability that a job lasts so many whole seconds at most.
    pub fn duration_cdf(&self, duration_s: f64) -> f64 {
        self.per_job(|gpus| self.spec.durations.of(gpus).cdf(duration_s))
    }

    pub fn mean_gap_s(&self) -> f64 {
        self.mean_gap_s
    }

    pub fn mean_duration_s(&self) -> f64 {
        self.per_job(|gpus| self.spec.durations.of(gpus).whole_mean())
    }

    /// GPUs times duration of a job, on average.
    pub fn mean_gpu_s(&self) -> f64 {
        self.per_job(|gpus| f64::from(gpus) * self.spec.durations.of(gpus).whole_mean())
    }

    /// The value that so great a share of whole seconds does not exceed, by a CDF; the least one if there are several.
    pub fn quantile(cdf: impl Fn(f64) -> f64, p: f64) -> f64 {
        let (mut low, mut high) = (-1.0, 1.0);
        while cdf(high) < p && high < crate::workload::MAX_SPAN_S {
            high *= 2.0;
        }
        while high - low > 1.0 {
            let middle = ((low + high) / 2.0_f64).floor();
            if cdf(middle) < p { low = middle } else { high = middle }
        }
        high
    }

    fn per_job(&self, of: impl Fn(u32) -> f64) -> f64 {
        let sum: f64 = self.spec.gpus.iter().map(|gpus| gpus.share).sum();
        self.spec.gpus.iter().map(|gpus| gpus.share / sum * of(gpus.count)).sum()
    }
}

/// Bursts per second in each hour of the week, with all waits so many times as long.
///
/// As if an hour's rate lasted: a burst, the silence after it and a wait on the operational clock take
/// `burst + burst_gap_s + wait / rate` seconds.
fn burst_rates(arrivals: &ArrivalSpec, wait_scale: f64) -> Vec<f64> {
    let wait_s = arrivals.wait_s.mean() * wait_scale * (1.0 - regular_share(arrivals));
    let fixed_s = fixed_s(arrivals);
    arrivals.profile().rates().iter().map(|rate| 1.0 / (fixed_s + wait_s / rate)).collect()
}

fn regular_share(arrivals: &ArrivalSpec) -> f64 {
    arrivals.regular.as_ref().map_or(0.0, |regular| regular.share)
}

/// What of the mean time from burst to burst is the same at any hour. Rounding up a wait adds half a second.
fn fixed_s(arrivals: &ArrivalSpec) -> f64 {
    let gaps = arrivals.burst_jobs.whole_mean() - 1.0;
    let silence_s = (1.0 - regular_share(arrivals)) * (arrivals.burst_gap_s + 0.5);
    let regular_s =
        arrivals.regular.as_ref().map_or(0.0, |regular| regular.share * regular.gap_s.whole_mean());
    gaps * arrivals.gap_s.whole_mean() + silence_s + regular_s
}

/// The factor on waits with which jobs arrive `rate` times as fast.
pub(super) fn wait_scale(source: &str, arrivals: &ArrivalSpec, rate: f64) -> Result<f64> {
    if rate == 1.0 {
        return Ok(1.0);
    }
    let mean = |wait_scale| {
        let rates = burst_rates(arrivals, wait_scale);
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    let own = mean(1.0);
    let most = 1.0 / fixed_s(arrivals) / own;
    // Beyond, waits would be all but gone.
    if rate > 0.9 * most {
        return Err(input_error!(
            "{source}: jobs cannot arrive {rate} times as fast, because waits between bursts are all that can be made \
             shorter; choose a rate of up to {}",
            (90.0 * most).floor() / 100.0
        ));
    }
    let (mut low, mut high) = (0.0, 1.0);
    while mean(high) > rate * own {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if mean(middle) > rate * own { low = middle } else { high = middle }
    }
    let late = rounded_up_s(arrivals, high) * rate * own;
    if late > MOST_LATE {
        return Err(input_error!(
            "{source}: jobs would arrive up to {:.0} % slower than {rate} times as fast, because submissions are whole \
             seconds and waits between bursts no longer; choose a lower rate",
            100.0 * late / (1.0 + late)
        ));
    }
    Ok(high)
}

/// Most by which rounding may lengthen a trace, as estimated from above.
const MOST_LATE: f64 = 0.1;

/// What rounding up to whole seconds adds to a burst's wait on average.
fn rounded_up_s(arrivals: &ArrivalSpec, wait_scale: f64) -> f64 {
    const STEPS: u32 = 4096;
    let added = |step: u32| {
        let wait_s = arrivals.wait_s.quantile((f64::from(step) + 0.5) / f64::from(STEPS)) * wait_scale;
        wait_s.ceil() - wait_s
    };
    (1.0 - regular_share(arrivals)) * (0..STEPS).map(added).sum::<f64>() / f64::from(STEPS)
}

/// The greatest distance between the shares of ascending whole numbers and a CDF: the statistic of Kolmogorov and
/// Smirnov.
pub fn ks_distance(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let share = |count: usize| count as f64 / sorted.len() as f64;
    let (mut distance, mut below) = (0.0_f64, 0);
    for equal in sorted.chunk_by(|a, b| a == b) {
        // Up to the number before, and with this one.
        distance = distance.max((cdf(equal[0] - 1.0) - share(below)).abs());
        below += equal.len();
        distance = distance.max((cdf(equal[0]) - share(below)).abs());
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, published: f64, tolerance: f64) {
        assert!((found / published - 1.0).abs() < tolerance, "found {found}, published {published}");
    }

    /// What the AEGIS artifact's manifests say of all completed jobs with 1 or 2 GPUs: zero gaps, median and p95 of gaps,
    /// jobs, shares of durations, and GPU-seconds in all and of jobs with 1 GPU.
    #[test]
    fn helios_specs_have_the_published_statistics() {
        let venus =
            [(266.0, 0.5), (600.0, 0.61504), (3600.0, 0.82252), (21_600.0, 0.91889), (86_400.0, 0.97576)];
        let saturn =
            [(180.0, 0.5), (600.0, 0.68308), (3600.0, 0.88079), (21_600.0, 0.98026), (86_400.0, 0.99524)];
        for (name, zero, gaps_s, jobs, durations, p95_s, gpu_s, gpu_s_1) in [
            ("venus", 0.164107, [89.0, 1610.75], 39_846.0, venus, 37_081.5, 402_983_927.0, 0.74803),
            ("saturn", 0.279146, [5.0, 211.0], 289_626.0, saturn, 8712.0, 919_321_519.0, 0.736058),
        ] {
            let spec = Spec::open(name).unwrap();
            let statistics = Statistics::of(&spec, 1.0).unwrap();
            near(statistics.gap_cdf(0.0), zero, 1e-3);
            for (p, gap_s) in [0.5, 0.95].into_iter().zip(gaps_s) {
                near(statistics.gap_cdf(gap_s), p, 5e-3);
            }
            // From 1 April to 28 September 2020.
            near(statistics.mean_gap_s(), 181.0 * 86_400.0 / jobs, 0.01);
            for (duration_s, share) in durations {
                near(statistics.duration_cdf(duration_s), share, 1e-3);
            }
            near(Statistics::quantile(|s| statistics.duration_cdf(s), 0.95), p95_s, 0.01);
            near(statistics.mean_gpu_s(), gpu_s / jobs, 0.01);
            let one = spec.gpus[0].share * spec.durations.of(1).whole_mean();
            near(one / statistics.mean_gpu_s(), gpu_s_1, 0.01);
        }
    }

    #[test]
    fn borrowed_specs_differ_in_nothing_but_the_rate() {
        for (name, lender, rate) in [("earth", "venus", 873.0 / 247.0), ("uranus", "saturn", 490.0 / 1753.0)]
        {
            let (spec, lender) = (Spec::open(name).unwrap(), Spec::open(lender).unwrap());
            near(spec.arrivals.rate, rate, 1e-3);
            let gap_s = |spec: &Spec| Statistics::of(spec, 1.0).unwrap().mean_gap_s();
            near(gap_s(&lender) / gap_s(&spec), rate, 2e-3);
            let mut own = lender.clone();
            (own.arrivals.rate, own.name, own.source) =
                (spec.arrivals.rate, spec.name.clone(), spec.source.clone());
            assert_eq!(own, spec);
        }
    }

    #[test]
    fn a_rate_is_reached_by_waits_alone() {
        let spec = Spec::open("philly").unwrap();
        let mean_gap_s = |rate| Statistics::of(&spec, rate).unwrap().mean_gap_s();
        near(mean_gap_s(1.5), mean_gap_s(1.0) / 1.5, 1e-6);
        near(mean_gap_s(0.25), mean_gap_s(1.0) * 4.0, 1e-6);
        let message = Statistics::of(&spec, 100.0).err().unwrap().to_string();
        assert!(message.starts_with("models/traces/philly.toml: jobs cannot arrive 100 times"), "{message}");
    }

    #[test]
    fn distances_are_those_of_whole_numbers() {
        // Half of the values at 1 and half at 3, against a die.
        let die = |x: f64| (x / 6.0).clamp(0.0, 1.0);
        let distance = ks_distance(&[1.0, 1.0, 3.0, 3.0], die);
        assert!((distance - 0.5).abs() < 1e-12, "{distance}");
        // Up to 5 no value, and five sixths of the die.
        assert!((ks_distance(&[6.0], die) - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(Statistics::quantile(die, 0.5), 3.0);
        assert_eq!(Statistics::quantile(|_| 1.0, 0.5), 0.0);
    }
}
