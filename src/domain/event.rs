//! What the daemon tells the world without being asked.

use super::{Moment, StreamId, StreamState, Verdict, WallTime};

/// Something that happened. A moment is told only after it was committed.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A caption entered the memory.
    Caption(Moment),
    /// A claim was checked.
    Verdict(Box<Verdict>),
    /// A stream came up, went down, or ended.
    State {
        /// The stream.
        stream: StreamId,
        /// How it fares now.
        state: StreamState,
        /// Why, for a reader; empty if the state says all.
        detail: String,
        /// Since when.
        wall: WallTime,
    },
}
