use assert_cmd::Command;

pub fn aegis_sim() -> Command {
    Command::cargo_bin("aegis-sim").unwrap()
}

/// Exit code, standard output and standard error.
pub fn run(args: &[&str]) -> (i32, String, String) {
    let output = aegis_sim().args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Gives back what it printed.
#[track_caller]
pub fn succeeds(args: &[&str]) -> String {
    let (code, stdout, stderr) = run(args);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout
}

/// Fails with an exit code, and says all of `says`.
#[track_caller]
pub fn fails(code: i32, args: &[&str], says: &[&str]) {
    let (found, _, stderr) = run(args);
    assert_eq!(found, code, "{args:?}: {stderr}");
    for part in says {
        assert!(stderr.contains(part), "{args:?}: {stderr:?} does not say {part:?}");
    }
}
