/// The distribution over time of one activity metric of a workload running alone, as fractions 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Activity {
    pub mean: f64,
    pub median: f64,
    pub p95: f64,
    pub max: f64,
}

/// An activity metric, in the order of a sample's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Metric {
    /// Fraction of time that at least one warp is resident on a streaming multiprocessor.
    Smact = 0,
    /// Resident warps as a fraction of the maximum.
    Smocc = 1,
    /// Fraction of cycles that the device memory interface is active.
    Drama = 2,
    /// GPU utilisation as nvidia-smi reports it.
    GpuUtil = 3,
}

impl Metric {
    pub const COUNT: usize = 4;
    pub const ALL: [Metric; Metric::COUNT] = [Metric::Smact, Metric::Smocc, Metric::Drama, Metric::GpuUtil];

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Smact => "SMACT",
            Metric::Smocc => "SMOCC",
            Metric::Drama => "DRAMA",
            Metric::GpuUtil => "GPU utilisation",
        }
    }

    /// What the columns of a catalogue start with.
    pub fn column(self) -> &'static str {
        match self {
            Metric::Smact => "smact",
            Metric::Smocc => "smocc",
            Metric::Drama => "drama",
            Metric::GpuUtil => "gpu_util",
        }
    }
}

impl Activity {
    /// With no statistic above `mean` and `most`, for the mean and for all others.
    fn capped(self, mean: f64, most: f64) -> Activity {
        let Activity { median, p95, max, .. } = self;
        Activity {
            mean: self.mean.min(mean),
            median: median.min(most),
            p95: p95.min(most),
            max: max.min(most),
        }
    }

    /// What the counters would have shown, had they worked all of the time instead of a share of it and read
    /// zero otherwise.
    ///
    /// The zeros are the lowest samples: the mean grows in proportion, and the median of the samples that
    /// count lies above the measured one; p95 stands for it.
    fn with_sound_counters(self, share: f64) -> Activity {
        if share == 1.0 {
            return self;
        }
        Activity { mean: (self.mean / share).min(self.max), median: self.p95, ..self }
    }
}

/// What a workload does to one GPU.
///
/// SMACT, SMOCC and DRAMA are `None` where only nvidia-smi was at hand: that is not the same as 0.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuProfile {
    pub peak_memory_mib: f64,
    /// Memory from first GPU activity until `memory_growth_s`; the peak where the profile has no growth.
    pub initial_memory_mib: f64,
    /// Seconds from first GPU activity to the peak; 0 where memory is at its peak at once.
    pub memory_growth_s: f64,
    /// Fraction of time that at least one warp is resident on a streaming multiprocessor.
    pub smact: Option<Activity>,
    /// Resident warps as a fraction of the maximum.
    pub smocc: Option<Activity>,
    /// Fraction of cycles that the device memory interface is active.
    pub drama: Option<Activity>,
    /// GPU utilisation as nvidia-smi reports it.
    pub gpu_util: Activity,
    /// Share of the profile's samples in which the SMACT and SMOCC counters worked.
    pub counter_share: f64,
    /// Seconds at the end of a run, alone, in which it no longer trains but validates.
    pub closing_s: f64,
    /// The same as a share of the profile's samples.
    pub closing_share: f64,
}

impl GpuProfile {
    /// The profile's mean activity over that before the closing phase, in which activity is this fraction of it.
    pub fn mean_over_training(&self, closing_activity: f64) -> f64 {
        let mean = 1.0 - self.closing_share * (1.0 - closing_activity);
        // Nothing but a closing phase without activity says nothing of what comes before one.
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// What sound telemetry shows of the workload, in the order of [`Metric`]; nothing for metrics that
    /// are not known.
    pub fn telemetry(&self) -> [Activity; Metric::COUNT] {
        let sound = |activity: Activity| activity.with_sound_counters(self.counter_share);
        [self.smact.map(sound), self.smocc.map(sound), self.drama, Some(self.gpu_util)]
            .map(Option::unwrap_or_default)
    }

    /// The profile of a job that is kept within a share of the GPU, and within so much of its memory.
    ///
    /// No metric exceeds the share; nor does its mean while the job trains, which is above that of the whole run where
    /// a closing phase of `closing_activity` follows.
    pub fn within(&self, share: f64, memory_mib: f64, closing_activity: f64) -> GpuProfile {
        let mean = share * self.mean_over_training(closing_activity);
        let capped = |activity: Activity| activity.capped(mean, share);
        GpuProfile {
            peak_memory_mib: self.peak_memory_mib.min(memory_mib),
            initial_memory_mib: self.initial_memory_mib.min(memory_mib),
            smact: self.smact.map(capped),
            smocc: self.smocc.map(capped),
            drama: self.drama.map(capped),
            gpu_util: capped(self.gpu_util),
            ..self.clone()
        }
    }

    pub fn knows(&self, metric: Metric) -> bool {
        match metric {
            Metric::Smact => self.smact.is_some(),
            Metric::Smocc => self.smocc.is_some(),
            Metric::Drama => self.drama.is_some(),
            Metric::GpuUtil => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::Catalogue;

    #[test]
    fn a_profile_without_training_says_nothing_of_it() {
        let mut profile = Catalogue::builtin().workloads()[0].profile(0).clone();
        profile.closing_share = 0.25;
        assert_eq!(profile.mean_over_training(0.2), 0.8);
        profile.closing_share = 1.0;
        assert_eq!([0.5, 0.0].map(|activity| profile.mean_over_training(activity)), [0.5, 1.0]);
    }

    #[test]
    fn a_share_caps_memory_and_activity_and_nothing_else() {
        let catalogue = Catalogue::builtin();
        for workload in catalogue.workloads() {
            let whole = workload.profile(0);
            let within = whole.within(0.25, 10_000.0, 0.2);
            assert_eq!(within.peak_memory_mib, whole.peak_memory_mib.min(10_000.0));
            assert!(within.initial_memory_mib <= within.peak_memory_mib);
            for (limited, whole) in within.telemetry().iter().zip(whole.telemetry()) {
                assert_eq!(limited.max, whole.max.min(0.25));
                assert!(limited.mean / whole_training(&within) <= 0.25 + 1e-12, "{limited:?}");
                assert!(limited.median <= limited.p95 && limited.p95 <= limited.max);
            }
            assert_eq!(
                (within.memory_growth_s, within.closing_s, within.counter_share),
                (whole.memory_growth_s, whole.closing_s, whole.counter_share)
            );
            assert_eq!(whole.within(1.0, 1e9, 1.0), *whole, "the whole GPU is no limit");
        }
    }

    fn whole_training(profile: &crate::workload::GpuProfile) -> f64 {
        profile.mean_over_training(0.2)
    }
}
