//! Bursts, waits and the week's profile out of submission times.

use super::arrivals::{DAYS, HOUR_S, HOURS, Profile};
use super::fit_quantiles::{fit_quantiles, round};
use super::quantiles::Quantiles;
use super::spec::{ArrivalSpec, Regular};
use crate::error::{Result, input_error};
use crate::metrics::sorted;

/// Waits between bursts without which there is nothing to fit.
const LEAST_WAITS: usize = 20;
/// Bursts per hour of the day or day of the week without which their rates would be chance.
const LEAST_BURSTS: usize = 20;
/// Waits are regular that differ from the commonest one by up to this part of it, if they are this share of all waits
/// beyond what chance puts there, going by surroundings so many times as wide.
const REGULAR_WIDTH: f64 = 0.005;
const REGULAR_SHARE: f64 = 0.02;
const REGULAR_SURROUNDINGS: f64 = 5.0;
const DAY_S: f64 = HOURS as f64 * HOUR_S;
/// Days that a trace must last for its daily and for its weekly cycle to be seen.
const LEAST_DAYS: (f64, f64) = (3.0, 21.0);
/// Rounds in which hours and weekdays are fitted in turn; they settle within a few.
const ROUNDS: usize = 20;

/// From ascending whole seconds since a Monday's 00:00. Notes say what the times are too few for.
///
/// # Errors
/// Jobs that come all at once, or in so few bursts that there is nothing to fit.
pub(super) fn fit_arrivals(source: &str, times_s: &[f64], notes: &mut Vec<String>) -> Result<ArrivalSpec> {
    let span_s = times_s[times_s.len() - 1] - times_s[0];
    // Jobs that come in so much less than the mean gap are taken to have to do with each other.
    let burst_gap_s = (span_s / (times_s.len() - 1) as f64 / 4.0).floor();
    let bursts: Vec<&[f64]> = times_s.chunk_by(|a, b| b - a <= burst_gap_s).collect();
    let between = bursts.windows(2).map(|pair| (pair[0][pair[0].len() - 1], pair[1][0]));
    let between_s = sorted(between.clone().map(|(from_s, to_s)| to_s - from_s));
    let regular_s = regular_gaps(&between_s);
    let is_regular = |gap_s: f64| {
        regular_s.first().is_some_and(|&least| least <= gap_s) && gap_s <= regular_s[regular_s.len() - 1]
    };
    // From the end of the silence after each burst to the next one.
    let waits: Vec<(f64, f64)> = between
        .filter(|(from_s, to_s)| !is_regular(to_s - from_s))
        .map(|(from_s, to_s)| (from_s + burst_gap_s, to_s))
        .collect();
    if waits.len() < LEAST_WAITS {
        return Err(input_error!(
            "{source}: its {} jobs come in {} bursts within {span_s} s, which is too few to fit; expected at least {}",
            times_s.len(),
            bursts.len(),
            LEAST_WAITS + 1
        ));
    }
    let (hourly, weekday) = fit_profile(&waits, span_s, notes);
    let profile = Profile::new(&hourly, &weekday);
    let wait = |&(from_s, to_s): &(f64, f64)| {
        round(profile.operational_s(to_s) - profile.operational_s(from_s), 10.0).max(0.1)
    };
    let gaps = bursts.iter().flat_map(|burst| burst.windows(2).map(|pair| pair[1] - pair[0]));
    let gaps = sorted(gaps);
    Ok(ArrivalSpec {
        rate: 1.0,
        burst_gap_s,
        burst_jobs: fit_quantiles(&sorted(bursts.iter().map(|burst| burst.len() as f64)), true),
        gap_s: if gaps.is_empty() { Quantiles::constant(0.0) } else { fit_quantiles(&gaps, true) },
        wait_s: fit_quantiles(&sorted(waits.iter().map(wait)), false),
        regular: (!regular_s.is_empty()).then(|| Regular {
            share: round(regular_s.len() as f64 / between_s.len() as f64, 1e6),
            gap_s: fit_quantiles(regular_s, true),
        }),
        hourly,
        weekday,
    })
}

