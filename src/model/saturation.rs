use serde::Deserialize;

/// How much slower all jobs of a GPU run when together they ask for more of it than there is.
///
/// Pressures say how long a job waits for its neighbours one by one. Beside that, the time for which kernels can keep
/// the streaming multiprocessors busy is limited. The load of a GPU is what its jobs would ask for, the sum of SMACT
/// alone times the rate that the pressures leave.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// Load up to which jobs only wait for each other one by one.
    pub capacity: f64,
    /// How the slowdown grows with load over capacity: 1 where kernels of different jobs take turns, less where some
    /// fit beside each other, 0 for no slowdown.
    pub exponent: f64,
}

impl Saturation {
    /// Of jobs with these loads: at least 1. A job by itself is never slowed: its load is its profile.
    pub fn slowdown(&self, loads: impl IntoIterator<Item = f64>) -> f64 {
        let (jobs, load) = loads.into_iter().fold((0, 0.0), |(jobs, sum), load| (jobs + 1, sum + load));
        let excess = load / self.capacity;
        if jobs > 1 && excess > 1.0 { libm::pow(excess, self.exponent) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_at_the_capacity_and_with_the_second_job() {
        let saturation = Saturation { capacity: 0.5, exponent: 0.5 };
        assert_eq!(saturation.slowdown([0.25, 0.25]), 1.0);
        assert_eq!(saturation.slowdown([1.0, 0.5, 0.5]), 2.0);
        assert_eq!((saturation.slowdown([]), saturation.slowdown([0.9])), (1.0, 1.0));
        assert_eq!(Saturation { exponent: 0.0, ..saturation }.slowdown([9.0, 9.0]), 1.0);
    }
}
