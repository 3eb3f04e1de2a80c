//! What is on disk of one stream, told by file names alone: `<stream time in ns>_<time of day>.mkv` a segment, and
//! `<stream time in ns>.expired`, an empty file whose name says up to where recordings were deleted.
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

/// A directory's segments in the order of time, and up to where there were others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shelf {
    pub(super) segments: Vec<Segment>,
    /// Before this, recordings were deleted.
    pub(super) expired: Option<StreamTime>,
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
            let Some((start, kind)) = parse(&path) else { continue };
            if kind == SEGMENT {
                shelf.segments.push(Segment { start, path });
            } else {
                shelf.expired = shelf.expired.max(Some(start));
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

/// Notes that recordings before `until` are gone. Renaming needs no space on a full disk.
pub(super) fn mark_expired(dir: &Path, until: StreamTime) -> io::Result<()> {
    match Shelf::list(dir)?.expired {
        Some(old) if old >= until => Ok(()),
        Some(old) => fs::rename(mark(dir, old), mark(dir, until)),
        None => fs::File::create(mark(dir, until)).map(|_| ()),
    }
}

/// Forgets that there were recordings.
pub(super) fn unmark(dir: &Path, at: StreamTime) -> io::Result<()> {
    fs::remove_file(mark(dir, at))
}

fn mark(dir: &Path, at: StreamTime) -> PathBuf {
    dir.join(format!("{:020}.{EXPIRED}", at.nanos()))
}

fn parse(path: &Path) -> Option<(StreamTime, &'static str)> {
    let kind = match path.extension()?.to_str()? {
        SEGMENT => SEGMENT,
        EXPIRED => EXPIRED,
        _ => return None,
    };
    let stem = path.file_stem()?.to_str()?;
    let nanos = stem.split('_').next().filter(|digits| digits.len() == 20)?.parse().ok()?;
    Some((StreamTime::from_nanos(nanos), kind))
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
        mark_expired(dir, at(3)).expect("is noted");
        mark_expired(dir, at(2)).expect("changes nothing");
        mark_expired(dir, at(4)).expect("is noted");
        let shelf = Shelf::list(dir).expect("can be listed");
        assert_eq!(shelf.segments.iter().map(|segment| segment.start).collect::<Vec<_>>(), [at(4), at(30)]);
        assert_eq!(shelf.expired, Some(at(4)));
        assert_eq!(fs::read_dir(dir).expect("listed").count(), 2 + 5 + 1, "old marks stay");
    }
}
