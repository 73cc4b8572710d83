use serde::Deserialize;

/// How jobs slow each other down outside the GPUs: they share the host's cores, memory and disks, which
/// load their data and launch their kernels.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Training jobs that a server's host feeds without a delay.
    pub free_jobs: u32,
    /// Slowdown of every job on the server per training job beyond those.
    pub slowdown_per_job: f64,
}

impl Host {
    /// How much slower all jobs of a server run when so many of them train: at least 1.
    pub fn slowdown(&self, jobs: usize) -> f64 {
        1.0 + self.slowdown_per_job * jobs.saturating_sub(self.free_jobs as usize) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_beyond_the_free_jobs() {
        let host = Host { free_jobs: 5, slowdown_per_job: 0.125 };
        assert_eq!([0, 1, 5, 6, 9].map(|jobs| host.slowdown(jobs)), [1.0, 1.0, 1.0, 1.125, 1.5]);
    }
}
