//! Writes what is sent behind what is already here, and looks at the whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::HubError;
use super::request::{Answer, Client};
use super::{FetchError, Progress, Wanted, settle};
use crate::models::fetch::install;
use crate::models::manifest::Sha;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;
/// Progress is told after this much more, at least.
const STEP: u64 = 64 << 20;

/// A file that is in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) sha256: Sha,
    pub(super) bytes: u64,
    pub(super) commit: Option<String>,
}

/// Downloads the file, or the rest of it, checks it and puts it in place.
pub(super) fn receive(
    client: &Client<'_>,
    wanted: &Wanted<'_>,
    dir: &Path,
    report: &mut dyn FnMut(Progress<'_>),
) -> Result<Received, FetchError> {
    let name = |tag: &str| part(dir, &wanted.file.install, tag);
    let have = |tag: &str| fs::metadata(name(tag)).map_or(0, |meta| meta.len());
    // Makes the folder.
    install::part(dir, &wanted.file.install)?;
    let Answer { told, start, mut body } = client.open(wanted, have).map_err(|error| wanted.refuse(error))?;
    let part = name(told.tag.as_deref().unwrap_or("untagged"));
    let mut file = at(&part, start)?;
    let mut progress = |bytes| report(Progress::Receiving { file: &wanted.file.install, bytes, of: told.bytes });
    let (got, broken) = copy(&mut body, &mut file, start, &mut progress).map_err(FetchError::io("write", &part))?;
    if broken.is_some() || told.bytes.is_some_and(|bytes| bytes != got) {
        let of = told.bytes.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
        let reason = broken.unwrap_or_else(|| "the connection ended".to_owned());
        if told.bytes.is_some_and(|bytes| got > bytes) {
            fs::remove_file(&part).map_err(FetchError::io("remove", &part))?;
        }
        return Err(wanted.refuse(HubError::Truncated { got, of, reason }));
    }
    settle(wanted, dir, &part, told.sha256, told.commit, start > 0)
}

/// Where the content with `tag` is written before it is complete.
fn part(dir: &Path, install: &str, tag: &str) -> PathBuf {
    let plain: String = tag.chars().filter(char::is_ascii_alphanumeric).take(24).collect();
    dir.join(format!("{install}.{plain}.part"))
}

/// The file at `part`, cut at `start` and written from there.
fn at(part: &Path, start: u64) -> Result<File, FetchError> {
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(part);
    let mut file = open.map_err(FetchError::io("create", part))?;
    file.set_len(start).map_err(FetchError::io("cut", part))?;
    file.seek(SeekFrom::Start(start)).map_err(FetchError::io("write", part))?;
    Ok(file)
}

/// Copies to the end, or to where the sender breaks off, with what it said. An error is of the file that is written.
fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    start: u64,
    progress: &mut dyn FnMut(u64),
) -> io::Result<(u64, Option<String>)> {
    let mut buffer = vec![0; CHUNK];
    let (mut got, mut told) = (start, start);
    progress(got);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => {
                to.flush()?;
                return Ok((got, None));
            }
            Ok(n) => {
                to.write_all(&buffer[..n])?;
                got += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                to.flush()?;
                return Ok((got, Some(error.to_string())));
            }
        }
        if got >= told + STEP {
            told = got;
            progress(got);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_such() {
        let full = Path::new("/dev/full");
        let mut file = OpenOptions::new().write(true).open(full).expect("a device");
        let error = copy(&mut [1u8; 9].as_slice(), &mut file, 0, &mut |_| ()).map_err(FetchError::io("write", full));
        assert!(matches!(error, Err(FetchError::DiskFull { .. })), "{error:?}");
    }

    #[test]
    fn parts_are_named_by_their_content() {
        let dir = Path::new("d");
        assert_eq!(part(dir, "j/m", "ab\"/../c"), Path::new("d/j/m.abc.part"));
    }
}
