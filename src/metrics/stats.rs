/// The quantile of ascending values by linear interpolation between order statistics; NaN without values.
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    quantile_by(sorted.len(), q, |index| sorted[index])
}

/// The same, of `len` ascending values that are looked up.
pub(crate) fn quantile_by(len: usize, q: f64, value: impl Fn(usize) -> f64) -> f64 {
    let Some(last) = len.checked_sub(1) else { return f64::NAN };
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let (low, high) = (value(below), value((below + 1).min(last)));
    low + (position - below as f64) * (high - low)
}

/// The values, ascending.
pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of positive values; NaN without values.
pub fn geometric_mean(values: &[f64]) -> f64 {
    libm::exp(values.iter().map(|&value| libm::log(value)).sum::<f64>() / values.len() as f64)
}

/// Spearman's rank correlation of values that stand in pairs, ties at the mean of their ranks; NaN for fewer than two
/// pairs, and where all values of a side are equal.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(&b).map(|(a, b)| term(a - mean_a, b - mean_b)).sum()
    };
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

/// Ranks from 1, equal values at the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = below as f64 + (tied.len() + 1) as f64 / 2.0;
        tied.iter().for_each(|&index| ranks[index] = rank);
        below += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlations_are_those_of_the_textbook() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(rank_correlation(&[1.0, 2.0, 4.0], &[10.0, 20.0, 21.0]), 1.0);
        assert_eq!(rank_correlation(&[1.0, 2.0, 4.0], &[3.0, 2.0, 1.0]), -1.0);
        // Without ties: 1 - 6 sum d^2 / (n (n^2 - 1)), with d = 0, 1, -1, 0.
        let some = rank_correlation(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]);
        assert!((some - 0.8).abs() < 1e-12, "{some}");
        // Ranks 1.5, 1.5, 3 and 1, 2, 3: 1.5 / sqrt(1.5 * 2).
        let tied = rank_correlation(&[5.0, 5.0, 6.0], &[1.0, 2.0, 3.0]);
        assert!((tied - 0.75f64.sqrt()).abs() < 1e-12, "{tied}");
        assert!(
            rank_correlation(&[1.0], &[1.0]).is_nan() && rank_correlation(&[1.0, 1.0], &[1.0, 2.0]).is_nan()
        );
    }
}
