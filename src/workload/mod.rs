//! What runs: the workload catalogue, the trace file format and the jobs of a run.

mod catalogue;
mod job;
mod profile;
mod table;
mod trace;
mod writer;

pub use catalogue::{BUILTIN_CATALOGUE, Catalogue, MemoryEstimates, Workload};
pub use job::{Job, resolve};
pub use profile::{Activity, GpuProfile, Metric};
pub(crate) use table::{Row, Table, never_closes, parse_integer, parse_number, records};
pub use trace::{BUILTIN_TRACES, Trace, TraceJob};
pub(crate) use trace::{GANGS, OPTIONAL, REQUIRED, RawTrace, TIMES_S, parse_share};
pub(crate) use writer::{Cells, OpenRow, RowRenderer};
pub use writer::{OptionalColumns, TraceWriter};

/// Longest time or duration accepted in input: about 3,000 years, far from overflow in microseconds.
pub const MAX_SPAN_S: f64 = 1e11;
/// Largest memory figure accepted in input.
pub const MAX_MEMORY_MIB: f64 = 1e9;
