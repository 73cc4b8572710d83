/// The quantile of ascending values by linear interpolation between order statistics; NaN without values.
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (position - below as f64) * (high - low)
}

/// NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of positive values; NaN without values.
pub fn geometric_mean(values: &[f64]) -> f64 {
    libm::exp(values.iter().map(|&value| libm::log(value)).sum::<f64>() / values.len() as f64)
}

/// Spearman's rank correlation of two series of equal length; ties have the mean of their ranks. NaN where
/// a series is constant or empty.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let (mut covariance, mut variance_a, mut variance_b) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(&b) {
        covariance += (a - mean_a) * (b - mean_b);
        variance_a += (a - mean_a) * (a - mean_a);
        variance_b += (b - mean_b) * (b - mean_b);
    }
    covariance / (variance_a * variance_b).sqrt()
}

/// Ranks from 1; ties share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    for tied in order.chunk_by(|&i, &j| values[i] == values[j]) {
        for &index in tied {
            ranks[index] = below as f64 + (tied.len() + 1) as f64 / 2.0;
        }
        below += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3.5, 3.5: covariance 3.75, variances 4.5 and 4.5.
        let got = rank_correlation(&[0.0, 5.0, 5.0, 9.0], &[1.0, 2.0, 7.0, 7.0]);
        assert!((got - 3.75 / 4.5).abs() < 1e-12, "{got}");
    }

    #[test]
    fn only_the_order_counts() {
        let values = [4.0, -1.0, 2.5, 100.0, 3.0];
        let grown = values.map(|value: f64| value.powi(3));
        assert!((rank_correlation(&values, &grown) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&values, &grown.map(|value| -value)) + 1.0).abs() < 1e-12);
        assert!(rank_correlation(&values, &[1.0; 5]).is_nan());
    }
}
