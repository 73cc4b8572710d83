//! What the fuzz targets do with their bytes.

use std::path::Path;
use std::sync::OnceLock;

use aegis_sim::traces::import::{ImportOptions, LogFormat, Origin, Source, import};
use aegis_sim::workload::{OptionalColumns, Trace, TraceJob, TraceWriter};

/// Imports a log. What comes out is a trace that the simulator reads, with as many jobs as were kept, in the same order,
/// and the account adds up.
pub fn import_log(format: LogFormat, bytes: &[u8]) {
    // A target has one format.
    static OPTIONS: OnceLock<[ImportOptions; 2]> = OnceLock::new();
    let options = OPTIONS.get_or_init(|| {
        [Origin::First, Origin::Source].map(|origin| {
            let mut options = ImportOptions::new(format).expect("the zones of formats exist");
            options.origin = origin;
            if format == LogFormat::Csv {
                options.map = MAP.map(str::to_owned).into();
            }
            options
        })
    });
    let sources = [Source::Bytes { name: "log".to_owned(), bytes: bytes.into() }];
    for options in options {
        let mut out = Vec::new();
        let Ok(account) = import(options, &sources, &mut out, Path::new("out"), &|_| {}) else { continue };
        assert_eq!(account.rows_read(), account.kept() + account.dropped_rows());
        let trace = Trace::parse("out", "out.csv", &out).expect("what an import writes can be read");
        assert_eq!(trace.jobs.len() as u64, account.kept());
        assert!(trace.jobs.is_sorted_by(|a, b| a.submit_s <= b.submit_s && a.line < b.line));
    }
}

/// Columns of the repository's example of any table; times of either kind.
const MAP: [&str; 6] =
    ["job_id=Job", "submit_s=Submitted", "gpus=GPUs", "duration_s=Minutes:min", "vc=Group", "state=Result"];

/// Reads a trace. What can be read can be written and is the same when it is read again.
pub fn read_native(bytes: &[u8]) {
    let Ok(trace) = Trace::parse("in", "in.csv", bytes) else { return };
    let mut writer =
        TraceWriter::new(Vec::new(), &[], OptionalColumns::of(&trace.jobs)).expect("memory takes it");
    for job in &trace.jobs {
        writer.write(job).expect("memory takes it");
    }
    let again = Trace::parse("out", "out.csv", &writer.finish().expect("memory takes it"))
        .expect("what was written can be read");
    let unplaced = |jobs: Vec<TraceJob>| -> Vec<TraceJob> {
        jobs.into_iter().map(|job| TraceJob { line: 0, ..job }).collect()
    };
    assert_eq!(unplaced(again.jobs), unplaced(trace.jobs));
}
