//! A trace line by line.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::code::Code;
use super::problem::Problems;
use crate::cluster::ClusterSpec;
use crate::error::{did_you_mean, nearest};
use crate::workload::{
    Catalogue, GANGS, OPTIONAL, REQUIRED, TIMES_S, never_closes, parse_integer, parse_number, parse_share,
    records,
};

/// How often lines are read again that a quote has swallowed: each time costs a pass over the rest of the file.
const RESUMED: usize = 8;
/// Unknown workloads that a message names.
const NAMED: usize = 3;

/// A line, as far as it can be used.
pub(super) struct Seen {
    pub line: u64,
    pub submit_s: f64,
    pub gpus: f64,
    /// By the trace, if it is not blank, or no number.
    pub duration_s: Option<f64>,
    pub blank_duration: bool,
    /// By the trace or its workload.
    pub runtime_s: Option<f64>,
}

/// All lines of a trace.
#[derive(Default)]
pub(super) struct Rows {
    pub jobs: u64,
    /// Those whose submission and GPUs are known, in the order of the file.
    pub seen: Vec<Seen>,
    pub submit_column: Option<usize>,
    pub duration_column: Option<usize>,
}

impl Rows {
    pub fn read(text: &str, catalogue: &Catalogue, cluster: &ClusterSpec, problems: &mut Problems) -> Rows {
        let mut reader = None;
        let (mut from, mut line_before) = (0, 0);
        for _ in 0..=RESUMED {
            let mut swallowed = None;
            let mut part = records(&text[from..]).flatten().peekable();
            while let Some((line, record)) = part.next() {
                let line = line_before + line;
                let start = from + record.position().map_or(0, |p| p.byte() as usize);
                if part.peek().is_none() && never_closes(&text[start..]) {
                    let message = || "a double quote opens here and never closes".to_owned();
                    problems.add(Code::UnclosedQuote, Some(line), None, message);
                    swallowed = Some(line);
                    break;
                }
                match &mut reader {
                    None => {
                        let header: Vec<String> = record.iter().map(str::to_owned).collect();
                        check_header(&header, line, text, problems);
                        reader = Some(RowReader::new(header, catalogue, cluster));
                    }
                    Some(reader) => reader.row(line, &record, problems),
                }
            }
            // Where a quote swallowed the header, nothing says what the rest is.
            let (Some(line), Some(_)) = (swallowed, &reader) else { break };
            let mut line_starts = text.match_indices('\n').map(|(end, _)| end + 1);
            let Some(next) = line_starts.nth(line as usize - 1) else { break };
            (from, line_before) = (next, line);
        }
        match reader {
            Some(reader) => reader.finish(problems),
            None => {
                if problems.get_mut(Code::UnclosedQuote).is_none() {
                    let message = || "the file has no line but comments and blank ones".to_owned();
                    problems.add(Code::EmptyFile, None, None, message);
                }
                Rows::default()
            }
        }
    }
}

