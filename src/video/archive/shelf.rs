//! What is on disk of one stream, told by file names alone: `<stream time in ns>_<time of day>.mkv` a segment, and
//! `<stream time in ns>_<stream time in ns>.expired`, an empty file whose name says up to where recordings were deleted,
//! and where the first of them began.
//!
//! Nothing is kept beside the segments that could disagree with them after a crash: a segment is found by its name and
//! its pictures by reading it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::{StreamTime, WallTime};

const SEGMENT: &str = "mkv";
const EXPIRED: &str = "expired";

/// A recorded segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Stream time of its first picture.
    pub(super) start: StreamTime,
    pub(super) path: PathBuf,
}

/// A stretch of which there were recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expired {
    /// Where the first deleted one began; before it nothing was ever recorded.
    pub(super) from: StreamTime,
    /// Before this, recordings were deleted.
    pub(super) until: StreamTime,
}

/// A directory's segments in the order of time, and up to where there were others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shelf {
    pub(super) segments: Vec<Segment>,
    pub(super) expired: Option<Expired>,
}

impl Shelf {
    /// Lists `dir`; one that does not exist holds nothing. Foreign files are passed over.
    pub(super) fn list(dir: &Path) -> io::Result<Self> {
        let mut shelf = Self::default();
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(shelf),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            match parse(&path) {
                Some(Named::Segment(start)) => shelf.segments.push(Segment { start, path }),
                Some(Named::Expired(new)) if shelf.expired.is_none_or(|old| old.until < new.until) => {
                    shelf.expired = Some(new);
                }
                Some(Named::Expired(_)) | None => {}
            }
        }
        shelf.segments.sort_by_key(|segment| segment.start);
        Ok(shelf)
    }
}

/// The path of a segment that begins at `start`. The time of day is for people.
pub(super) fn segment_path(dir: &Path, start: StreamTime, wall: WallTime) -> PathBuf {
    // Colons do not survive every file system and archive format.
    let wall = wall.to_string().replace(':', "-");
    dir.join(format!("{:020}_{wall}.{SEGMENT}", start.nanos()))
}

/// Notes that recordings from `from` to `until` are gone. Renaming needs no space on a full disk.
pub(super) fn mark_expired(dir: &Path, from: StreamTime, until: StreamTime) -> io::Result<()> {
    match Shelf::list(dir)?.expired {
        Some(old) if old.until >= until => Ok(()),
        Some(old) => {
            let new = Expired { from: old.from.min(from), until };
            fs::rename(existing(dir, old), mark(dir, new))
        }
        None => fs::File::create(mark(dir, Expired { from, until })).map(|_| ()),
    }
}

/// Forgets that there were recordings.
pub(super) fn unmark(dir: &Path, expired: Expired) -> io::Result<()> {
    fs::remove_file(existing(dir, expired))
}

fn mark(dir: &Path, Expired { from, until }: Expired) -> PathBuf {
    dir.join(format!("{:020}_{:020}.{EXPIRED}", until.nanos(), from.nanos()))
}

/// The mark that is there: an earlier version did not write where recordings began.
fn existing(dir: &Path, expired: Expired) -> PathBuf {
    let short = dir.join(format!("{:020}.{EXPIRED}", expired.until.nanos()));
    if short.exists() { short } else { mark(dir, expired) }
}

/// What the name of a file says.
enum Named {
    Segment(StreamTime),
    Expired(Expired),
}

fn parse(path: &Path) -> Option<Named> {
    let kind = path.extension()?.to_str()?;
    let mut parts = path.file_stem()?.to_str()?.split('_');
    let mut time = || {
        let digits = parts.next().filter(|digits| digits.len() == 20)?;
        digits.parse().ok().map(StreamTime::from_nanos)
    };
    match kind {
        SEGMENT => time().map(Named::Segment),
        EXPIRED => {
            let until = time()?;
            Some(Named::Expired(Expired { from: time().unwrap_or_default(), until }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> StreamTime {
        StreamTime::from_nanos(nanos)
    }

    #[test]
    fn what_is_there_is_told_by_the_names() {
        let dir = tempfile::tempdir().expect("a directory");
        let dir = dir.path();
        assert_eq!(Shelf::list(&dir.join("none")).expect("is nothing"), Shelf::default());
        let wall = WallTime::from_nanos(1_790_000_000_500_000_000).expect("in range");
        let paths = [30, 4].map(|start| segment_path(dir, at(start), wall));
        assert!(paths[0].ends_with("00000000000000000030_2026-09-21T14-13-20.5Z.mkv"), "{paths:?}");
        for foreign in ["note.txt", "x.mkv", "12.mkv", "-0000000000000000001_x.mkv", "00000000000000000001.tmp"] {
            fs::write(dir.join(foreign), "").expect("is written");
        }
        for path in &paths {
            fs::write(path, "").expect("is written");
        }
        mark_expired(dir, at(1), at(3)).expect("is noted");
        mark_expired(dir, at(2), at(2)).expect("changes nothing");
        mark_expired(dir, at(3), at(4)).expect("is noted");
        let shelf = Shelf::list(dir).expect("can be listed");
        assert_eq!(shelf.segments.iter().map(|segment| segment.start).collect::<Vec<_>>(), [at(4), at(30)]);
        assert_eq!(shelf.expired, Some(Expired { from: at(1), until: at(4) }));
        assert_eq!(fs::read_dir(dir).expect("listed").count(), 2 + 5 + 1, "old marks stay");
    }

    #[test]
    fn a_mark_of_an_earlier_version_is_read_and_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("00000000000000000004.expired"), "").expect("is written");
        let expired = || Shelf::list(dir.path()).expect("can be listed").expired;
        assert_eq!(expired(), Some(Expired { from: at(0), until: at(4) }));
        mark_expired(dir.path(), at(4), at(9)).expect("is noted");
        assert_eq!(expired(), Some(Expired { from: at(0), until: at(9) }));
        unmark(dir.path(), expired().expect("is there")).expect("is there");
        assert_eq!((expired(), fs::read_dir(dir.path()).expect("listed").count()), (None, 0));
    }
}
