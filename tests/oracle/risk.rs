//! Risks, by the book.

/// Mean of the mean, the median, the 95th percentile (linear interpolation) and the exponentially weighted
/// moving average (alpha = 2 / (n + 1)) of the samples.
pub fn risk(samples: &[f64]) -> f64 {
    if samples.is_empty() {
        return 0.0;
    }
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let alpha = 2.0 / (n + 1.0);
    let mut average = samples[0];
    for sample in samples {
        average = alpha * sample + (1.0 - alpha) * average;
    }
    (mean + percentile(samples, 50.0) + percentile(samples, 95.0) + average) / 4.0
}

fn percentile(samples: &[f64], percent: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let place = percent / 100.0 * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[test]
fn by_hand() {
    // Mean and median 1.5; p95 between 2 and 3; the average goes 3, 1.8, 1.48, 1.688.
    let expected = (1.5 + 1.5 + 2.85 + 1.688) / 4.0;
    assert!((risk(&[3.0, 0.0, 1.0, 2.0]) - expected).abs() < 1e-12);
}