fn check_header(header: &[String], line: u64, text: &str, problems: &mut Problems) {
    if header.len() == 1 && header[0].contains([';', '\t', '|']) {
        let message = || format!("found {:?} in place of a header with commas", header[0]);
        return problems.add(Code::WrongDelimiter, Some(line), None, message);
    }
    let lacks = |name: &str| !header.iter().any(|column| column == name);
    let mut explained = Vec::new();
    for (index, name) in REQUIRED.iter().enumerate().filter(|(_, name)| lacks(name)) {
        let near = header
            .iter()
            .find(|column| !REQUIRED.contains(&column.as_str()) && !did_you_mean(column, [*name]).is_empty());
        let commented = || {
            let mut comments = text.lines().filter(|line| line.starts_with('#'));
            comments.any(|line| line.split([',', ' ', '#']).any(|word| word == *name))
        };
        let hint = match near {
            Some(column) => format!(" (is it the column {column:?}?)"),
            None if commented() => " (it stands in a comment: is the header behind a #?)".to_owned(),
            None => String::new(),
        };
        explained.extend(near);
        let key = Some((header.len() + index, *name));
        let message = || format!("the column {name} is missing{hint}; found {}", header.join(","));
        problems.add(Code::MissingColumn, Some(line), key, message);
    }
    for (index, name) in header.iter().enumerate() {
        let column = Some((index, name.as_str()));
        if header[..index].contains(name) && !name.is_empty() {
            let message = || format!("the column {name} comes twice");
            problems.add(Code::DuplicateColumn, Some(line), column, message);
        } else if let Some(known) = OPTIONAL.iter().find(|known| lacks(known) && misspelt(name, known)) {
            let message = || format!("the column {name:?} is ignored; did you mean {known}?");
            problems.add(Code::MisspeltColumn, Some(line), column, message);
        } else if !REQUIRED.contains(&name.as_str())
            && !["duration_s", "gpu_share"].contains(&name.as_str())
            && !explained.contains(&name)
        {
            let message = || match name.as_str() {
                "" => format!("the column {} has no name, and runs ignore it", index + 1),
                _ => format!("runs ignore the column {name}"),
            };
            problems.add(Code::IgnoredColumn, Some(line), column, message);
        }
    }
}

/// Whether a name is as good as another: other than "did you mean", this must not take `gpu_time` for `gpu_share`.
fn misspelt(name: &str, known: &str) -> bool {
    let most = match known.len() {
        0..=3 => 0,
        4..=5 => 1,
        _ => 2,
    };
    strsim::damerau_levenshtein(&name.to_lowercase(), known) <= most && !name.is_empty()
}

/// Reads lines below a header.
struct RowReader<'a> {
    header: Vec<String>,
    catalogue: &'a Catalogue,
    cluster: &'a ClusterSpec,
    largest_server_gpus: usize,
    cluster_gpus: usize,
    job_id: Option<usize>,
    workload: Option<usize>,
    gpus: Option<usize>,
    gpu_share: Option<usize>,
    rows: Rows,
    /// Line and hash of the line of each id.
    ids: HashMap<String, (u64, u64)>,
    /// Workloads that the catalogue lacks, in the order of the file.
    unknown: Vec<String>,
    jobs_beyond_cluster: u64,
}

