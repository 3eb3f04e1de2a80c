//! What is known of every stream, for whoever asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::domain::{Blindness, StreamId, StreamKind, StreamState, StreamTime, WallTime};

/// Why a sampled frame got no caption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// A newer live frame arrived while this one was still waiting.
    Full,
    /// A live frame had waited for more than two sampling intervals when the captioner would have begun with it.
    Old,
    /// Not later than the last stored moment.
    Late,
    /// The captioner or the index cannot take this frame, however often it is tried.
    Refused,
    /// A model failed over a live frame.
    Model,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 5] = [Self::Full, Self::Old, Self::Late, Self::Refused, Self::Model];

    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Old => "old",
            Self::Late => "late",
            Self::Refused => "refused",
            Self::Model => "model",
        }
    }
}

/// How one stream fares.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamStatus {
    /// The stream.
    pub stream: StreamId,
    /// Whether it has an end.
    pub kind: StreamKind,
    /// How it fares now.
    pub state: StreamState,
    /// Why, for a reader; empty if the state says all.
    pub detail: String,
    /// Since when it fares so.
    pub since: WallTime,
    /// Stream time of the last sampled frame.
    pub last_frame_at: Option<StreamTime>,
    /// Time of day of the last sampled frame.
    pub last_wall: Option<WallTime>,
    /// Why the pictures that arrive show nothing; `None` while they show something.
    pub blind: Option<Blindness>,
    /// Stream time in which nothing was seen, all in all.
    pub unobservable: Duration,
    /// Moments in the index.
    pub moments: u64,
    /// Sampled frames without a caption since this process started, by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    /// Seconds from the arrival of the last captioned frame to its commit.
    pub lag_s: Option<f64>,
}

/// The statuses of all streams; every clone sees the same ones.
#[derive(Debug, Clone, Default)]
pub struct Board(Arc<Mutex<BTreeMap<StreamId, StreamStatus>>>);

impl Board {
    /// An empty board.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every stream, in the order of the ids.
    pub fn snapshot(&self) -> Vec<StreamStatus> {
        self.lock().values().cloned().collect()
    }

    /// One stream.
    pub fn status(&self, stream: &StreamId) -> Option<StreamStatus> {
        self.lock().get(stream).cloned()
    }

    /// Shows a stream anew, as being opened.
    pub(super) fn add(&self, stream: &StreamId, kind: StreamKind) {
        self.show(stream, kind, StreamState::Connecting, 0);
    }

    /// Shows a stream that is not watched, but whose moments can be asked about.
    pub(super) fn keep(&self, stream: &StreamId, kind: StreamKind, moments: u64) {
        self.show(stream, kind, StreamState::Removed, moments);
    }

    /// Shows a stream no longer.
    pub(super) fn forget(&self, stream: &StreamId) {
        self.lock().remove(stream);
    }

    fn show(&self, stream: &StreamId, kind: StreamKind, state: StreamState, moments: u64) {
        let status = StreamStatus {
            stream: stream.clone(),
            kind,
            state,
            detail: String::new(),
            since: WallTime::now(),
            last_frame_at: None,
            last_wall: None,
            blind: None,
            unobservable: Duration::ZERO,
            moments,
            dropped: DropReason::ALL.map(|reason| (reason, 0)).into(),
            lag_s: None,
        };
        self.lock().insert(stream.clone(), status);
    }

    /// Says whether anything changed. `Ended` and `Failed` are final: the narrator's two halves end at their own pace,
    /// and the slower one shall not say otherwise. Only a removal follows them, and nothing follows that.
    pub(super) fn set_state(&self, stream: &StreamId, state: StreamState, detail: &str, since: WallTime) -> bool {
        self.with(stream, |status| {
            let is_final = match status.state {
                StreamState::Ended | StreamState::Failed => state != StreamState::Removed,
                StreamState::Removed => true,
                _ => false,
            };
            let is_news = !is_final && (status.state != state || status.detail != detail);
            if is_news {
                (status.state, status.since) = (state, since);
                detail.clone_into(&mut status.detail);
            }
            is_news
        })
    }

    /// Says whether that is news.
    pub(super) fn set_blind(&self, stream: &StreamId, blind: Option<Blindness>) -> bool {
        self.with(stream, |status| std::mem::replace(&mut status.blind, blind) != blind)
    }

    pub(super) fn set_unobservable(&self, stream: &StreamId, total: Duration) {
        self.with(stream, |status| status.unobservable = total);
    }

    pub(super) fn set_moments(&self, stream: &StreamId, moments: u64) {
        self.with(stream, |status| status.moments = moments);
    }

    /// What an earlier life of the daemon left: how many moments, and the times of the last one.
    pub(super) fn set_memory(&self, stream: &StreamId, moments: u64, last: Option<(StreamTime, WallTime)>) {
        self.with(stream, |status| {
            status.moments = moments;
            (status.last_frame_at, status.last_wall) = last.unzip();
        });
    }

    pub(super) fn count_frame(&self, stream: &StreamId, at: StreamTime, wall: WallTime) {
        self.with(stream, |status| (status.last_frame_at, status.last_wall) = (Some(at), Some(wall)));
    }

    pub(super) fn count_drop(&self, stream: &StreamId, reason: DropReason) {
        self.with(stream, |status| *status.dropped.entry(reason).or_default() += 1);
    }

    pub(super) fn count_moment(&self, stream: &StreamId, lag: Duration) {
        self.with(stream, |status| {
            status.moments += 1;
            status.lag_s = Some(lag.as_secs_f64());
        });
    }

    fn with<T: Default>(&self, stream: &StreamId, change: impl FnOnce(&mut StreamStatus) -> T) -> T {
        self.lock().get_mut(stream).map(change).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<StreamId, StreamStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_shows_what_it_was_told() {
        let (board, cam) = (Board::new(), StreamId::new("cam").expect("valid"));
        assert!(!board.set_state(&cam, StreamState::Up, "", WallTime::now()), "an unknown stream has no state");
        board.add(&cam, StreamKind::Live);
        assert!(board.set_state(&cam, StreamState::Down, "cable", WallTime::now()));
        assert!(!board.clone().set_state(&cam, StreamState::Down, "cable", WallTime::now()), "nothing new");
        board.set_moments(&cam, 4);
        board.count_moment(&cam, Duration::from_millis(1500));
        board.count_drop(&cam, DropReason::Full);
        let status = board.status(&cam).expect("known");
        assert_eq!((status.state, status.detail.as_str(), status.moments), (StreamState::Down, "cable", 5));
        assert_eq!((status.lag_s, status.dropped[&DropReason::Full]), (Some(1.5), 1));
        assert_eq!(board.snapshot(), [status]);
        assert!(board.set_state(&cam, StreamState::Failed, "no video", WallTime::now()));
        assert!(!board.set_state(&cam, StreamState::Down, "cable", WallTime::now()), "failed is final");
        assert!(board.set_state(&cam, StreamState::Removed, "", WallTime::now()), "but for a removal");
        assert!(!board.set_state(&cam, StreamState::Down, "cable", WallTime::now()), "removed is final");
        board.add(&cam, StreamKind::Live);
        assert!(board.set_state(&cam, StreamState::Up, "", WallTime::now()), "until it is watched anew");
        board.keep(&cam, StreamKind::Live, 7);
        let kept = board.status(&cam).expect("known");
        assert_eq!((kept.state, kept.moments), (StreamState::Removed, 7));
        board.forget(&cam);
        assert_eq!(board.snapshot(), []);
    }
}
