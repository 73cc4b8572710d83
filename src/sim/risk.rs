//! The risk that a scheduler makes of a window of samples.

/// A value and how many samples in a row have it.
pub(super) type Run = (f64, usize);

/// Mean of the samples' mean, median, p95 and EWMA (unadjusted, alpha = 2 / (count + 1)); 0 without samples. Sorts the
/// runs, which come in the order of time.
pub(super) fn risk(count: usize, runs: &mut [Run]) -> f64 {
    let Some(&(first, times)) = runs.first() else { return 0.0 };
    let alpha = 2.0 / (count as f64 + 1.0);
    // The EWMA stays at the first value until there is another.
    let (mut sum, mut ewma) = (0.0, first);
    for _ in 0..times {
        sum += first;
    }
    for &(value, times) in &runs[1..] {
        for _ in 0..times {
            sum += value;
            ewma += alpha * (value - ewma);
        }
    }
    runs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mean = sum / count as f64;
    let [median, p95] = [0.5, 0.95].map(|q| quantile_of_runs(runs, count, q));
    (mean + median + p95 + ewma) / 4.0
}

/// [`quantile_of_sorted`](crate::metrics::quantile_of_sorted) of `count` values given as ascending runs.
fn quantile_of_runs(runs: &[Run], count: usize, q: f64) -> f64 {
    let position = q * (count - 1) as f64;
    let below = position.floor() as usize;
    let at = |index: usize| {
        let mut passed = 0;
        let run = runs.iter().find(|(_, times)| {
            passed += times;
            passed > index
        });
        run.map_or(0.0, |(value, _)| *value)
    };
    let (low, high) = (at(below), at((below + 1).min(count - 1)));
    low + (position - below as f64) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risk_is_the_mean_of_four_statistics() {
        let got = risk(3, &mut [(0.0, 1), (0.5, 1), (1.0, 1)]);
        // EWMA with alpha 0.5: 0, 0.25, 0.625.
        assert!((got - (0.5 + 0.5 + 0.95 + 0.625) / 4.0).abs() < 1e-12, "{got}");
        assert_eq!(risk(30, &mut [(0.25, 30)]), 0.25);
        assert_eq!(risk(0, &mut []), 0.0);
    }

    #[test]
    fn quantiles_of_runs_are_those_of_all_values() {
        let runs = [(0.0, 3), (0.25, 1), (0.25, 4), (0.5, 1), (1.0, 2)];
        for last in 1..=runs.len() {
            let values: Vec<f64> =
                runs[..last].iter().flat_map(|&(value, times)| vec![value; times]).collect();
            for q in [0.0, 0.3, 0.5, 0.95, 1.0] {
                let expected = crate::metrics::quantile_of_sorted(&values, q);
                assert_eq!(quantile_of_runs(&runs[..last], values.len(), q), expected, "{q} of {values:?}");
            }
        }
    }
}
