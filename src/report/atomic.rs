//! Files that appear whole or not at all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a file by way of a temporary one in the same directory, so that no reader and no crash ever sees
/// half of it. Replaces a file that is there.
///
/// # Errors
/// [`Error::Write`] if the directory is missing or full, or not to be written to.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut draft = Draft::new(path)?;
    draft.write_all(bytes).map_err(|e| Error::write(path, e))?;
    draft.finish()
}

/// A file that is written bit by bit and appears when it is finished; gone if it is dropped before.
pub struct Draft {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl Draft {
    /// Symbolic links are followed; what is there and is no file, a device say, is not replaced.
    pub fn new(path: &Path) -> Result<Draft> {
        let path = &match path.canonicalize() {
            Ok(target) if !target.is_file() => {
                let source = std::io::Error::other("it is there and is not a regular file");
                return Err(Error::write(path, source));
            }
            Ok(target) => target,
            Err(_) => path.to_owned(),
        };
        // `parent` of a bare file name is empty, which is no directory to a temporary file.
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = builder().tempfile_in(dir).map_err(|e| Error::write(path, e))?;
        Ok(Draft { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<()> {
        let file = self.file.into_inner().map_err(|e| Error::write(&self.path, e.into_error()))?;
        file.persist(&self.path).map_err(|e| Error::write(&self.path, e.error))?;
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Removes what a process that was killed left of its temporary files.
pub fn remove_drafts(dir: &Path) -> Result<()> {
    let entries = std::fs::read_dir(dir).map_err(|e| Error::read(dir, e))?;
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let is_draft = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        if is_draft && path.is_file() {
            std::fs::remove_file(&path).map_err(|e| Error::write(&path, e))?;
        }
    }
    Ok(())
}

const PREFIX: &str = ".aegis-sim-";

/// Results are for others to read too: the umask decides, as for any new file, not the temporary file's 0600.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_files_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write(&path, b"a longer first version").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("ours"), b"x").unwrap();
        std::fs::write(dir.path().join("plain"), b"x").unwrap();
        let mode = |name| dir.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode("ours"), mode("plain"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert!(link.is_symlink());
        let error = write(Path::new("/dev/null"), b"x").unwrap_err().to_string();
        assert!(error.contains("/dev/null") && error.contains("not a regular file"), "{error}");
        assert!(write(dir.path(), b"x").is_err());
    }

    #[test]
    fn a_missing_directory_is_an_error_that_names_the_file() {
        let error = write(Path::new("/nonexistent/dir/a.txt"), b"x").unwrap_err();
        assert!(error.to_string().contains("/nonexistent/dir/a.txt"), "{error}");
    }
}