/// Those of ascending whole gaps that are next to the commonest one, if they are so many that a clock must be behind them.
fn regular_gaps(gaps_s: &[f64]) -> &[f64] {
    let commonest = gaps_s.chunk_by(|a, b| a == b).max_by_key(|equal| equal.len());
    let Some(at_s) = commonest.map(|equal| equal[0]) else { return &[] };
    let near_s = (at_s * REGULAR_WIDTH).round().max(1.0);
    let within = |width_s: f64| {
        let from = gaps_s.partition_point(|&gap_s| gap_s < at_s - width_s);
        &gaps_s[from..gaps_s.partition_point(|&gap_s| gap_s <= at_s + width_s)]
    };
    let (near, around) = (within(near_s), within(REGULAR_SURROUNDINGS * near_s));
    // As many would be near as around if they were spread evenly.
    let per_second = (around.len() - near.len()) as f64 / (2.0 * (REGULAR_SURROUNDINGS - 1.0) * near_s);
    let by_chance = per_second * (2.0 * near_s + 1.0);
    let extra = near.len() as f64 - by_chance;
    let of_a_clock = extra > REGULAR_SHARE * gaps_s.len() as f64 && extra > by_chance;
    // If too few are left, the hour of the day would say nothing.
    let others = gaps_s.len() - near.len();
    if of_a_clock && others >= LEAST_WAITS.max(gaps_s.len() / 500) { near } else { &[] }
}

/// How often waits end by hour of the day and by weekday: ends over the time waited, each given the other.
fn fit_profile(waits: &[(f64, f64)], span_s: f64, notes: &mut Vec<String>) -> (Vec<f64>, Vec<f64>) {
    let days = span_s / DAY_S;
    let seen = |parts: usize, least_days: f64| days >= least_days && waits.len() >= parts * LEAST_BURSTS;
    let (daily, weekly) = (seen(HOURS, LEAST_DAYS.0), seen(DAYS, LEAST_DAYS.1));
    for (seen, cycle, least_days) in [(daily, "daily", LEAST_DAYS.0), (weekly, "weekly", LEAST_DAYS.1)] {
        if !seen {
            notes.push(format!(
                "no {cycle} cycle: {} bursts in {days:.1} days do not show one (at least {least_days} days are needed)",
                waits.len() + 1
            ));
        }
    }
    let (ends, waited_s) = by_hour_of_week(waits);
    let mean = waits.len() as f64 / waited_s.iter().sum::<f64>();
    let (mut hourly, mut weekday) = (vec![1.0; HOURS], vec![1.0; DAYS]);
    for _ in 0..ROUNDS {
        if daily {
            let of = |hour: usize| (0..DAYS).map(move |day| (day * HOURS + hour, day));
            hourly = (0..HOURS).map(|hour| rate(of(hour), &ends, &waited_s, &weekday, mean)).collect();
        }
        if weekly {
            let of = |day: usize| (0..HOURS).map(move |hour| (day * HOURS + hour, hour));
            weekday = (0..DAYS).map(|day| rate(of(day), &ends, &waited_s, &hourly, mean)).collect();
        }
    }
    (relative(hourly), relative(weekday))
}

/// Ends over the expected ones, of the hours of the week and their factors. One more of each, so that none is 0.
fn rate(
    hours: impl Iterator<Item = (usize, usize)>,
    ends: &[f64],
    waited_s: &[f64],
    factors: &[f64],
    mean: f64,
) -> f64 {
    let (found, expected) = hours.fold((1.0, 1.0), |(found, expected), (hour, factor)| {
        (found + ends[hour], expected + waited_s[hour] * mean * factors[factor])
    });
    found / expected
}

/// Over their mean.
fn relative(rates: Vec<f64>) -> Vec<f64> {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    rates.iter().map(|rate| round(rate / mean, 1e3).max(1e-3)).collect()
}

