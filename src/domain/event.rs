//! What the daemon tells the world without being asked.

use super::{Blindness, Moment, StreamId, StreamState, Verdict, WallTime};

/// Something that happened. A moment is told only after it was committed.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A caption entered the memory.
    Caption(Moment),
    /// The last moment of a stream lasts longer: unchanged pictures followed.
    Extended(Moment),
    /// A claim was checked.
    Verdict(Box<Verdict>),
    /// A stream came up, went down, ended, or was removed.
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
    /// Pictures arrive and show nothing, or show something again.
    Sight {
        /// The stream.
        stream: StreamId,
        /// Why nothing can be seen; `None` if something can be seen again.
        blind: Option<Blindness>,
        /// Time of day of the first such picture.
        wall: WallTime,
    },
}
