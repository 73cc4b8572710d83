use serde::Deserialize;

/// How jobs slow each other down outside the GPUs: they share the host's cores, memory and disks, which
/// load their data and launch their kernels.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// GPUs of the host that was measured. One with more is taken to be larger in proportion.
    pub gpus: u32,
    /// Training jobs that it feeds without a delay.
    pub free_jobs: f64,
    /// Slowdown of every job on it per training job beyond those.
    pub slowdown_per_job: f64,
}

impl Host {
    /// How much slower all jobs of a server run when so many of them train: at least 1.
    pub fn slowdown(&self, jobs: usize, gpus: usize) -> f64 {
        let size = (gpus as f64 / f64::from(self.gpus)).max(1.0);
        1.0 + self.slowdown_per_job * (jobs as f64 / size - self.free_jobs).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_beyond_the_free_jobs_and_grows_with_the_server() {
        let host = Host { gpus: 2, free_jobs: 3.0, slowdown_per_job: 0.25 };
        assert_eq!([0, 1, 3, 4, 7].map(|jobs| host.slowdown(jobs, 2)), [1.0, 1.0, 1.0, 1.25, 2.0]);
        assert_eq!(host.slowdown(5, 1), host.slowdown(5, 2));
        assert_eq!(host.slowdown(14, 4), host.slowdown(7, 2));
    }
}