/// Waits that end in each hour of the week, and the seconds waited in it.
fn by_hour_of_week(waits: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let hours = HOURS * DAYS;
    let (mut ends, mut waited_s) = (vec![0.0; hours], vec![0.0; hours]);
    for &(from_s, to_s) in waits {
        let mut now_s = from_s;
        while now_s < to_s {
            let hour = (now_s / HOUR_S).floor();
            let until_s = to_s.min((hour + 1.0) * HOUR_S);
            waited_s[hour as usize % hours] += until_s - now_s;
            now_s = until_s;
        }
        ends[(to_s / HOUR_S) as usize % hours] += 1.0;
    }
    (ends, waited_s)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardUniform};

    use super::*;

    #[test]
    fn waits_are_counted_where_they_are_waited_and_where_they_end() {
        let (ends, waited_s) = by_hour_of_week(&[(1800.0, 9000.0), (604_000.0, 605_000.0)]);
        assert_eq!(waited_s[..4], [2000.0, 3600.0, 1800.0, 0.0]);
        assert_eq!((waited_s[167], waited_s.iter().sum::<f64>()), (800.0, 8200.0));
        assert_eq!((ends[0], ends[2], ends.iter().sum::<f64>()), (1.0, 1.0, 2.0));
    }

    /// Times whose gaps are uniform from 40 to 80 s in the first half of the day and three times as long in the second.
    fn daily(days: f64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut times = vec![0.0];
        while let Some(&last) = times.last().filter(|&&last| last < days * DAY_S) {
            let uniform: f64 = StandardUniform.sample(&mut rng);
            let gap_s = (40.0 + 40.0 * uniform) * if last % DAY_S < DAY_S / 2.0 { 1.0 } else { 3.0 };
            times.push((last + gap_s).floor());
        }
        times
    }

    #[test]
    fn a_daily_cycle_is_found() {
        let mut notes = Vec::new();
        let spec = fit_arrivals("t", &daily(28.0), &mut notes).unwrap();
        assert_eq!((notes, &spec.regular), (Vec::<String>::new(), &None));
        assert_eq!((spec.burst_gap_s, spec.burst_jobs.max()), (22.0, 1.0));
        // Waits after 22 s of silence: 38 s and 158 s.
        let ratio = spec.hourly[5] / spec.hourly[17];
        assert!((ratio / (158.0 / 38.0) - 1.0).abs() < 0.1, "{ratio}");
        assert!(spec.weekday.iter().all(|rate| (rate - 1.0).abs() < 0.05), "{:?}", spec.weekday);
    }

    #[test]
    fn a_clock_that_submits_jobs_is_told_from_the_cycle() {
        let mut times = daily(28.0);
        let end_s = times[times.len() - 1];
        // Then for a while every ten minutes, give or take a second.
        times.extend((1..=2000).map(|i| end_s + 600.0 * i as f64 + (i % 3) as f64));
        let spec = fit_arrivals("t", &times, &mut Vec::new()).unwrap();
        let regular = spec.regular.unwrap();
        assert!((regular.share - 2000.0 / (times.len() - 1) as f64).abs() < 1e-3, "{}", regular.share);
        assert!(regular.gap_s.points[0][1] >= 597.0 && regular.gap_s.max() <= 603.0);
        assert!(spec.wait_s.max() < 400.0, "{}", spec.wait_s.max());
    }

    #[test]
    fn what_is_too_short_has_no_cycle_and_too_few_bursts_are_refused() {
        let times: Vec<f64> = (0..200).map(|i| (i / 2 * 100) as f64).collect();
        let mut notes = Vec::new();
        let spec = fit_arrivals("t", &times, &mut notes).unwrap();
        assert!(
            notes.len() == 2 && notes[0].starts_with("no daily cycle: 100 bursts in 0.1 days"),
            "{notes:?}"
        );
        assert_eq!(spec.burst_jobs, Quantiles::constant(2.0));
        assert_eq!(spec.gap_s, Quantiles::constant(0.0));
        let message = fit_arrivals("t.csv", &times[..30], &mut notes).unwrap_err().to_string();
        assert!(message.starts_with("t.csv: its 30 jobs come in 15 bursts"), "{message}");
        assert!(fit_arrivals("t.csv", &[5.0; 300], &mut notes).is_err());
    }
}
