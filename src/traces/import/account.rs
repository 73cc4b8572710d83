//! What became of every row of an import.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::code::{Notice, Reason};
use crate::report::{Format, Row, SCHEMA_VERSION, row, rows_to_table};

/// Where something stands, and what it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub file: usize,
    pub line: u64,
    /// Such as `column end_time: found "yesterday"`.
    pub detail: Option<String>,
}

/// How often, and where first.
#[derive(Debug, Clone, Default)]
struct Tally {
    count: u64,
    first: Vec<Place>,
}

/// Places that are kept of each reason and notice.
const FIRST: usize = 5;

impl Tally {
    fn add(&mut self, place: Place) {
        self.count += 1;
        // What comes in another order than the files' replaces later places.
        let at = self.first.partition_point(|before| *before <= place);
        if at < FIRST {
            self.first.insert(at, place);
            self.first.truncate(FIRST);
        }
    }
}

/// A file of an import.
#[derive(Debug, Clone, Default)]
struct FileCount {
    name: String,
    lines: u64,
    /// Rows or records; attempts under `--attempts each`.
    rows: u64,
    header_lines: u64,
    /// Comments, blank lines, and what rows that go over several lines have beyond their first.
    other_lines: Option<u64>,
}

impl FileCount {
    fn words(&self) -> String {
        let Some(other) = self.other_lines else {
            return format!("{}: {} lines, {} records", self.name, self.lines, self.rows);
        };
        let header =
            if self.header_lines > 0 { format!("{} header + ", self.header_lines) } else { String::new() };
        let other = if other > 0 { format!(" + {other} comment, blank or continued") } else { String::new() };
        format!("{}: {} lines = {header}{} rows{other}", self.name, self.lines, self.rows)
    }
}

/// What an import read, kept and dropped: `rows_read` is the sum of `kept` and all that was dropped.
#[derive(Debug, Clone, Default)]
pub struct Account {
    format: String,
    files: Vec<FileCount>,
    kept: u64,
    dropped: BTreeMap<Reason, Tally>,
    notices: BTreeMap<Notice, Tally>,
    span_us: Option<(i64, i64)>,
    pub(super) lacks_workloads: bool,
    pub(super) decisions: Vec<String>,
}

impl Account {
    pub(super) fn new(format: &str) -> Account {
        Account { format: format.to_owned(), ..Account::default() }
    }

    pub(super) fn begin_file(&mut self, name: &str) {
        self.files.push(FileCount { name: name.to_owned(), ..FileCount::default() });
    }

    /// Lines of the file that was begun last; `header_lines` only where rows are lines.
    pub(super) fn end_file(&mut self, lines: u64, header_lines: Option<u64>) {
        if let Some(file) = self.files.last_mut() {
            file.lines = lines;
            file.header_lines = header_lines.unwrap_or(0);
            file.other_lines = header_lines.map(|header| lines.saturating_sub(header + file.rows));
        }
    }

    /// A row of the file that was begun last.
    pub(super) fn count_row(&mut self) {
        if let Some(file) = self.files.last_mut() {
            file.rows += 1;
        }
    }

    pub(super) fn place(&self, line: u64, detail: Option<String>) -> Place {
        Place { file: self.files.len().saturating_sub(1), line, detail }
    }

    pub(super) fn drop_row(&mut self, reason: Reason, place: Place) {
        self.dropped.entry(reason).or_default().add(place);
    }

    pub(super) fn notice(&mut self, notice: Notice, place: Place) {
        self.notices.entry(notice).or_default().add(place);
    }

