//! The commands on traces in README.md and docs/traces.md work as printed.

use std::path::Path;
use std::process::Command;

/// The fenced `sh` blocks of a document that are about traces.
fn blocks(document: &str) -> Vec<String> {
    let blocks = document.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    blocks.filter(|block| block.contains("-- trace ")).map(str::to_owned).collect()
}

#[test]
fn commands_work_as_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for document in ["README.md", "docs/traces.md"] {
        let blocks = blocks(&std::fs::read_to_string(root.join(document)).unwrap());
        assert!(!blocks.is_empty(), "{document}");
        // One after the other, as a reader would.
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("examples")).unwrap();
        std::os::unix::fs::symlink(root.join("examples/logs"), dir.path().join("examples/logs")).unwrap();
        for block in blocks {
            assert!(block.lines().all(|line| line.starts_with("cargo run --release -- ")), "{block}");
            let script = block.replace("cargo run --release --", env!("CARGO_BIN_EXE_aegis-sim"));
            let output = Command::new("sh").args(["-e", "-c", &script]).current_dir(&dir).output().unwrap();
            assert!(output.status.success(), "{block}\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
