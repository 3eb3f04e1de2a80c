//! Live streams recorded as they come, without re-encoding, and their frames given back.
//!
//! ```text
//! camera's thread ─(256 pictures, lost when full)─▶ recorder ─▶ <dir>/<stream>/<epoch>/<stream time>_<time of day>.mkv
//! keeper: deletes what is past its retention          evidence: lists, reads, decodes
//! ```
//!
//! A recorder thread a stream, from its first picture until the stream is released, owns the file that is written; the
//! keeper thread owns deletion; readers own nothing. The streaming threads never wait here.
//!
//! # Decisions
//! - 2026-11: own segments instead of `splitmuxsink`: a picture's exact stream time, time of day and clock stand beside
//!   it; each picture is on disk, readable and checked as soon as it was written; a full or slow disk is a value here
//!   and not an error of the camera's pipeline. The files are plain Matroska all the same.
//! - 2026-11: no index of segments. File names tell where they begin, and reading one tells what it holds, so nothing
//!   can disagree after a crash.
//! - 2026-11: a directory an epoch. Stream times count from the epoch that the memory keeps; with another memory the
//!   old recordings mean nothing and only wait for their retention.

mod config;
mod keeper;
mod matroska;
mod recall;
mod recorder;
mod retention;
mod segment;
mod shelf;
#[cfg(test)]
mod tests;
mod track;
mod unit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

pub use config::Config;
pub(super) use recall::Recall;
pub(super) use track::{Feed, Track};
pub(super) use unit::{Codec, Coding, Unit};

use super::metrics::Metrics;
use crate::domain::{StreamId, WallTime};

/// Why segments are deleted, as metrics say it.
pub(super) const DELETIONS: [&str; 3] =
    [retention::Why::Age.as_str(), retention::Why::Bytes.as_str(), retention::Why::Space.as_str()];

