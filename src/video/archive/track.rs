//! The recording of one stream, as seen from the three sides that share it: the camera's thread offers pictures and
//! never waits, the recorder writes them, evidence waits for what is on its way.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::metrics::{Loss, Recorded};
use super::unit::{Codec, Unit};
use crate::domain::{StreamId, StreamTime};

/// Pictures and bytes that may wait for the disk: some ten seconds of a camera.
pub(super) const MAX_WAITING: usize = 256;
const MAX_WAITING_BYTES: usize = 64 << 20;

/// What goes to the recorder.
#[derive(Debug)]
pub(super) enum Item {
    /// A picture; `begins` if it does not continue what was sent before.
    Picture { codec: Arc<Codec>, unit: Unit, begins: bool },
    /// The camera has gone.
    End,
}

/// Why pictures are not recorded at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Too many wait.
    Slow,
    /// Writing failed.
    Disk(String),
    /// Less than `min_free` is left.
    Space,
}

impl Trouble {
    fn loss(&self) -> Loss {
        match self {
            Self::Slow => Loss::Slow,
            Self::Disk(_) => Loss::Disk,
            Self::Space => Loss::Space,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Slow => "recording has gaps: the disk of the archive is too slow".to_owned(),
            Self::Disk(reason) => format!("recording is interrupted: {reason}"),
            Self::Space => "recording is interrupted: the disk has less than archive.min_free left".to_owned(),
        }
    }
}

/// What is shared of one stream's recording.
#[derive(Debug)]
pub(in crate::video) struct Track {
    pub(super) stream: StreamId,
    pub(super) dir: PathBuf,
    pub(super) metrics: Recorded,
    /// Whether the disk has room, as the keeper says.
    pub(super) room: Arc<AtomicBool>,
    waiting_bytes: AtomicUsize,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The last picture that was taken for recording, and the last that is in a file.
    taken: Option<StreamTime>,
    written: Option<StreamTime>,
    open: Option<PathBuf>,
    trouble: Option<Losing>,
}

/// Trouble that lasts.
#[derive(Debug)]
struct Losing {
    trouble: Trouble,
    /// Pictures lost since it began, and the last of them.
    lost: u64,
    last: StreamTime,
}

impl Track {
    pub(super) fn new(stream: StreamId, dir: PathBuf, metrics: Recorded, room: Arc<AtomicBool>) -> Self {
        let waiting_bytes = AtomicUsize::new(0);
        Self { stream, dir, metrics, room, waiting_bytes, state: Mutex::default(), moved: Condvar::new() }
    }

    /// Why pictures are lost at present, if they are.
    pub(in crate::video) fn trouble(&self) -> Option<String> {
        self.lock().trouble.as_ref().map(|losing| losing.trouble.text())
    }

    /// The file that is being written.
    pub(super) fn open_path(&self) -> Option<PathBuf> {
        self.lock().open.clone()
    }

    pub(super) fn set_open(&self, path: Option<PathBuf>) {
        self.lock().open = path;
    }

    /// A picture is in its file.
    pub(super) fn written(&self, at: StreamTime, bytes: usize) {
        self.metrics.count();
        let mut state = self.lock();
        state.written = state.written.max(Some(at));
        drop(state);
        self.left(bytes);
    }

    /// The picture at `at` is lost. Told when trouble begins, not for each.
    pub(super) fn lost(&self, at: StreamTime, trouble: Trouble) {
        self.metrics.count_loss(trouble.loss());
        let mut state = self.lock();
        let before = state.trouble.take();
        if before.as_ref().is_none_or(|losing| losing.trouble != trouble) {
            tracing::error!(stream = %self.stream, dir = %self.dir.display(), "{}", trouble.text());
            self.metrics.set_recording(false);
        }
        let lost = before.map_or(0, |losing| losing.lost) + 1;
        state.trouble = Some(Losing { trouble, lost, last: at });
    }

    /// A segment begins at `at`. Pictures that were lost later are trouble still.
    pub(super) fn well(&self, at: StreamTime) {
        let mut state = self.lock();
        if let Some(losing) = state.trouble.take_if(|losing| losing.last < at) {
            tracing::info!(stream = %self.stream, lost = losing.lost, "recording again");
        }
        self.metrics.set_recording(state.trouble.is_none());
    }

    /// A picture has left the queue, written or not.
    pub(super) fn left(&self, bytes: usize) {
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.moved.notify_all();
    }

    /// Waits, but not beyond `patience`, until everything up to `at` that was taken is in a file. Without that, a picture
    /// that was captioned a moment ago might not be found.
    pub(super) fn catch_up(&self, at: StreamTime, patience: Duration) {
        let until = Instant::now() + patience;
        let mut state = self.lock();
        while state.written < state.taken.min(Some(at)) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.waiting_bytes.load(Ordering::Relaxed) == 0 {
                return;
            }
            state = self.moved.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The camera's end of a recording; dropping it ends the segment.
#[derive(Debug)]
pub(in crate::video) struct Feed {
    track: Arc<Track>,
    queue: SyncSender<Item>,
    codec: Option<Arc<Codec>>,
    /// Whether the next picture has to be a key picture of a new segment.
    begins: bool,
    /// Whether pictures were lost since the last one that was taken.
    losing: bool,
}

impl Feed {
    pub(super) fn new(track: Arc<Track>, queue: SyncSender<Item>) -> Self {
        Self { track, queue, codec: None, begins: true, losing: false }
    }

    /// Takes a picture for recording, or loses it at once if too many wait. After a loss everything up to the next key
    /// picture is lost as well: nothing could be decoded without what is missing.
    pub(in crate::video) fn offer(&mut self, codec: &Arc<Codec>, unit: Unit) {
        if self.codec.as_ref() != Some(codec) {
            (self.codec, self.begins) = (Some(Arc::clone(codec)), true);
        }
        if self.begins && !unit.key {
            if self.losing {
                self.track.lost(unit.stamp.at, Trouble::Slow);
            }
            return;
        }
        let (bytes, at) = (unit.data.len(), unit.stamp.at);
        let waiting = self.track.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let item = Item::Picture { codec: Arc::clone(codec), unit, begins: self.begins };
        let taken = if waiting > MAX_WAITING_BYTES { Err(()) } else { self.queue.try_send(item).map_err(|_| ()) };
        if taken.is_err() {
            (self.begins, self.losing) = (true, true);
            self.track.left(bytes);
            self.track.lost(at, Trouble::Slow);
            return;
        }
        (self.begins, self.losing) = (false, false);
        let mut state = self.track.lock();
        state.taken = state.taken.max(Some(at));
    }

    /// What is shared of the recording.
    pub(in crate::video) fn track(&self) -> &Arc<Track> {
        &self.track
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        // A full queue belongs to a disk that hangs; the next life begins a segment of its own anyway.
        if let Err(TrySendError::Full(_)) = self.queue.try_send(Item::End) {
            tracing::debug!(stream = %self.track.stream, "the segment stays open: too many pictures wait");
        }
    }
}
