//! Files that appear whole or not at all.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// Writes a file by way of a temporary one in the same directory, so that no reader and no crash ever sees
/// half of it. Replaces a file that is there.
///
/// # Errors
/// [`Error::Write`] if the directory is missing or full, or not to be written to.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    // `parent` of a bare file name is empty, which is no directory to a temporary file.
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let replace = || -> std::io::Result<()> {
        let mut file = builder().tempfile_in(dir)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    };
    replace().map_err(|e| Error::write(path, e))
}

/// Results are for others to read too: the umask decides, as for any new file, not the temporary file's 0600.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".aegis-sim-");
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

    #[test]
    fn a_missing_directory_is_an_error_that_names_the_file() {
        let error = write(Path::new("/nonexistent/dir/a.txt"), b"x").unwrap_err();
        assert!(error.to_string().contains("/nonexistent/dir/a.txt"), "{error}");
    }
}
