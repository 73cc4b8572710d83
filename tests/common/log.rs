use aegis_sim::engine::Time;
use aegis_sim::sim::{Event, EventKind, Observer};

/// An event, owned.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub time: Time,
    pub job: Option<usize>,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Submit { server: Option<usize> },
    Reject { gpu: usize, kind: &'static str },
    Dispatch { gpus: Vec<usize>, collocated: bool },
    FirstActivity,
    MemoryGrowth,
    Rate(f64),
    AllocationFailed,
    Complete,
    OutOfMemory,
    Recover,
    GiveUp(&'static str),
    Gpu { gpu: usize, jobs: usize, used_mib: f64, activity: [f64; 4] },
}

/// Writes down all events.
#[derive(Debug, Default)]
pub struct Log {
    pub entries: Vec<Entry>,
}

impl Log {
    pub fn of_job(&self, job: usize) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.job == Some(job))
    }
}

impl Observer for Log {
    fn event(&mut self, event: &Event<'_>) {
        let what = match event.kind {
            EventKind::Submit { server } => What::Submit { server },
            EventKind::Reject { gpu, reason } => What::Reject { gpu, kind: reason.kind() },
            EventKind::Dispatch { gpus, collocated, .. } => {
                What::Dispatch { gpus: gpus.to_vec(), collocated }
            }
            EventKind::FirstActivity { .. } => What::FirstActivity,
            EventKind::MemoryGrowth { .. } => What::MemoryGrowth,
            EventKind::Rate { rate } => What::Rate(rate),
            EventKind::AllocationFailed { .. } => What::AllocationFailed,
            EventKind::Complete => What::Complete,
            EventKind::OutOfMemory { .. } => What::OutOfMemory,
            EventKind::Recover { .. } => What::Recover,
            EventKind::GiveUp { reason } => What::GiveUp(reason),
            EventKind::Gpu { gpu, jobs, used_mib, activity } => What::Gpu { gpu, jobs, used_mib, activity },
        };
        self.entries.push(Entry { time: event.time, job: event.job, what });
    }
}
