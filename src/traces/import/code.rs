//! Why rows are dropped, and what is said of jobs that are kept.

/// Why a row became no job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    Malformed,
    NoId,
    BadDate,
    BadNumber,
    NoSubmit,
    NoAttempt,
    NoStart,
    NoEnd,
    NotFinal,
    ZeroGpus,
    TooManyGpus,
    EndBeforeStart,
    NegativeDuration,
    ZeroDuration,
    UnknownWorkload,
    DuplicateId,
    OtherState,
    OtherDate,
    OtherVc,
    OtherUser,
    OtherGpus,
    BeyondHead,
    NotSampled,
}

impl Reason {
    pub fn code(self) -> &'static str {
        match self {
            Reason::Malformed => "malformed",
            Reason::NoId => "no_id",
            Reason::BadDate => "bad_date",
            Reason::BadNumber => "bad_number",
            Reason::NoSubmit => "no_submit",
            Reason::NoAttempt => "no_attempt",
            Reason::NoStart => "no_start",
            Reason::NoEnd => "no_end",
            Reason::NotFinal => "not_final",
            Reason::ZeroGpus => "zero_gpus",
            Reason::TooManyGpus => "too_many_gpus",
            Reason::EndBeforeStart => "end_before_start",
            Reason::NegativeDuration => "negative_duration",
            Reason::ZeroDuration => "zero_duration",
            Reason::UnknownWorkload => "unknown_workload",
            Reason::DuplicateId => "duplicate_id",
            Reason::OtherState => "other_state",
            Reason::OtherDate => "other_date",
            Reason::OtherVc => "other_vc",
            Reason::OtherUser => "other_user",
            Reason::OtherGpus => "other_gpus",
            Reason::BeyondHead => "beyond_head",
            Reason::NotSampled => "not_sampled",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Reason::Malformed => "not of the shape of a record",
            Reason::NoId => "no job id, or one longer than 256 bytes",
            Reason::BadDate => {
                "a time that cannot be read: expected one like 2020-06-09 18:41:01, or as --date-format says"
            }
            Reason::BadNumber => "a number that cannot be read, or is out of its range",
            Reason::NoSubmit => "no submission time",
            Reason::NoAttempt => "never started",
            Reason::NoStart => "no start time",
            Reason::NoEnd => "no end time and no duration",
            Reason::NotFinal => "had not ended, by its state",
            Reason::ZeroGpus => "asks for no GPU",
            Reason::TooManyGpus => "asks for more than 65,535 GPUs",
            Reason::EndBeforeStart => "ends before it starts",
            Reason::NegativeDuration => "a negative duration",
            Reason::ZeroDuration => "lasts 0 s",
            Reason::UnknownWorkload => "a workload that the catalogue lacks",
            Reason::DuplicateId => "the id of a job that was kept already",
            Reason::OtherState => "left out by --states",
            Reason::OtherDate => "left out by --from or --to",
            Reason::OtherVc => "left out by --vc",
            Reason::OtherUser => "left out by --user",
            Reason::OtherGpus => "left out by --min-gpus or --max-gpus",
            Reason::BeyondHead => "left out by --head",
            Reason::NotSampled => "left out by --sample",
        }
    }

    /// Whether the row was left out because an option asked for it.
    pub fn is_asked_for(self) -> bool {
        self >= Reason::OtherState
    }
}

/// What is unusual about jobs that were kept, or was decided for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Notice {
    Skipped,
    Twice,
    DurationDisagrees,
    StartBeforeSubmit,
    GpusChange,
    OpenAttempt,
    GpuShare,
    RoundedUp,
    NotUtf8,
    LongName,
    OutOfOrder,
    NotForStates,
    LargerThanServer,
    LargerThanCluster,
}

impl Notice {
    pub fn code(self) -> &'static str {
        match self {
            Notice::Skipped => "dst_gap",
            Notice::Twice => "dst_fold",
            Notice::DurationDisagrees => "duration_disagrees",
            Notice::StartBeforeSubmit => "start_before_submit",
            Notice::GpusChange => "gpus_change",
            Notice::OpenAttempt => "open_attempt",
            Notice::GpuShare => "gpu_share",
            Notice::RoundedUp => "rounded_up",
            Notice::NotUtf8 => "not_utf8",
            Notice::LongName => "long_name",
            Notice::OutOfOrder => "out_of_order",
            Notice::NotForStates => "no_state",
            Notice::LargerThanServer => "larger_than_server",
            Notice::LargerThanCluster => "larger_than_cluster",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Notice::Skipped => {
                "local times that daylight saving skips: read as if the clock had not been changed yet"
            }
            Notice::Twice => {
                "local times that come twice when daylight saving ends: the earlier, unless a job would end before it starts"
            }
            Notice::DurationDisagrees => {
                "durations that differ by more than 1 s from end less start: the duration was taken"
            }
            Notice::StartBeforeSubmit => "jobs that start before their submission: the submission was taken",
            Notice::GpusChange => {
                "jobs whose attempts differ in GPUs: those of the last one that counts were taken"
            }
            Notice::OpenAttempt => {
                "jobs with attempts that lack a start or an end: those attempts were passed over"
            }
            Notice::GpuShare => "jobs with shares of GPUs: in the column gpu_share",
            Notice::RoundedUp => "jobs with shares of GPUs: rounded up to whole ones",
            Notice::NotUtf8 => "names that are not UTF-8: what is not was replaced by U+FFFD",
            Notice::LongName => "users, VCs or states longer than 256 bytes: left out",
            Notice::OutOfOrder => "jobs that stand behind one submitted later: sorted by submission",
            Notice::NotForStates => "jobs without a state, which --states keeps",
            Notice::LargerThanServer => {
                "jobs that need more GPUs than the largest server has: a run gives them up"
            }
            Notice::LargerThanCluster => {
                "jobs that need more GPUs than the whole cluster has: a run gives them up"
            }
        }
    }
}
