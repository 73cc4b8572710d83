use crate::engine::Time;
use crate::model::SAMPLED_METRICS;
use crate::policy::Rejection;

/// Something that happened in a run.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    pub time: Time,
    /// The job it happened to; `None` for events of a GPU.
    pub job: Option<usize>,
    pub kind: EventKind<'a>,
}

/// What happened. GPUs are numbered through all servers.
#[derive(Debug, Clone, Copy)]
pub enum EventKind<'a> {
    /// `None` where no server can hold the job.
    Submit {
        server: Option<usize>,
    },
    /// The job at the head of the queue was not placed on this GPU. Repeated only when the kind of reason
    /// changes.
    Reject {
        gpu: usize,
        reason: Rejection,
    },
    Dispatch {
        gpus: &'a [usize],
        attempt: usize,
        collocated: bool,
    },
    FirstActivity {
        gpus: &'a [usize],
    },
    MemoryGrowth {
        gpus: &'a [usize],
    },
    /// The job's progress rate changed, relative to running alone.
    Rate {
        rate: f64,
    },
    /// An allocation did not fit; the process ends a little later.
    AllocationFailed {
        gpu: usize,
        needed_mib: f64,
        free_mib: f64,
    },
    Complete,
    OutOfMemory {
        gpus: &'a [usize],
    },
    /// Into the recovery queue; `None` if only an idle GPU is safe enough.
    Recover {
        floor_mib: Option<f64>,
    },
    GiveUp {
        reason: &'static str,
    },
    /// The state of a GPU after a change.
    Gpu {
        gpu: usize,
        jobs: usize,
        used_mib: f64,
        activity: [f64; SAMPLED_METRICS],
    },
}

/// Watches a run.
pub trait Observer {
    fn event(&mut self, event: &Event<'_>);

    /// Whether anybody watches; spares the work of describing events otherwise.
    fn watches(&self) -> bool {
        true
    }
}

/// Nobody watches.
pub struct NoObserver;

impl Observer for NoObserver {
    fn event(&mut self, _: &Event<'_>) {}

    fn watches(&self) -> bool {
        false
    }
}
