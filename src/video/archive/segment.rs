//! One segment file: writing it, one write a picture, and reading what is whole of it, at any time.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::matroska::{self, Clusters, HEAD, MAX_FILE_HEAD, Note};
use super::unit::{Codec, Unit};
use crate::domain::StreamTime;

/// What was written is told to the disk this often; a power cut costs no more.
const SYNC_EVERY: Duration = Duration::from_secs(10);

/// A segment that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    file: File,
    path: PathBuf,
    codec: Codec,
    start: StreamTime,
    clusters: Clusters,
    /// Bytes of whole pictures.
    good: u64,
    buffer: Vec<u8>,
    synced: Instant,
}

impl Writing {
    /// Begins a file with `unit`, a key picture.
    pub(super) fn begin(path: PathBuf, title: &str, codec: &Codec, unit: &Unit) -> io::Result<Self> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let file = File::options().write(true).create_new(true).open(&path)?;
        let mut writing = Self {
            file,
            path,
            codec: codec.clone(),
            start: unit.stamp.at,
            clusters: Clusters::default(),
            good: 0,
            buffer: matroska::file_head(codec, title, unit.stamp.wall),
            synced: Instant::now(),
        };
        if let Err(error) = writing.append(unit) {
            // Nothing of use is in it.
            let _ = fs::remove_file(&writing.path);
            return Err(error);
        }
        Ok(writing)
    }

    /// Writes one picture. After an error the file holds the pictures before it, and nothing more is to be written.
    pub(super) fn append(&mut self, unit: &Unit) -> io::Result<()> {
        self.clusters.append(&mut self.buffer, unit, self.start);
        let written = self.file.write_all(&self.buffer);
        let bytes = self.buffer.len() as u64;
        self.buffer.clear();
        if let Err(error) = written {
            // What is torn is passed over by readers; here it would only take space.
            let _ = self.file.set_len(self.good);
            return Err(error);
        }
        self.good += bytes;
        if unit.key && self.synced.elapsed() >= SYNC_EVERY {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Whether somebody deleted it: it takes whatever is written to it, and nobody will ever read that.
    pub(super) fn is_gone(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }

    /// Ends it; on disk for good if there is no error.
    pub(super) fn finish(self) -> io::Result<()> {
        self.file.sync_data()?;
        self.path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
    }

    /// What it holds.
    pub(super) fn codec(&self) -> &Codec {
        &self.codec
    }

    /// Stream time of its first picture.
    pub(super) fn start(&self) -> StreamTime {
        self.start
    }
}

/// Where a picture is in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) note: Note,
    /// First byte of the picture.
    offset: u64,
}

/// A segment that is read; it may be written at the same time, or have been left in the middle of a picture.
#[derive(Debug)]
pub(super) struct Reading {
    file: File,
    pub(super) codec: Codec,
    /// Every whole picture in the order in which they were sent.
    pub(super) entries: Vec<Entry>,
}

impl Reading {
    /// Reads the file's head and the notes of its pictures, as far as they are whole. `None` if not even the head is.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = vec![0; usize::try_from(length).unwrap_or(usize::MAX).min(4096)];
        file.read_exact_at(&mut head, 0)?;
        let mut found = matroska::read_head(&head);
        if found.is_none() && length > head.len() as u64 {
            head.resize(usize::try_from(length).unwrap_or(usize::MAX).min(MAX_FILE_HEAD), 0);
            file.read_exact_at(&mut head, 0)?;
            found = matroska::read_head(&head);
        }
        let Some((codec, at)) = found else { return Ok(None) };
        let entries = entries(&file, at as u64, length)?;
        Ok(Some(Self { file, codec, entries }))
    }

    /// A picture's bytes; `None` if they are not what was written.
    pub(super) fn data(&self, entry: &Entry) -> io::Result<Option<Bytes>> {
        let mut data = vec![0; entry.note.bytes as usize];
        self.file.read_exact_at(&mut data, entry.offset)?;
        Ok(entry.note.fits(&data).then(|| data.into()))
    }
}

fn entries(file: &File, mut at: u64, length: u64) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut head = [0; HEAD];
    while at < length {
        let there = usize::try_from(length - at).unwrap_or(HEAD).min(HEAD);
        file.read_exact_at(&mut head[..there], at)?;
        let Some(note) = matroska::read_note(&head[..there]) else { break };
        let offset = at + note.head as u64;
        at = offset + u64::from(note.bytes);
        if at <= length {
            entries.push(Entry { note, offset });
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::super::super::clock::Stamp;
    use super::super::unit::Coding;
    use super::*;
    use crate::domain::{Clock, WallTime};

    fn unit(ms: u64, key: bool, bytes: usize) -> Unit {
        let stamp = Stamp {
            at: StreamTime::from_nanos(ms * 1_000_000),
            wall: WallTime::from_nanos(1_790_000_000_000_000_000).expect("in range"),
            clock: Clock::Arrival,
            precision: Duration::from_millis(20),
        };
        Unit { stamp, key, data: vec![ms as u8; bytes].into() }
    }

    fn times(path: &Path) -> Vec<u64> {
        let reading = Reading::open(path).expect("can be read").expect("has a head");
        reading.entries.iter().map(|entry| entry.note.stamp.at.nanos() / 1_000_000).collect()
    }

    #[test]
    fn what_is_whole_can_be_read_at_every_length() {
        let dir = tempfile::tempdir().expect("a directory");
        // Parameter sets beyond the first read of the head.
        let codec = Codec { coding: Coding::H264, private: vec![7; 9000], width: 64, height: 48 };
        let path = dir.path().join("a.mkv");
        let length = || fs::metadata(&path).expect("is there").len();
        let mut writing = Writing::begin(path.clone(), "cam", &codec, &unit(0, true, 500)).expect("begins");
        let mut ends = vec![length()];
        for n in 1..5 {
            writing.append(&unit(n * 40, n == 3, 300)).expect("is written");
            assert_eq!(times(&path).len(), n as usize + 1, "while it is written");
            ends.push(length());
        }
        writing.finish().expect("is on disk");
        let whole = fs::read(&path).expect("is there");
        for length in (0..=whole.len()).rev().step_by(37) {
            fs::write(&path, &whole[..length]).expect("is cut");
            let due = ends.iter().filter(|end| **end <= length as u64).count();
            let found = Reading::open(&path).expect("can be read").map_or(0, |reading| reading.entries.len());
            assert_eq!(found, due, "cut to {length} bytes");
        }
    }

    #[test]
    fn damaged_pictures_are_not_given() {
        let dir = tempfile::tempdir().expect("a directory");
        let codec = Codec { coding: Coding::Jpeg, private: vec![], width: 64, height: 48 };
        let path = dir.path().join("a.mkv");
        let mut writing = Writing::begin(path.clone(), "cam", &codec, &unit(0, true, 100)).expect("begins");
        writing.append(&unit(40, true, 100)).expect("is written");
        drop(writing);
        let mut bytes = fs::read(&path).expect("is there");
        *bytes.last_mut().expect("has bytes") ^= 1;
        fs::write(&path, bytes).expect("is damaged");
        let reading = Reading::open(&path).expect("can be read").expect("has a head");
        let whole = reading.entries.iter().map(|entry| reading.data(entry).expect("can be read").is_some());
        assert_eq!(whole.collect::<Vec<_>>(), [true, false]);
    }
}
