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
