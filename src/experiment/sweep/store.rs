//! A folder of results: what was asked, what is done so far, and in the end the tables.
//!
//! While runs go on, each is a line of `journal.csv`, in the order in which they end. A line that was cut off by a crash is
//! dropped when the work is taken up again. When all runs are there, `results.csv` holds them in the order of the design,
//! and the journal goes.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::design::Design;
use super::manifest::{MANIFEST, Manifest};
use super::shard::Shard;
use crate::error::{Error, Result, input_error};
use crate::report::{SCHEMA_VERSION, atomic};

pub(super) const JOURNAL: &str = "journal.csv";
pub(super) const RESULTS: &str = "results.csv";

/// A run that has ended: its figures, or why it failed, as fields of CSV.
pub type RunLine = String;

/// A folder that runs are added to.
pub struct Store {
    pub manifest: Manifest,
    dir: PathBuf,
    /// Locked while it is open, so that no other process adds to it.
    journal: File,
    /// By index of the run; what other shards do stays empty.
    lines: Vec<Option<RunLine>>,
}

impl Store {
    /// Opens a folder for an experiment.
    ///
    /// # Errors
    /// It has results and they are not to be taken up again, or are of another experiment, or another process is at it.
    pub fn open(dir: &Path, manifest: Manifest, resume: bool) -> Result<Store> {
        std::fs::create_dir_all(dir).map_err(|e| Error::write(dir, e))?;
        let before = Manifest::open(dir)?;
        if let Some(before) = &before {
            if !resume {
                return Err(input_error!(
                    "{} holds results of {:?} already; finish or redraw them with --resume, or take another folder with --out",
                    dir.display(),
                    before.presentation.title
                ));
            }
            before.same_experiment(dir, &manifest, "this")?;
            if before.shard != manifest.shard {
                let part = |shard: Option<Shard>| {
                    shard.map_or("all runs".to_owned(), |shard| format!("shard {shard}"))
                };
                return Err(input_error!(
                    "{} is for {}, not for {}; take another folder with --out",
                    dir.display(),
                    part(before.shard),
                    part(manifest.shard)
                ));
            }
        } else if dir.join(RESULTS).exists()
            || dir.join(JOURNAL).metadata().is_ok_and(|journal| journal.len() > 0)
        {
            return Err(input_error!(
                "{} has a {RESULTS} or {JOURNAL} without {MANIFEST}, and is no folder of a sweep; take another one with --out",
                dir.display()
            ));
        }
        let path = dir.join(JOURNAL);
        let journal = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let journal = journal.map_err(|e| Error::write(&path, e))?;
        journal.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => {
                input_error!("{}: another process is at work here; let it finish, or stop it", dir.display())
            }
            std::fs::TryLockError::Error(error) => Error::write(&path, error),
        })?;
        atomic::remove_drafts(dir)?;
        if let Some(before) = before {
            before.remove_figures_without(&manifest.presentation, dir)?;
        }
        atomic::write(&dir.join(MANIFEST), manifest.text()?.as_bytes())?;
        let lines = vec![None; manifest.runs];
        let mut store = Store { manifest, dir: dir.to_owned(), journal, lines };
        if dir.join(RESULTS).exists() {
            store.lines = read_results(dir, &store.manifest).inspect_err(|_| {
                // Nothing was taken up: a journal that has nothing is none.
                if store.journal.metadata().is_ok_and(|journal| journal.len() == 0) {
                    let _ = std::fs::remove_file(&path);
                }
            })?;
        }
        store.read_journal()?;
        Ok(store)
    }

    /// Takes up what a journal has, and cuts off a last line that is not whole.
    fn read_journal(&mut self) -> Result<()> {
        let path = self.dir.join(JOURNAL);
        let mut bytes = Vec::new();
        self.journal.read_to_end(&mut bytes).map_err(|e| Error::read(&path, e))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.journal.set_len(whole as u64).map_err(|e| Error::write(&path, e))?;
        for (number, line) in bytes[..whole].split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let text = std::str::from_utf8(line).ok().and_then(|text| text.split_once(','));
            let parsed = text.and_then(|(run, rest)| Some((run.parse::<usize>().ok()?, rest)));
            let fits = |rest: &str| is_run(rest, self.manifest.figures.len());
            match parsed {
                Some((run, rest)) if run < self.lines.len() && self.manifest.owns(run) && fits(rest) => {
                    // After a crash in the end both files have a run: the same.
                    if self.lines[run].replace(rest.to_owned()).is_some_and(|before| before != rest) {
                        return Err(input_error!(
                            "{}, line {}: run {run} stands there already with other figures; do the sweep again in another \
                             folder",
                            path.display(),
                            number + 1
                        ));
                    }
                }
                _ => {
                    return Err(input_error!(
                        "{}, line {}: not a line that a sweep writes; remove it, and --resume does its run again",
                        path.display(),
                        number + 1
                    ));
                }
            }
        }
        Ok(())
    }

    /// Runs that are still to do.
    pub fn open_runs(&self) -> Vec<usize> {
        self.manifest.own_runs().filter(|&run| self.lines[run].is_none()).collect()
    }

    /// Adds a run. In one write, so that a crash leaves all of it or a line that is seen not to be whole.
    pub fn add(&mut self, run: usize, line: RunLine) -> Result<()> {
        let text = format!("{run},{line}\n");
        let path = self.dir.join(JOURNAL);
        self.journal.write_all(text.as_bytes()).map_err(|e| Error::write(&path, e))?;
        self.lines[run] = Some(line);
        Ok(())
    }

    pub fn lines(&self) -> &[Option<RunLine>] {
        &self.lines
    }

    /// Writes results.csv; [`Store::close`] then ends the journal.
    pub fn write_results(&self) -> Result<()> {
        write_results(&self.dir, &self.manifest, &self.lines)
    }

    /// Nothing is left to do here.
    pub fn close(self) -> Result<()> {
        let path = self.dir.join(JOURNAL);
        std::fs::remove_file(&path).map_err(|e| Error::write(&path, e))
    }
}

