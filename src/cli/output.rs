use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use crate::error::{Error, Result, input_error};
use crate::policy::{MemorySource, Params, PolicyKind, PolicySpec};
use crate::report::atomic::Draft;
use crate::sim::{Oversized, RunRecord, World};
use crate::workload::Trace;

/// Prints to standard output. A reader that has gone away (`| head`) is no error.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Write { path: "standard output".into(), source: error })
        }
        _ => Ok(()),
    }
}

/// Has `write` write to a file, which appears whole or not at all, or to standard output for `-`. `None` where the reader of
/// standard output has gone away (`| head`), which is no error.
pub(super) fn write_to<T>(out: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<Option<T>> {
    if !is_stdout(out) {
        let mut draft = Draft::new(out)?;
        let written = write(&mut draft)?;
        draft.finish()?;
        return Ok(Some(written));
    }
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    let written = write(&mut stdout).and_then(|written| {
        stdout.flush().map(|()| written).map_err(|error| Error::write(place(out), error))
    });
    match written {
        Err(Error::Write { source, .. }) if source.kind() == ErrorKind::BrokenPipe => Ok(None),
        written => written.map(Some),
    }
}

pub(super) fn is_stdout(out: &Path) -> bool {
    out == Path::new("-")
}

/// What messages call a place that [`write_to`] writes to.
pub(super) fn place(out: &Path) -> &Path {
    if is_stdout(out) { Path::new("standard output") } else { out }
}

/// Says something beside the results.
pub(super) fn note(text: &str) {
    // Nobody to tell is no reason to stop.
    let _ = writeln!(std::io::stderr(), "note: {text}");
}

pub(super) fn complain(error: &Error) {
    let _ = writeln!(std::io::stderr(), "error: {error}");
}

/// Opens a trace and passes on its notes.
pub(super) fn open_trace(name: &str) -> Result<Trace> {
    let trace = Trace::open(name)?;
    trace.notes.iter().for_each(|text| note(text));
    Ok(trace)
}

/// Opens several traces, no two of one name and none named like what stands in place of a trace for means.
pub(super) fn open_traces(names: &[String], means: &[&str]) -> Result<Vec<Trace>> {
    let mut traces: Vec<Trace> = Vec::with_capacity(names.len());
    for name in names {
        let trace = open_trace(name)?;
        if traces.iter().any(|other| other.name == trace.name) {
            return Err(input_error!(
                "two traces are named {:?}; traces go by their file's name, so rename one",
                trace.name
            ));
        }
        if means.contains(&trace.name.as_str()) {
            return Err(input_error!(
                "a trace named {:?} would look like the means; rename its file",
                trace.name
            ));
        }
        traces.push(trace);
    }
    Ok(traces)
}

/// Says so where a policy goes by memory estimates and no job has one: it is exclusive allocation then.
pub(super) fn note_missing_estimates(world: &World, policy: &PolicySpec, params: &Params) {
    let source = match (policy.kind, params.memory_source) {
        (PolicyKind::Horus, _) if params.horus_needs_estimate => MemorySource::Horus,
        (PolicyKind::Aegis, source) => source,
        _ => return,
    };
    let estimate = |job: usize| {
        let estimates = world.workload(job).estimates;
        match source {
            MemorySource::Horus => estimates.horus_mib,
            MemorySource::FakeTensor => estimates.faketensor_mib,
            MemorySource::GpuMemNet => estimates.gpumemnet_mib,
            MemorySource::Free | MemorySource::Peak => Some(0.0),
        }
    };
    if (0..world.jobs.len()).all(|job| estimate(job).is_none()) {
        note(&format!(
            "{policy} shares GPUs by memory estimates, and no workload of {} has one: fill in the catalogue's \
             estimate columns",
            world.trace_name
        ));
    }
}

/// Says so where jobs need more GPUs at once than any server has.
pub(super) fn note_oversized(world: &World) {
    let Some(Oversized { jobs, first, largest_gpus, largest_server_gpus }) = world.oversized() else {
        return;
    };
    note(&format!(
        "{}: {jobs} of {} jobs need more GPUs than the largest server has ({largest_server_gpus}; up to {largest_gpus} \
         needed; first: job {first}) and a job never spans servers: given up as they are submitted",
        world.trace_name,
        world.jobs.len()
    ));
}

/// Of jobs that a run gives up one by one, as many are named.
const NAMED: usize = 10;

/// Names the jobs that a run gave up after it had tried them; of many, the first.
pub(super) fn note_given_up(record: &RunRecord) {
    let mut given_up =
        record.jobs.iter().filter(|job| job.attempts > 0).filter_map(|job| Some((job, job.given_up?)));
    for (job, reason) in given_up.by_ref().take(NAMED) {
        note(&format!("job {} ({}) was given up: {reason}", job.id, job.workload));
    }
    let more = given_up.count();
    if more > 0 {
        note(&format!("{more} more jobs were given up; the reason of each stands in jobs.csv of --out"));
    }
}

/// Makes the output directory, with its parents, unless it is there.
pub(super) fn make_dir(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| Error::write(dir, e))
}

/// Does something that calls back after each of `runs` runs, with a bar on standard error while it lasts, if that is a
/// terminal.
pub(super) fn with_progress<T>(runs: u64, work: impl FnOnce(&(dyn Fn() + Sync)) -> T) -> T {
    let bar = ProgressBar::new(runs);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs, {eta} left") {
        bar.set_style(style);
    }
    let done = work(&|| bar.inc(1));
    bar.finish_and_clear();
    done
}
