//! Tells the board, the metrics and the world how a stream fares.

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::board::{Board, DropReason};
use super::metrics::StreamMetrics;
use crate::domain::{Event, Frame, Moment, StreamId, StreamKind, StreamState, WallTime};
use crate::stop::Stop;

/// One stream's voice; shared by its thread and its task.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    pub(super) stream: StreamId,
    pub(super) board: Board,
    pub(super) metrics: StreamMetrics,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) stop: Stop,
}

impl Teller {
    /// The stream is being opened, for the first time or anew.
    pub(super) fn begin(&self, kind: StreamKind) {
        self.board.add(&self.stream, kind);
        self.tell(StreamState::Connecting, "", WallTime::now());
    }

    /// A state is told once, and stays "down" (or "stalled", "auth_failed") with its reason through all attempts to open
    /// the source again. If nobody takes events at the moment the event is left out: the board still has the state.
    pub(super) fn state(&self, state: StreamState, detail: &str) {
        let wall = WallTime::now();
        if self.board.set_state(&self.stream, state, detail, wall) {
            self.tell(state, detail, wall);
        }
    }

    fn tell(&self, state: StreamState, detail: &str, wall: WallTime) {
        self.metrics.set_state(state);
        tracing::info!(stream = %self.stream, state = state.as_str(), detail, "stream state");
        let event = Event::State { stream: self.stream.clone(), state, detail: detail.to_owned(), wall };
        if let Err(TrySendError::Full(_)) = self.events.try_send(event) {
            tracing::warn!(stream = %self.stream, state = state.as_str(), "state not announced: too many events wait");
        }
    }

    /// A sampled frame arrived.
    pub(super) fn frame(&self, frame: &Frame) {
        self.metrics.count_frame(WallTime::now());
        self.board.count_frame(&self.stream, frame.at, frame.wall);
    }

    /// A sampled frame gets no caption.
    pub(super) fn dropped(&self, reason: DropReason) {
        self.metrics.count_drop(reason);
        self.board.count_drop(&self.stream, reason);
    }

    /// A moment was committed.
    pub(super) async fn moment(&self, moment: Moment, lag: std::time::Duration) {
        self.metrics.count_moment(lag);
        self.board.count_moment(&self.stream, lag);
        self.announce(Event::Caption(moment)).await;
    }

    /// Waits for a place among the events, but not beyond the end.
    pub(super) async fn announce(&self, event: Event) {
        let place = tokio::select! {
            biased;
            place = self.events.reserve() => place,
            () = self.stop.asked() => self.events.try_reserve().map_err(|_| mpsc::error::SendError(())),
        };
        // Without a receiver nobody wants to know.
        if let Ok(place) = place {
            place.send(event);
        }
    }
}
