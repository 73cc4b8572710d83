use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::{Error, Result};
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

/// Makes the output directory, with its parents, unless it is there.
pub(super) fn make_dir(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| Error::write(dir, e))
}
