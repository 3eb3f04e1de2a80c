//! The thread of a stream: pulls frames, hands them over, and opens the source again when it breaks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::backoff::{Backoff, state_after};
use super::board::DropReason;
use super::teller::Teller;
use crate::domain::{Frame, StreamKind, StreamState};
use crate::seams::{FrameSource, Origin, SourceError};

/// What passes from the thread to the task.
#[derive(Debug)]
pub(super) enum Item {
    /// A sampled frame, and when it arrived.
    Frame(Frame, Instant),
    /// The newest frame of a live stream may lie in its place.
    Newest,
    /// The file was read to its end.
    End,
}

/// Where the newest frame of a live stream waits, with the time of its arrival. Clones are the same place.
#[derive(Debug, Clone, Default)]
pub(super) struct Newest(Arc<Mutex<Option<(Frame, Instant)>>>);

impl Newest {
    /// Puts a frame there; says whether another one was waiting, which is gone now.
    fn put(&self, frame: Frame, arrived: Instant) -> bool {
        self.lock().replace((frame, arrived)).is_some()
    }

    /// The frame, if one waits.
    pub(super) fn take(&self) -> Option<(Frame, Instant)> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Frame, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread works with.
pub(super) struct Puller<O> {
    pub(super) open: O,
    pub(super) origin: Origin,
    pub(super) kind: StreamKind,
    pub(super) queue: mpsc::Sender<Item>,
    pub(super) newest: Newest,
    pub(super) teller: Teller,
    pub(super) backoff: Backoff,
}

/// When the first and the last frame of a life arrived.
type Lived = Option<(Instant, Instant)>;

/// How a life ended without an error.
enum Ending {
    /// The file was read to its end.
    File,
    /// The task takes nothing more.
    Unwanted,
}

impl<O: FnMut(Origin) -> Result<Box<dyn FrameSource>, SourceError>> Puller<O> {
    /// Lives until the file ends, the end is asked for, nobody takes frames any more, or opening again cannot help.
    pub(super) fn run(mut self) {
        loop {
            let mut lived = Lived::None;
            let error = match self.run_once(&mut lived) {
                Ok(Ending::Unwanted) | Err(SourceError::Stopped) => return,
                // A live source that had frames and ends without an error was a file behind an address.
                Ok(Ending::File) if self.kind == StreamKind::File || lived.is_some() => {
                    // Fails only if the task has ended, which has told why.
                    let _ = self.queue.blocking_send(Item::End);
                    return;
                }
                Ok(Ending::File) => {
                    SourceError::Lost { stream: self.teller.stream.clone(), reason: "the source ended".to_owned() }
                }
                Err(error) if !error.is_transient() => {
                    self.teller.state(StreamState::Failed, &error.to_string());
                    return;
                }
                Err(error) => error,
            };
            let lived = lived.map_or(Duration::ZERO, |(first, last)| last.saturating_duration_since(first));
            let wait = self.backoff.after(&error, lived, fastrand::f64());
            self.teller.state(state_after(&error), &error.to_string());
            tracing::debug!(stream = %self.teller.stream, ?wait, kind = error.kind(), "opening again after a pause");
            if self.teller.stop.pause(wait) || self.queue.is_closed() {
                return;
            }
            self.teller.metrics.count_reconnect(error.kind());
        }
    }

    /// One life of the source, from opening to its end.
    fn run_once(&mut self, lived: &mut Lived) -> Result<Ending, SourceError> {
        let mut source = (self.open)(self.origin)?;
        while let Some(frame) = source.next_frame()? {
            let arrived = Instant::now();
            let first = lived.map_or(arrived, |(first, _)| first);
            *lived = Some((first, arrived));
            self.teller.state(StreamState::Up, &source.remark());
            self.teller.frame(&frame);
            if self.origin.after.is_some_and(|after| frame.at <= after) {
                self.teller.dropped(DropReason::Late);
                continue;
            }
            self.origin.after = Some(frame.at);
            if self.hand_over(frame, arrived).is_err() {
                return Ok(Ending::Unwanted);
            }
        }
        Ok(Ending::File)
    }

    /// Waits with a file's frame; a live one takes the place of the one that still waits.
    fn hand_over(&self, frame: Frame, arrived: Instant) -> Result<(), Gone> {
        if self.kind == StreamKind::File {
            return self.queue.blocking_send(Item::Frame(frame, arrived)).map_err(|_| Gone);
        }
        if self.newest.put(frame, arrived) {
            self.teller.dropped(DropReason::Full);
        }
        // Where there is no room the task will look anyway.
        match self.queue.try_send(Item::Newest) {
            Ok(()) | Err(TrySendError::Full(_)) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(Gone),
        }
    }
}

/// Nobody takes frames any more.
struct Gone;
