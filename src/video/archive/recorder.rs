//! The thread that writes one stream's pictures into segments. It alone waits for the disk.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

use super::segment::Writing;
use super::shelf;
use super::track::{Item, Track, Trouble};
use super::unit::{Codec, Unit};

/// Writes until nobody sends any more. A disk that fails is tried again with every key picture.
pub(super) struct Recorder {
    pub(super) track: Arc<Track>,
    /// After this a segment ends at the next key picture.
    pub(super) segment: Duration,
    /// Wakes the keeper when the disk refuses pictures.
    pub(super) keeper: SyncSender<()>,
    open: Option<Writing>,
    /// Why the last picture could not be written.
    failed: Option<Trouble>,
}

impl Recorder {
    pub(super) fn new(track: Arc<Track>, segment: Duration, keeper: SyncSender<()>) -> Self {
        Self { track, segment, keeper, open: None, failed: None }
    }

    /// Works until nobody sends any more.
    pub(super) fn run(mut self, items: &Receiver<Item>) {
        while let Ok(item) = items.recv() {
            self.deal_with(item);
        }
        self.close();
        self.track.metrics.set_recording(false);
    }

    pub(super) fn deal_with(&mut self, item: Item) {
        match item {
            Item::Picture { codec, unit, begins } => self.take(&codec, &unit, begins),
            Item::End => {
                self.close();
                self.track.metrics.set_recording(false);
            }
        }
    }

    fn take(&mut self, codec: &Codec, unit: &Unit, begins: bool) {
        let bytes = unit.data.len();
        if begins || self.is_due(codec, unit) {
            self.close();
        }
        match self.write(codec, unit) {
            Ok(begun) => {
                if begun && (begins || self.failed.take().is_some()) {
                    self.track.well(unit.stamp.at);
                }
                self.track.written(unit.stamp.at, bytes);
            }
            Err(trouble) => {
                self.close();
                self.failed = Some(trouble.clone());
                self.track.lost(unit.stamp.at, trouble);
                self.track.left(bytes);
                // A full queue means that the keeper is awake.
                let _ = self.keeper.try_send(());
            }
        }
    }

    /// Whether the segment ends before `unit`.
    fn is_due(&self, codec: &Codec, unit: &Unit) -> bool {
        self.open.as_ref().is_some_and(|open| {
            let long = unit.stamp.at.saturating_since(open.start()) >= self.segment;
            let full = !self.track.room.load(Ordering::Relaxed);
            open.codec() != codec || (unit.key && (long || full || open.is_gone()))
        })
    }

    /// Says whether a segment was begun.
    fn write(&mut self, codec: &Codec, unit: &Unit) -> Result<bool, Trouble> {
        if let Some(open) = &mut self.open {
            return open.append(unit).map(|()| false).map_err(failed);
        }
        if !self.track.room.load(Ordering::Relaxed) {
            return Err(Trouble::Space);
        }
        if !unit.key {
            // The rest of a group of pictures whose beginning could not be written.
            return Err(self.failed.clone().unwrap_or_else(|| Trouble::Disk("a segment broke off".to_owned())));
        }
        let title = format!("{} {}", self.track.stream, unit.stamp.wall);
        let path = shelf::segment_path(&self.track.dir, unit.stamp.at, unit.stamp.wall);
        // Known as open before it is there, so that it is never deleted.
        self.track.set_open(Some(path.clone()));
        self.open = Some(Writing::begin(path, &title, codec, unit).map_err(failed)?);
        Ok(true)
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            self.track.set_open(None);
            return;
        };
        if let Err(error) = open.finish() {
            tracing::warn!(stream = %self.track.stream, %error, "a segment may not survive a power cut");
        }
        self.track.set_open(None);
    }
}

fn failed(error: io::Error) -> Trouble {
    Trouble::Disk(error.to_string())
}
