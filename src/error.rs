use std::path::{Path, PathBuf};

/// What can go wrong, as a sentence for the person at the keyboard.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input cannot be used: says where, what was found, what was expected and what to do.
    #[error("{0}")]
    Input(String),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}; check the path and its permissions")]
    Read { path: PathBuf, source: std::io::Error },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}; choose another place with --out or free this one")]
    Write { path: PathBuf, source: std::io::Error },
    /// A figure could not be drawn.
    #[error("cannot draw {figure}: {message}")]
    Plot { figure: String, message: String },
    /// Results were made, and they miss what they were checked against.
    #[error("{0}")]
    Check(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The process's exit code: 2 for bad input, 1 for a failed check.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Check(_) => 1,
            _ => 2,
        }
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Error {
        match source.kind() {
            std::io::ErrorKind::InvalidData => {
                Error::Input(format!("{} is not a text file; expected text in UTF-8", path.display()))
            }
            _ => Error::Read { path: path.into(), source },
        }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Error {
        Error::Write { path: path.into(), source }
    }
}

/// An [`Error::Input`] from format arguments.
macro_rules! input_error {
    ($($arg:tt)*) => { $crate::error::Error::Input(format!($($arg)*)) };
}
pub(crate) use input_error;

/// The names nearest to `name`, best first, for "did you mean".
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score > 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// "did you mean a or b? " or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known).as_slice() {
        [] => String::new(),
        names => format!("did you mean {}? ", names.join(" or ")),
    }
}

/// Whether a name that is not built in is meant as the path of a file, which lies at `path`.
pub(crate) fn is_path(name: &str, path: &Path) -> bool {
    path.exists() || name.contains(['/', '\\', '.'])
}

/// Refuses a name that is neither built in nor a file, and does not look like a path. `builtin`: names and texts; `kind`: of
/// file, such as CSV.
pub(crate) fn check_builtin_or_path(
    what: &str,
    name: &str,
    builtin: &[(&str, &str)],
    kind: &str,
) -> Result<()> {
    let names = || builtin.iter().map(|(name, _)| *name);
    if names().any(|known| known == name) || is_path(name, Path::new(name)) {
        return Ok(());
    }
    Err(input_error!(
        "unknown {what} {name:?}: {}built in are {}; anything else is the path of a {kind} file",
        did_you_mean(name, names()),
        names().collect::<Vec<_>>().join(", ")
    ))
}
