//! Policies decide on what they observe: their sources cannot name the truth of a run, a clock or chance.

use std::path::{Path, PathBuf};

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn policies_cannot_reach_the_truth() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy"), &mut files);
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let code: String = code.split_whitespace().collect();
            // Groups and globs of the crate would hide what they import.
            for forbidden in ["cluster::", "sim::", "crate::{", "crate::*", "std::time", "rand", "Instant"] {
                let named = code.match_indices(forbidden).any(|(at, _)| {
                    let before = code[..at].chars().next_back();
                    !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                });
                assert!(!named, "{}, line {}: {forbidden}", file.display(), number + 1);
            }
        }
    }
}