fn key_columns(design: &Design) -> Vec<String> {
    ["trace".to_owned()].into_iter().chain(design.setting_columns()).chain(["seed".to_owned()]).collect()
}

fn key_fields(design: &Design, run: usize) -> Vec<String> {
    let key = design.run(run);
    let setting = design.setting_fields(&design.setting(key.setting));
    [design.traces[key.trace].clone()].into_iter().chain(setting).chain([key.seed.to_string()]).collect()
}

/// Of results.csv.
fn columns(manifest: &Manifest) -> Vec<String> {
    let end = ["error", "schema_version"].map(str::to_owned);
    key_columns(&manifest.design).into_iter().chain(manifest.figures.iter().cloned()).chain(end).collect()
}

pub(super) fn write_results(dir: &Path, manifest: &Manifest, lines: &[Option<RunLine>]) -> Result<()> {
    let path = dir.join(RESULTS);
    let mut draft = atomic::Draft::new(&path)?;
    let mut put = |text: String| writeln!(draft, "{text}").map_err(|e| Error::write(&path, e));
    put(line_of(columns(manifest).iter().map(String::as_str)))?;
    for run in manifest.own_runs() {
        let line = lines[run].as_deref().unwrap_or_default();
        put(format!(
            "{},{line},{SCHEMA_VERSION}",
            line_of(key_fields(&manifest.design, run).iter().map(String::as_str))
        ))?;
    }
    draft.finish()
}

pub(super) fn read_results(dir: &Path, manifest: &Manifest) -> Result<Vec<Option<RunLine>>> {
    let path = dir.join(RESULTS);
    let bytes = std::fs::read(&path).map_err(|e| Error::read(&path, e))?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
    let unusable = |line: usize, problem: &dyn std::fmt::Display| {
        input_error!("{}, line {line}: {problem}; do the sweep again in another folder", path.display())
    };
    let mut lines = vec![None; manifest.runs];
    let mut records = reader.records();
    let header = columns(manifest);
    match records.next() {
        Some(Ok(found)) if found.iter().eq(header.iter().map(String::as_str)) => {}
        _ => return Err(unusable(1, &"not the columns that a sweep of this experiment writes")),
    }
    for (row, run) in manifest.own_runs().enumerate() {
        let number = row + 2;
        let record = records.next().ok_or_else(|| unusable(number, &"the file ends before it"))?;
        let record = record.map_err(|error| unusable(number, &error))?;
        let key = key_fields(&manifest.design, run);
        if record.len() != key.len() + manifest.figures.len() + 2
            || !record.iter().zip(&key).all(|(a, b)| a == b)
        {
            return Err(unusable(
                number,
                &format!("expected {}", manifest.design.describe_run(manifest.design.run(run))),
            ));
        }
        let line = line_of(record.iter().skip(key.len()).take(manifest.figures.len() + 1));
        if !is_run(&line, manifest.figures.len()) {
            return Err(unusable(number, &"expected numbers, or an error and no numbers"));
        }
        lines[run] = Some(line);
    }
    match records.next() {
        None => Ok(lines),
        Some(_) => Err(unusable(manifest.own_runs().count() + 2, &"more rows than there are runs")),
    }
}

/// Fields as a line of CSV, without its end.
pub(super) fn line_of<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    // Writing to memory does not fail, and one record has as many fields as itself.
    let _ = writer.write_record(fields);
    let mut text =
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    text.pop();
    text
}

/// Whether a line is one that [`Store::add`] took: figures that are numbers from 0 or blank, or an error and none.
fn is_run(line: &str, figures: usize) -> bool {
    let Some(fields) = fields(line).filter(|fields| fields.len() == figures + 1) else { return false };
    let failed = !fields[figures].is_empty();
    let number = |text: &str| text.parse().is_ok_and(|value: f64| value.is_finite() && value >= 0.0);
    let fits = |text: &str| text.is_empty() || (!failed && number(text));
    !line.contains('\r') && fields.iter().take(figures).all(fits)
}

/// The fields of a line of CSV.
pub(super) fn fields(line: &str) -> Option<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    reader.records().next()?.ok()
}
