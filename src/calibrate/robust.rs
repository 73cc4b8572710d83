//! Robust nonlinear least squares: Gauss-Newton with Huber weights and a ridge.

/// Residuals beyond this count with their size, not their square.
const HUBER: f64 = 0.05;
const HALVINGS: usize = 12;

/// The derivatives of one observation by the few parameters that it depends on. Derivatives of
/// 0 fill up.
pub type Gradient = [(usize, f64); 3];

/// Minimises the Huber loss of `model - target` over `rows`, plus `ridge / 2` times the sum of squared
/// parameters. The number of iterations is fixed, so that results are the same everywhere.
pub fn fit(
    start: Vec<f64>,
    ridge: f64,
    iterations: usize,
    rows: &[usize],
    target: &[f64],
    model: &impl Fn(&[f64], usize) -> (f64, Gradient),
) -> Vec<f64> {
    let n = start.len();
    let objective = |x: &[f64]| {
        let losses = rows.iter().map(|&k| huber(model(x, k).0 - target[k])).sum::<f64>();
        losses + 0.5 * ridge * x.iter().map(|v| v * v).sum::<f64>()
    };
    let mut x = start;
    let mut best = objective(&x);
    for _ in 0..iterations {
        // The tiny diagonal keeps the system solvable where a parameter has no effect.
        let mut normal = vec![0.0; n * n];
        let mut slope: Vec<f64> = x.iter().map(|v| ridge * v).collect();
        (0..n).for_each(|i| normal[i * n + i] = ridge + 1e-9);
        for &k in rows {
            let (value, gradient) = model(&x, k);
            let residual = value - target[k];
            let weight = if residual.abs() <= HUBER { 1.0 } else { HUBER / residual.abs() };
            let present = || gradient.into_iter().filter(|&(_, derivative)| derivative != 0.0);
            for (i, di) in present() {
                slope[i] += weight * residual * di;
                for (j, dj) in present() {
                    normal[i * n + j] += weight * di * dj;
                }
            }
        }
        let step = solve(&mut normal, slope);
        let mut scale = 1.0;
        for _ in 0..HALVINGS {
            let next: Vec<f64> = x.iter().zip(&step).map(|(v, s)| v - scale * s).collect();
            let value = objective(&next);
            if value <= best {
                (x, best) = (next, value);
                break;
            }
            scale *= 0.5;
        }
    }
    x
}

fn huber(residual: f64) -> f64 {
    let size = residual.abs();
    if size <= HUBER { 0.5 * size * size } else { HUBER * (size - 0.5 * HUBER) }
}

/// Solves a symmetric positive definite system by Cholesky decomposition; `a` is overwritten.
fn solve(a: &mut [f64], mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let (above, below) = a.split_at_mut(i * n);
        let row = &mut below[..n];
        for j in 0..i {
            let other = &above[j * n..j * n + j + 1];
            row[j] = (row[j] - dot(&row[..j], other)) / other[j];
        }
        row[i] = (row[i] - dot(&row[..i], &row[..i])).max(1e-300).sqrt();
        b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
    }
    for i in (0..n).rev() {
        b[i] /= a[i * n + i];
        let value = b[i];
        for (target, factor) in b[..i].iter_mut().zip(&a[i * n..]) {
            *target -= factor * value;
        }
    }
    b
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (x, y) in a.iter().zip(b) {
        sum += x * y;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved() {
        let mut a = vec![4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let solution = solve(&mut a, vec![4.0 + 4.0 + 1.8, 2.0 + 10.0 + 3.0, 0.6 + 2.0 + 9.0]);
        for (got, want) in solution.into_iter().zip([1.0, 2.0, 3.0]) {
            assert!((got - want).abs() < 1e-12, "{got}");
        }
    }

    /// A line with one wild observation, and a parameter without effect that the ridge leaves at zero.
    #[test]
    fn outliers_hardly_count() {
        let target: Vec<f64> = (0..40).map(|k| if k == 7 { 9.0 } else { 0.3 + 0.02 * k as f64 }).collect();
        let rows: Vec<usize> = (0..40).collect();
        let line = |x: &[f64], k: usize| (x[0] + x[1] * k as f64, [(0, 1.0), (1, k as f64), (2, 0.0)]);
        let x = fit(vec![0.0, 0.0, 0.0], 0.0, 60, &rows, &target, &line);
        assert!((x[0] - 0.3).abs() < 0.01 && (x[1] - 0.02).abs() < 0.001 && x[2] == 0.0, "{x:?}");
    }
}
