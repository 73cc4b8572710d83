use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardUniform};

use super::spec::ArrivalSpec;
use super::statistics::wait_scale;
use super::{Purpose, rng};
use crate::error::Result;

pub(super) const HOURS: usize = 24;
pub(super) const DAYS: usize = 7;
pub(super) const HOUR_S: f64 = 3600.0;

/// How busy the hours of a week are, and the clock that runs faster in busy ones.
///
/// Over a week that operational clock passes as much time as the wall's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Profile {
    /// By hour of the week from Monday 00:00; their mean is 1.
    rates: Vec<f64>,
    /// Operational time of the start of each hour, and of the end of the last.
    clock_s: Vec<f64>,
}

impl Profile {
    pub fn new(hourly: &[f64], weekday: &[f64]) -> Profile {
        let rates: Vec<f64> =
            weekday.iter().flat_map(|day| hourly.iter().map(move |hour| day * hour)).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let rates: Vec<f64> = rates.iter().map(|rate| rate / mean).collect();
        let mut clock_s = vec![0.0];
        for rate in &rates {
            clock_s.push(clock_s[clock_s.len() - 1] + rate * HOUR_S);
        }
        Profile { rates, clock_s }
    }

    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    fn week_s(&self) -> f64 {
        self.rates.len() as f64 * HOUR_S
    }

    /// Operational time at a time on the wall's clock.
    pub fn operational_s(&self, wall_s: f64) -> f64 {
        let weeks = (wall_s / self.week_s()).floor();
        let in_week_s = wall_s - weeks * self.week_s();
        let hour = ((in_week_s / HOUR_S) as usize).min(self.rates.len() - 1);
        let start_s = hour as f64 * HOUR_S;
        weeks * self.clock_s[self.rates.len()] + self.clock_s[hour] + (in_week_s - start_s) * self.rates[hour]
    }

    /// The inverse of [`Profile::operational_s`].
    pub fn wall_s(&self, operational_s: f64) -> f64 {
        let week = self.clock_s[self.rates.len()];
        let weeks = (operational_s / week).floor();
        let in_week_s = operational_s - weeks * week;
        let hour = self.clock_s.partition_point(|&start| start <= in_week_s).clamp(1, self.rates.len()) - 1;
        let past_s = (in_week_s - self.clock_s[hour]) / self.rates[hour];
        weeks * self.week_s() + hour as f64 * HOUR_S + past_s
    }
}

/// Submission times in whole seconds, without end.
pub(super) struct Arrivals<'a> {
    spec: &'a ArrivalSpec,
    profile: Profile,
    rng: ChaCha8Rng,
    /// On every wait, for the rate that was asked for.
    wait_scale: f64,
    /// Time of the first submission, since Monday 00:00.
    start_s: f64,
    now_s: f64,
    /// Jobs of this burst that are still to come; `None` before the first burst.
    remaining: Option<f64>,
}

impl<'a> Arrivals<'a> {
    pub fn new(
        source: &str,
        spec: &'a ArrivalSpec,
        seed: u64,
        start_hour: f64,
        rate: f64,
    ) -> Result<Arrivals<'a>> {
        let start_s = start_hour * HOUR_S;
        Ok(Arrivals {
            spec,
            profile: spec.profile(),
            rng: rng(seed, Purpose::Arrivals),
            wait_scale: wait_scale(source, spec, rate)?,
            start_s,
            now_s: start_s,
            remaining: None,
        })
    }

    fn uniform(&mut self) -> f64 {
        StandardUniform.sample(&mut self.rng)
    }

    /// Seconds from the first submission to the next one, the first of which is 0.
    pub fn next_s(&mut self) -> f64 {
        match self.remaining {
            Some(remaining) if remaining >= 1.0 => {
                self.remaining = Some(remaining - 1.0);
                let p = self.uniform();
                self.now_s += self.spec.gap_s.whole(p);
            }
            before => {
                if before.is_some() {
                    self.wait();
                }
                let p = self.uniform();
                self.remaining = Some(self.spec.burst_jobs.whole(p) - 1.0);
            }
        }
        self.now_s - self.start_s
    }

    /// Goes on to the next burst.
    fn wait(&mut self) {
        let (kind, p) = (self.uniform(), self.uniform());
        if let Some(regular) = self.spec.regular.as_ref().filter(|regular| kind < regular.share) {
            self.now_s += regular.gap_s.whole(p);
            return;
        }
        let wait_s = self.spec.wait_s.quantile(p) * self.wait_scale;
        let quiet_s = self.now_s + self.spec.burst_gap_s;
        let next_s = self.profile.wall_s(self.profile.operational_s(quiet_s) + wait_s);
        // What the way to the other clock and back loses must not be rounded up.
        self.now_s = quiet_s + (next_s - quiet_s - 1e-6).max(0.0).ceil();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operational_clock_runs_faster_in_busy_hours() {
        let mut hourly = [1.0; HOURS];
        hourly[8] = 3.0;
        let profile = Profile::new(&hourly, &[1.0; DAYS]);
        let mean = 26.0 / 24.0;
        let hour = |hour: f64| profile.operational_s(hour * HOUR_S) / HOUR_S;
        assert!((hour(8.0) - 8.0 / mean).abs() < 1e-9);
        assert!((hour(8.5) - hour(8.0) - 1.5 / mean).abs() < 1e-9);
        assert!((hour(168.0) - 168.0).abs() < 1e-9);
        assert!((hour(168.0 * 5.0 + 8.5) - 168.0 * 5.0 - hour(8.5)).abs() < 1e-9);
        for wall_s in [0.0, 1.0, 28_800.0, 30_000.5, 604_799.0, 604_800.0, 1e8 + 0.25] {
            let back_s = profile.wall_s(profile.operational_s(wall_s));
            assert!((back_s - wall_s).abs() < 1e-6, "{wall_s} {back_s}");
        }
    }

    #[test]
    fn weekdays_multiply_hours() {
        let mut weekday = [1.0; DAYS];
        weekday[6] = 8.0;
        let profile = Profile::new(&[1.0; HOURS], &weekday);
        assert_eq!((profile.rates()[0], profile.rates()[167]), (0.5, 4.0));
    }
}
