//! Stretches of a stream in which nothing could be seen.

use serde::{Deserialize, Serialize};

use super::{StreamId, StreamTime, WallTime};

/// Why pictures that arrive show nothing of the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blindness {
    /// Dark all over.
    Black,
    /// One brightness all over: covered, sprayed, or without a signal.
    Covered,
    /// The same picture again and again.
    Frozen,
}

impl Blindness {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Black, Self::Covered, Self::Frozen];

    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::Covered => "covered",
            Self::Frozen => "frozen",
        }
    }

    /// The same for a reader.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Black => "the picture is black",
            Self::Covered => "the picture is one flat colour",
            Self::Frozen => "the camera shows the same picture again and again",
        }
    }
}

/// A stretch of a stream, both ends included, in which every sampled picture showed nothing. What the memory says about
/// times inside it does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlindSpan {
    /// The stream.
    pub stream: StreamId,
    /// The first picture that showed nothing.
    pub from: StreamTime,
    /// The last one.
    pub until: StreamTime,
    /// Time of day of the first one.
    pub wall: WallTime,
    /// Why.
    pub why: Blindness,
}

impl BlindSpan {
    /// Whether nothing could be seen at `at`.
    pub fn contains(&self, at: StreamTime) -> bool {
        (self.from..=self.until).contains(&at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_serde_writes() {
        for why in Blindness::ALL {
            assert_eq!(serde_json::to_string(&why).expect("serialises"), format!("\"{}\"", why.as_str()));
        }
    }
}