impl<'a> RowReader<'a> {
    fn new(header: Vec<String>, catalogue: &'a Catalogue, cluster: &'a ClusterSpec) -> RowReader<'a> {
        let column = |name: &str| header.iter().position(|column| column == name);
        RowReader {
            job_id: column("job_id"),
            workload: column("workload"),
            gpus: column("gpus"),
            gpu_share: column("gpu_share"),
            rows: Rows {
                submit_column: column("submit_s"),
                duration_column: column("duration_s"),
                ..Rows::default()
            },
            header,
            catalogue,
            cluster,
            largest_server_gpus: cluster.largest_server_gpus(),
            cluster_gpus: cluster.gpu_count(),
            ids: HashMap::new(),
            unknown: Vec::new(),
            jobs_beyond_cluster: 0,
        }
    }

    fn row(&mut self, line: u64, record: &csv::StringRecord, problems: &mut Problems) {
        self.rows.jobs += 1;
        if record.len() != self.header.len() {
            let message =
                || format!("found {} fields, expected the header's {}", record.len(), self.header.len());
            return problems.add(Code::FieldCount, Some(line), None, message);
        }
        if let Some(index) = record.iter().position(|field| field.contains(['\n', '\r'])) {
            let message = || "the field goes on in the next line".to_owned();
            problems.add(Code::MultiLineField, Some(line), Some((index, &self.header[index])), message);
        }
        self.check_id(line, record, problems);
        let field = Field { header: &self.header, record, line };
        let time = |text: &str| parse_number(text, &TIMES_S);
        let submit_s = field.required(self.rows.submit_column, time, problems);
        let gpus = field.required(self.gpus, |text| parse_integer(text, &GANGS), problems);
        let duration_s = field.parsed(self.rows.duration_column, time, problems);
        let share = field.parsed(self.gpu_share, parse_share, problems);
        if let (Some(index), Some(Some(Some(share))), Some(None)) = (self.gpu_share, share, duration_s) {
            let message = || format!("found the share {share}, and no duration_s");
            problems.add(Code::ShareWithoutDuration, Some(line), Some((index, "gpu_share")), message);
        }
        if let (Some(index), Some(Some(0.0))) = (self.rows.duration_column, duration_s) {
            let message = || "found 0".to_owned();
            problems.add(Code::ZeroDuration, Some(line), Some((index, "duration_s")), message);
        }
        let runtime_s = self.check_workload(line, record, gpus, duration_s, problems);
        if let (Some(submit_s), Some(gpus)) = (submit_s, gpus) {
            let (gpus, blank_duration) = (f64::from(gpus), duration_s == Some(None));
            let duration_s = duration_s.flatten();
            self.rows.seen.push(Seen { line, submit_s, gpus, duration_s, blank_duration, runtime_s });
        }
    }

    fn check_id(&mut self, line: u64, record: &csv::StringRecord, problems: &mut Problems) {
        let Some((index, id)) = self.job_id.and_then(|index| Some((index, record.get(index)?))) else {
            return;
        };
        let column = Some((index, "job_id"));
        if id.is_empty() {
            let message = || "blank; a value is needed".to_owned();
            return problems.add(Code::BlankField, Some(line), column, message);
        }
        // With the fields' ends, or "1,23" would be as "12,3".
        let hash = xxh3_64(record.iter().collect::<Vec<_>>().join("\u{1f}").as_bytes());
        match self.ids.get(id) {
            None => {
                self.ids.insert(id.to_owned(), (line, hash));
            }
            Some((before, same)) => {
                let message = || format!("{id:?} stands on line {before} already");
                let code = if *same == hash { Code::DuplicateRow } else { Code::DuplicateId };
                problems.add(code, Some(line), column, message);
            }
        }
    }

    /// Also checks GPUs. Gives back the runtime alone, as far as it is known.
    fn check_workload(
        &mut self,
        line: u64,
        record: &csv::StringRecord,
        gpus: Option<u32>,
        duration_s: Option<Option<f64>>,
        problems: &mut Problems,
    ) -> Option<f64> {
        let of_gpus = self.gpus.map(|index| (index, "gpus"));
        if let Some(gpus) = gpus.filter(|&gpus| gpus as usize > self.largest_server_gpus) {
            let (source, largest) = (&self.cluster.source, self.largest_server_gpus);
            self.jobs_beyond_cluster += u64::from(gpus as usize > self.cluster_gpus);
            let message = || format!("found {gpus}, but the largest server of {source} has {largest} GPUs");
            problems.add(Code::GangTooLarge, Some(line), of_gpus, message);
        }
        let index = self.workload?;
        let (name, column) = (record.get(index)?, Some((index, "workload")));
        if name.is_empty() {
            problems.add(Code::BlankWorkload, Some(line), column, || "blank".to_owned());
            return duration_s?;
        }
        let Some(workload) = self.catalogue.get(name) else {
            problems.add(Code::UnknownWorkload, Some(line), column, String::new);
            if !self.unknown.iter().any(|unknown| unknown == name) && self.unknown.len() <= NAMED {
                self.unknown.push(name.to_owned());
            }
            return duration_s?;
        };
        // A duration that is no number is a problem of its own.
        if let (Some(gpus), None) = (gpus.filter(|&gpus| gpus != workload.gpus), duration_s?) {
            let message = || format!("found {gpus}, but {name} was profiled on {}", workload.gpus);
            problems.add(Code::GpusDiffer, Some(line), of_gpus, message);
            return None;
        }
        duration_s?.or(Some(workload.solo_runtime_s))
    }

    fn finish(self, problems: &mut Problems) -> Rows {
        if self.rows.jobs == 0 {
            problems.add(Code::NoJobs, None, None, || "the file has a header but no job".to_owned());
        }
        if let Some(problem) = problems.get_mut(Code::UnknownWorkload) {
            let meant = |name: &String| match nearest(name, self.catalogue.names()).as_slice() {
                [] => format!("{name:?}"),
                names => format!("{name:?} (did you mean {}?)", names.join(" or ")),
            };
            let named: Vec<String> = self.unknown.iter().take(NAMED).map(meant).collect();
            let more = if self.unknown.len() > NAMED { " and others" } else { "" };
            problem.message = format!("{} lacks {}{more}", self.catalogue.source(), named.join(", "));
        }
        if let Some(problem) = problems.get_mut(Code::GangTooLarge).filter(|_| self.jobs_beyond_cluster > 0) {
            problem.message += &format!(
                "; {} of these jobs ask for more than all {} GPUs of the cluster",
                self.jobs_beyond_cluster, self.cluster_gpus
            );
        }
        self.rows
    }
}