/// Why nothing can be recorded.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The directory.
    #[error("archive.dir {dir} cannot be used: {source}")]
    Directory {
        /// As configured.
        dir: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A thread.
    #[error("a thread of the archive cannot be started")]
    Thread(#[source] std::io::Error),
}

/// The recordings of all streams. Every clone is the same archive; its threads end with the last one.
#[derive(Debug, Clone)]
pub(super) struct Archive(Arc<Shared>);

/// What the threads share.
#[derive(Debug)]
struct Shared {
    config: Config,
    metrics: Metrics,
    /// Whether the disk has room.
    room: Arc<AtomicBool>,
    /// By directory.
    tracks: Mutex<BTreeMap<PathBuf, Slot>>,
    keeper: SyncSender<()>,
    /// What was wrong at the last sweep.
    told: Mutex<String>,
}

#[derive(Debug)]
struct Slot {
    track: Arc<Track>,
    /// Absent once the stream was released: its recorder ends when it has written what waits.
    queue: Option<SyncSender<track::Item>>,
}

impl Archive {
    /// Deletes what is past its retention, and goes on doing so. The directory is made when there is something to record.
    pub(super) fn open(config: &Config, metrics: Metrics) -> Result<Self, ArchiveError> {
        let dir = std::path::absolute(&config.dir)
            .map_err(|source| ArchiveError::Directory { dir: config.dir.clone(), source })?;
        let config = Config { dir, ..config.clone() };
        let (keeper, woken) = sync_channel(1);
        let room = Arc::new(AtomicBool::new(true));
        let shared =
            Arc::new(Shared { config, metrics, room, tracks: Mutex::default(), keeper, told: Mutex::default() });
        shared.sweep();
        let weak = Arc::downgrade(&shared);
        let keep = move || keep(&weak, &woken);
        thread::Builder::new().name("gvqa-keeper".to_owned()).spawn(keep).map_err(ArchiveError::Thread)?;
        Ok(Self(shared))
    }

    /// Where the camera's thread hands its pictures over.
    pub(super) fn feed(&self, stream: &StreamId, epoch: WallTime) -> Result<Feed, ArchiveError> {
        let dir = self.dir(stream, epoch);
        let mut tracks = self.0.lock();
        if let Some(Slot { track, queue: Some(queue) }) = tracks.get(&dir) {
            return Ok(Feed::new(Arc::clone(track), queue.clone()));
        }
        let (queue, items) = sync_channel(track::MAX_WAITING);
        let metrics = self.0.metrics.recorded(stream);
        let track = Arc::new(Track::new(stream.clone(), dir.clone(), metrics, Arc::clone(&self.0.room)));
        let recorder = recorder::Recorder::new(Arc::clone(&track), self.0.config.segment.0, self.0.keeper.clone());
        let (shared, ending) = (Arc::downgrade(&self.0), Arc::clone(&track));
        let record = move || {
            recorder.run(&items);
            if let Some(shared) = shared.upgrade() {
                shared.ended(&ending);
            }
        };
        thread::Builder::new().name(format!("record-{stream}")).spawn(record).map_err(ArchiveError::Thread)?;
        tracks.insert(dir, Slot { track: Arc::clone(&track), queue: Some(queue.clone()) });
        Ok(Feed::new(track, queue))
    }

    /// Ends the recorder of a stream whose feeds are gone, once it has written what waits. What was recorded stays; a
    /// new feed has a recorder of its own.
    pub(super) fn release(&self, stream: &StreamId) {
        for slot in self.0.lock().values_mut().filter(|slot| slot.track.stream == *stream) {
            slot.queue = None;
        }
    }

    /// The past of a live stream.
    pub(super) fn recall(&self, stream: &StreamId, epoch: WallTime) -> Recall {
        Recall::new(self.clone(), stream, self.dir(stream, epoch))
    }

    /// The epochs of which a stream has recordings.
    pub(super) fn epochs(&self, stream: &StreamId) -> Vec<WallTime> {
        let entries = std::fs::read_dir(self.0.config.dir.join(stream.as_str())).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut epochs: Vec<WallTime> = names.filter_map(|nanos| WallTime::from_nanos(nanos).ok()).collect();
        epochs.sort_unstable();
        epochs
    }

    /// The recording of a stream, if it is recorded at present.
    fn track(&self, dir: &Path) -> Option<Arc<Track>> {
        self.0.lock().get(dir).map(|slot| Arc::clone(&slot.track))
    }

    fn dir(&self, stream: &StreamId, epoch: WallTime) -> PathBuf {
        self.0.config.dir.join(stream.as_str()).join(epoch.nanos().to_string())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Slot>> {
        self.tracks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_paths(&self) -> Vec<PathBuf> {
        self.lock().values().filter_map(|slot| slot.track.open_path()).collect()
    }

    /// A recorder has ended; another one may have followed it in the same directory.
    fn ended(&self, track: &Arc<Track>) {
        let mut tracks = self.lock();
        if tracks.get(&track.dir).is_some_and(|slot| Arc::ptr_eq(&slot.track, track)) {
            tracks.remove(&track.dir);
        }
    }

    fn is_recorded(&self, dir: &Path) -> bool {
        self.lock().contains_key(dir)
    }

    /// Deletes what is due. What goes wrong is told; the disk is taken to have room as before.
    fn sweep(&self) {
        let swept = keeper::sweep(self);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match swept {
            Ok(room) => {
                told.clear();
                if self.room.swap(room, Ordering::Relaxed) != room {
                    let (dir, min_free) = (self.config.dir.display(), self.config.min_free);
                    tracing::warn!(%dir, min_free, room, "the room on the archive's disk has changed");
                }
            }
            // Each picture that the disk refuses leads here: the same trouble is told once.
            Err(error) if *told == error.to_string() => {}
            Err(error) => {
                tracing::error!(dir = %self.config.dir.display(), %error, "the archive cannot be looked through");
                *told = error.to_string();
            }
        }
    }
}

fn keep(shared: &Weak<Shared>, woken: &Receiver<()>) {
    loop {
        if let Err(RecvTimeoutError::Disconnected) = woken.recv_timeout(keeper::SWEEP_EVERY) {
            return;
        }
        let Some(shared) = shared.upgrade() else { return };
        shared.sweep();
    }
}
