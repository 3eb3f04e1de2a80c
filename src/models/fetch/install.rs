//! Puts a file in place whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::FetchError;
use crate::models::manifest::{Expected, Sha};

/// Where `name` is written before it is known to be right; its directory exists afterwards.
pub(super) fn part(dir: &Path, name: &str) -> Result<PathBuf, FetchError> {
    let path = dir.join(format!("{name}.part"));
    let parent = path.parent().unwrap_or(dir);
    fs::create_dir_all(parent).map_err(FetchError::io("create", parent))?;
    Ok(path)
}

/// Writes what `reader` yields to `part`. No more than one byte over `limit`: enough to see that it is too long.
pub(super) fn write(reader: impl Read, limit: u64, part: &Path) -> Result<(), FetchError> {
    let mut file = File::create(part).map_err(FetchError::io("create", part))?;
    let mut reader = reader.take(limit.saturating_add(1));
    io::copy(&mut reader, &mut file).and_then(|_| file.flush()).map_err(FetchError::io("write", part))
}

/// Renames `part` to its final name if it is the expected file; otherwise removes it and says what was wrong.
pub(super) fn promote(dir: &Path, expected: &Expected<'_>, part: &Path) -> Result<Result<(), String>, FetchError> {
    let (sha, bytes) = digest(part)?;
    if sha != *expected.sha256 {
        fs::remove_file(part).map_err(FetchError::io("remove", part))?;
        let (want, size) = (expected.sha256, expected.bytes);
        return Ok(Err(format!("has SHA-256 {sha} ({bytes} bytes), expected {want} ({size} bytes)")));
    }
    place(dir, expected.install, part).map(Ok)
}

/// What a complete part is, after it has reached the disk.
pub(super) fn digest(part: &Path) -> Result<(Sha, u64), FetchError> {
    let mut file = File::open(part).map_err(FetchError::io("open", part))?;
    // Before the rename, or a power cut could leave the name without the bytes.
    file.sync_all().map_err(FetchError::io("synchronise", part))?;
    Sha::of(&mut file).map_err(FetchError::io("read", part))
}

/// Renames a part that is right to its final name.
pub(super) fn place(dir: &Path, name: &str, part: &Path) -> Result<(), FetchError> {
    // The daemon may run as somebody else than the one who fetches.
    fs::set_permissions(part, Permissions::from_mode(0o644)).map_err(FetchError::io("set the mode of", part))?;
    let path = dir.join(name);
    fs::rename(part, &path).map_err(FetchError::io("rename to", &path))?;
    let parent = path.parent().unwrap_or(dir);
    File::open(parent).and_then(|dir| dir.sync_all()).map_err(FetchError::io("synchronise", parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_such() {
        let full = Path::new("/dev/full");
        let error = write(b"weights".as_slice(), 7, full).expect_err("/dev/full takes nothing");
        assert!(matches!(error, FetchError::DiskFull { .. }), "{error:?}");
    }

    #[test]
    fn an_endless_member_is_cut_off() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = part(dir.path(), "a/b").expect("writable");
        write(io::repeat(0), 10, &path).expect("writable");
        assert_eq!(fs::metadata(&path).expect("written").len(), 11);
    }
}