/// A line's fields.
struct Field<'a> {
    header: &'a [String],
    record: &'a csv::StringRecord,
    line: u64,
}

impl Field<'_> {
    /// `None` for what cannot be used, which is a problem; `Some(None)` where blank, or without the column.
    fn parsed<T>(
        &self,
        column: Option<usize>,
        parse: impl FnOnce(&str) -> Result<T, String>,
        problems: &mut Problems,
    ) -> Option<Option<T>> {
        let Some(index) = column else { return Some(None) };
        let Some(text) = self.record.get(index).filter(|text| !text.is_empty()) else { return Some(None) };
        match parse(text) {
            Ok(value) => Some(Some(value)),
            Err(found) => {
                let code = if is_date(text) { Code::DateInNumber } else { Code::BadNumber };
                let column = Some((index, self.header[index].as_str()));
                problems.add(code, Some(self.line), column, || found + hint(text));
                None
            }
        }
    }

    /// `None` also where blank, which is a problem then.
    fn required<T>(
        &self,
        column: Option<usize>,
        parse: impl FnOnce(&str) -> Result<T, String>,
        problems: &mut Problems,
    ) -> Option<T> {
        let index = column?;
        let value = self.parsed(column, parse, problems)?;
        if value.is_none() {
            let column = Some((index, self.header[index].as_str()));
            let message = || "blank; a number is needed".to_owned();
            problems.add(Code::BlankField, Some(self.line), column, message);
        }
        value
    }
}

/// Whether a text is a date, or a date with a time.
fn is_date(text: &str) -> bool {
    let marks = |marks: &[char]| text.matches(marks).count();
    let numeric = |c: char| c.is_ascii_digit() || "-/:.+ TZ".contains(c);
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(numeric)
        && (marks(&['/']) == 2 || marks(&['-']) >= 2 || marks(&[':']) >= 1)
}

/// What a number may have been meant to be.
fn hint(text: &str) -> &'static str {
    let Ok(value) = text.parse::<f64>() else {
        let comma = text.contains(',') && text.replace(',', ".").parse::<f64>().is_ok();
        return if comma { "; is the comma a decimal point?" } else { "" };
    };
    // From 2000 to 2100.
    let since_1970 = |unit: f64| (9.4e8..4.2e9).contains(&(value / unit));
    match value {
        _ if since_1970(1e3) => {
            "; it looks like milliseconds since 1970: subtract the first submission, divide by 1000"
        }
        _ if since_1970(1e6) => {
            "; it looks like microseconds since 1970: subtract the first submission, divide by 1000000"
        }
        _ if since_1970(1e9) => {
            "; it looks like nanoseconds since 1970: subtract the first submission, divide by 1e9"
        }
        _ => "",
    }
}
