//! What runs leave behind: tables, files, event logs and figures.

pub mod atomic;
mod events;
mod files;
pub mod plot;
mod row;

pub use events::{EventLog, Tee};
pub use files::{attempt_rows, job_rows, summary_json, summary_row};
pub(crate) use row::row;
pub use row::{Format, Row, SCHEMA_VERSION, render, rows_to_csv, rows_to_table};
