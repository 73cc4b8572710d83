use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::atomic::Draft;
use super::row::SCHEMA_VERSION;
use crate::error::{Error, Result};
use crate::sim::{Event, EventKind, Observer, World};
use crate::workload::Metric;

/// Writes an event log: one JSON object per line, each with `time_s` and `kind`.
///
/// The file appears with [`EventLog::finish`]; a run that does not get there leaves none.
pub struct EventLog<'w> {
    world: &'w World,
    draft: Draft,
    path: PathBuf,
    failed: Option<std::io::Error>,
    /// Metrics that all workloads of the trace have.
    known: [bool; Metric::COUNT],
}

impl<'w> EventLog<'w> {
    /// Starts a log with a line of kind `run` that says what runs.
    pub fn create(path: &Path, world: &'w World, policy: &str, seed: u64) -> Result<EventLog<'w>> {
        let draft = Draft::new(path)?;
        let known = Metric::ALL.map(|metric| world.knows(metric));
        let mut log = EventLog { world, draft, path: path.to_owned(), failed: None, known };
        let start_s = world.jobs.first().map_or(0.0, |job| job.submit.as_s());
        log.line(&json!({
            "time_s": start_s, "kind": "run", "trace": world.trace_name, "policy": policy, "seed": seed,
            "schema_version": SCHEMA_VERSION,
        }));
        Ok(log)
    }

    fn line(&mut self, line: &Value) {
        if self.failed.is_none() {
            self.failed = writeln!(self.draft, "{line}").err();
        }
    }

    /// # Errors
    /// The first error of any line, or that of putting the file in its place.
    pub fn finish(self) -> Result<()> {
        match self.failed {
            Some(error) => Err(Error::write(&self.path, error)),
            None => self.draft.finish(),
        }
    }
}

impl Observer for EventLog<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let mut line = serde_json::Map::new();
        let mut put = |key: &str, value: Value| {
            line.insert(key.to_owned(), value);
        };
        put("time_s", event.time.as_s().into());
        let (kind, details) = describe(&event.kind, &self.known);
        put("kind", kind.into());
        if let Some(job) = event.job {
            put("job_id", self.world.jobs[job].id.as_str().into());
        }
        if let Value::Object(details) = details {
            line.extend(details);
        }
        self.line(&Value::Object(line));
    }
}

fn describe(kind: &EventKind<'_>, known: &[bool; Metric::COUNT]) -> (&'static str, Value) {
    match *kind {
        EventKind::Submit { server } => ("submit", json!({ "server": server })),
        EventKind::Reject { gpu, reason } => {
            ("reject", json!({ "gpus": [gpu], "reason": reason.kind(), "detail": reason.to_string() }))
        }
        EventKind::Dispatch { gpus, attempt, collocated } => {
            ("dispatch", json!({ "gpus": gpus, "attempt": attempt, "collocated": collocated }))
        }
        EventKind::FirstActivity { gpus } => ("first_activity", json!({ "gpus": gpus })),
        EventKind::MemoryGrowth { gpus } => ("memory_growth", json!({ "gpus": gpus })),
        EventKind::Rate { rate } => ("rate", json!({ "rate": rate })),
        EventKind::AllocationFailed { gpu, needed_mib, free_mib } => {
            ("allocation_failed", json!({ "gpus": [gpu], "needed_mib": needed_mib, "free_mib": free_mib }))
        }
        EventKind::Complete => ("complete", Value::Null),
        EventKind::OutOfMemory { gpus } => ("oom", json!({ "gpus": gpus })),
        EventKind::Recover { floor_mib } => ("recover", json!({ "floor_mib": floor_mib })),
        EventKind::GiveUp { reason } => ("give_up", json!({ "reason": reason })),
        EventKind::Gpu { gpu, jobs, used_mib, activity } => {
            let level = |metric: Metric| known[metric as usize].then_some(activity[metric as usize]);
            let details = json!({
                "gpus": [gpu], "jobs": jobs, "used_mib": used_mib + 0.0, "smact": level(Metric::Smact),
                "smocc": level(Metric::Smocc), "drama": level(Metric::Drama), "gpu_util": level(Metric::GpuUtil),
            });
            ("gpu", details)
        }
    }
}

/// Shows every event to two observers.
pub struct Tee<'a>(pub &'a mut dyn Observer, pub &'a mut dyn Observer);

impl Observer for Tee<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
}
