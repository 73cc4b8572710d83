use std::path::{Path, PathBuf};

use super::manifest::{MANIFEST, Manifest};
use super::shard::Shard;
use super::store::{JOURNAL, RESULTS, RunLine, read_results, write_results};
use crate::error::{Error, Result, input_error};
use crate::report::atomic;

/// Joins folders of shards.
///
/// # Errors
/// Folders of different experiments, of the same shard twice, or not complete.
pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Merged> {
    let mut parts: Vec<(PathBuf, Manifest)> = Vec::new();
    // Results of an earlier merge lie where those of this one go.
    let is_out = |path: &Path| match (path.canonicalize(), out.canonicalize()) {
        (Ok(path), Ok(out)) => path == out,
        _ => false,
    };
    for dir in dirs {
        let found = parts.len();
        match Manifest::open(dir)? {
            Some(manifest) => parts.push((dir.clone(), manifest)),
            // A folder of shards, as --shard makes them.
            None => {
                let entries = std::fs::read_dir(dir).map_err(|e| Error::read(dir, e))?;
                let mut inner: Vec<PathBuf> =
                    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
                inner.sort();
                for path in inner.into_iter().filter(|path| !is_out(path)) {
                    if let Some(manifest) = Manifest::open(&path)? {
                        parts.push((path, manifest));
                    }
                }
            }
        }
        if parts.len() == found {
            return Err(input_error!("{} has no {MANIFEST}: it is no folder of a sweep", dir.display()));
        }
    }
    let Some((first_dir, first)) = parts.first() else {
        return Err(input_error!("merge: name the folders to join"));
    };
    let manifest = Manifest { shard: None, ..first.clone() };
    let mut lines: Vec<Option<RunLine>> = vec![None; manifest.runs];
    let mut from: Vec<Option<usize>> = vec![None; manifest.runs];
    for (index, (dir, part)) in parts.iter().enumerate() {
        part.same_experiment(dir, first, &first_dir.display().to_string())?;
        if part.presentation != first.presentation {
            return Err(input_error!(
                "{} has other metrics or figures than {}; redraw one with sweep --resume",
                dir.display(),
                first_dir.display()
            ));
        }
        let counts = [part, first].map(|part| part.shard.map(Shard::count));
        if let [Some(count), Some(of_first)] = counts
            && count != of_first
        {
            return Err(input_error!(
                "{} is of {count} shards and {} of {of_first}; name shards of the same division",
                dir.display(),
                first_dir.display()
            ));
        }
        if !dir.join(RESULTS).exists() || dir.join(JOURNAL).exists() {
            return Err(input_error!("{} is not complete: finish it with sweep --resume", dir.display()));
        }
        let mut own = read_results(dir, part)?;
        for run in part.own_runs() {
            if let Some(other) = from[run].replace(index) {
                return Err(input_error!(
                    "{} and {} both have {}; leave one out",
                    parts[other].0.display(),
                    dir.display(),
                    manifest.design.describe_run(manifest.design.run(run))
                ));
            }
            lines[run] = own[run].take();
        }
    }
    let missing = lines.iter().filter(|line| line.is_none()).count();
    if missing > 0 {
        let run = lines.iter().position(Option::is_none).unwrap_or(0);
        let had: Vec<String> =
            parts.iter().filter_map(|(_, part)| part.shard.map(|shard| shard.to_string())).collect();
        return Err(input_error!(
            "{missing} of {} runs are missing, the first {}: name the folders of all shards (these are {})",
            manifest.runs,
            manifest.design.describe_run(manifest.design.run(run)),
            had.join(", ")
        ));
    }
    std::fs::create_dir_all(out).map_err(|e| Error::write(out, e))?;
    if let Some(before) = Manifest::open(out)?
        && (before.identity != manifest.identity || before.shard.is_some())
    {
        return Err(input_error!("{} holds other results; take another folder with --out", out.display()));
    }
    atomic::write(&out.join(MANIFEST), manifest.text()?.as_bytes())?;
    write_results(out, &manifest, &lines)?;
    Ok(Merged { manifest, lines })
}

/// All runs of an experiment.
pub struct Merged {
    pub manifest: Manifest,
    pub lines: Vec<Option<RunLine>>,
}