    /// A job that is kept, in the order of submission.
    pub(super) fn keep(&mut self, submit_us: i64) {
        self.kept += 1;
        let first_us = self.span_us.map_or(submit_us, |(first_us, _)| first_us);
        self.span_us = Some((first_us, submit_us));
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    /// Rows or records; attempts under `--attempts each`.
    pub fn rows_read(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// All that was dropped.
    pub fn dropped_rows(&self) -> u64 {
        self.dropped_if(|_| true)
    }

    /// Rows that were dropped for some of the reasons.
    pub(super) fn dropped_if(&self, which: impl Fn(Reason) -> bool) -> u64 {
        self.dropped.iter().filter(|(reason, _)| which(**reason)).map(|(_, tally)| tally.count).sum()
    }

    /// How many, why and where first.
    pub(super) fn dropped_words(&self, which: impl Fn(Reason) -> bool) -> String {
        let dropped = self.dropped.iter().filter(|(reason, _)| which(**reason));
        let words = dropped.map(|(reason, tally)| {
            let first = tally.first.first().map_or(String::new(), |place| self.show(place, true));
            format!("{} {} (first: {first})", tally.count, reason.words())
        });
        words.collect::<Vec<_>>().join("; ")
    }

    /// Whether jobs that were kept, before duplicates and samples, have no workload.
    pub fn lacks_workloads(&self) -> bool {
        self.lacks_workloads
    }

    pub(super) fn show(&self, place: &Place, with_file: bool) -> String {
        let detail = place.detail.as_ref().map_or(String::new(), |detail| format!(", {detail}"));
        match self.files.get(place.file) {
            Some(file) if with_file => format!("{}, line {}{detail}", file.name, place.line),
            _ => format!("line {}{detail}", place.line),
        }
    }

    /// For people: a line per file, then the account.
    pub fn to_table(&self, format: Format) -> String {
        let many = self.files.len() > 1;
        let mut text = String::new();
        for file in &self.files {
            text.push_str(&file.words());
            text.push('\n');
        }
        for decision in &self.decisions {
            text.push_str(&format!("rule: {decision}\n"));
        }
        let line = |what: &str, count: u64, code: &str, words: &str, tally: Option<&Tally>| {
            let places = tally.map_or(String::new(), |tally| {
                let mut places: Vec<String> =
                    tally.first.iter().map(|place| self.show(place, many)).collect();
                if tally.count > tally.first.len() as u64 {
                    places.push("...".to_owned());
                }
                places.join("; ")
            });
            row([
                ("what", what.into()),
                ("rows", count.into()),
                ("code", code.into()),
                ("why", words.into()),
                ("first", places.into()),
            ])
        };
        let mut rows: Vec<Row> = vec![line("read", self.rows_read(), "", "", None)];
        rows.push(line("kept", self.kept, "", "", None));
        rows.extend(
            self.dropped.iter().map(|(reason, tally)| {
                line("dropped", tally.count, reason.code(), reason.words(), Some(tally))
            }),
        );
        rows.extend(
            self.notices
                .iter()
                .map(|(notice, tally)| line("note", tally.count, notice.code(), notice.words(), Some(tally))),
        );
        let columns =
            [("what", ""), ("rows", "rows"), ("code", "code"), ("why", "what it is"), ("first", "first")];
        text.push_str(&rows_to_table(format, &rows, &columns));
        text
    }

    pub fn to_json(&self) -> String {
        let places = |tally: &Tally| -> Vec<Value> {
            let places = tally.first.iter();
            places
                .map(|place| {
                    let file = self.files.get(place.file).map(|file| file.name.as_str());
                    json!({"file": file, "line": place.line, "detail": place.detail})
                })
                .collect()
        };
        let entry = |code: &str, words: &str, tally: &Tally| json!({"code": code, "count": tally.count, "what": words, "first": places(tally)});
        let dropped = self.dropped.iter().map(|(reason, tally)| {
            let mut entry = entry(reason.code(), reason.words(), tally);
            entry["asked_for"] = reason.is_asked_for().into();
            entry
        });
        let notices = self.notices.iter().map(|(notice, tally)| entry(notice.code(), notice.words(), tally));
        let files = self.files.iter().map(|file| {
            json!({
                "file": file.name,
                "lines": file.lines,
                "header_lines": file.header_lines,
                "rows": file.rows,
                "other_lines": file.other_lines,
            })
        });
        let value = json!({
            "schema_version": SCHEMA_VERSION,
            "aegis_sim_version": env!("CARGO_PKG_VERSION"),
            "format": self.format,
            "decisions": self.decisions,
            "files": files.collect::<Vec<_>>(),
            "rows_read": self.rows_read(),
            "kept": self.kept,
            "dropped_rows": self.dropped_rows(),
            "submission_span_s": self.span_us.map(|(first, last)| (last - first) as f64 / 1e6),
            "dropped": dropped.collect::<Vec<_>>(),
            "notices": notices.collect::<Vec<_>>(),
        });
        format!("{value:#}\n")
    }
}
