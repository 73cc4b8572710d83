use serde::Deserialize;

/// How much slower all jobs of a GPU run when together they ask for more of it than it has.
///
/// Pressures say how long a job waits for its neighbours' kernels one by one. The time that kernels keep
/// the streaming multiprocessors busy is limited on top of that: the load, the sum over the jobs of SMACT
/// alone times contended rate, is what they would ask for.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// Load up to which a GPU slows nobody down any further.
    pub capacity: f64,
    /// How the slowdown grows with load over capacity: 1 where kernels of different jobs only take turns, less
    /// where some fit beside each other, 0 for no slowdown.
    pub exponent: f64,
}

impl Saturation {
    /// At least 1.
    pub fn slowdown(&self, load: f64) -> f64 {
        let excess = load / self.capacity;
        if excess > 1.0 { libm::pow(excess, self.exponent) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_at_the_capacity() {
        let saturation = Saturation { capacity: 0.5, exponent: 0.5 };
        assert_eq!([0.0, 0.3, 0.5, 2.0].map(|load| saturation.slowdown(load)), [1.0, 1.0, 1.0, 2.0]);
        assert_eq!(Saturation { exponent: 0.0, ..saturation }.slowdown(9.0), 1.0);
    }
}
