//! What all moments of a window say about one thing: seen, not seen, or not to be concluded.

use serde::{Deserialize, Serialize};

use super::{StreamId, StreamTime};

/// What a question wants to know about the thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wants {
    /// Was it there?
    Presence,
    /// Was nothing there?
    Emptiness,
    /// How many times?
    Times,
    /// How long?
    Duration,
    /// When, or when first or last?
    When,
}

/// What may be concluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// At least one caption speaks of it. Whether that is so is for the verdicts to say.
    Seen,
    /// No caption speaks of it, and enough of the window was seen to say so.
    NotSeen,
    /// No caption clearly speaks of it, and that proves nothing.
    Undecided,
}

impl Conclusion {
    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::NotSeen => "not_seen",
            Self::Undecided => "undecided",
        }
    }
}

/// Why nothing may be concluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// Too little of the window was seen.
    Coverage,
    /// The captioner never says such a word, whatever it sees.
    Vocabulary,
    /// Some captions speak of it, and do not tell whether as asked.
    Unclear,
}

/// A stretch of one stream, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The stream.
    pub stream: StreamId,
    /// Its first sample.
    pub from: StreamTime,
    /// Its last sample.
    pub to: StreamTime,
}

/// How much of the window was seen, counted in samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Coverage {
    /// Samples that the window should hold.
    pub due: u64,
    /// Samples of which a caption says something.
    pub seen: u64,
    /// Samples whose picture showed nothing, or nothing that could be named.
    pub unobservable: u64,
    /// Samples that are missing.
    pub missing: u64,
    /// Where samples are missing or showed nothing, by time; no more than the first ones are told.
    pub gaps: Vec<Stretch>,
}

impl Coverage {
    /// Part of the window that was seen, 0 to 1; 0 of an empty window.
    pub fn share(&self) -> f64 {
        if self.due == 0 { 0.0 } else { self.seen as f64 / self.due as f64 }
    }
}

/// A number that is known to lie between two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Bounds {
    /// The least it can be.
    pub least: f64,
    /// The most it can be, as far as samples tell.
    pub most: f64,
}

/// What all moments of a window say about one thing.
///
/// It is no verdict: a verdict is about one frame, and no frame shows an absence. It counts what stored captions say, so
/// "not seen" means that no caption speaks of it, which is told with its coverage and never labelled GROUNDED.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// The thing: "a dog".
    pub subject: String,
    /// What the question wants to know about it.
    pub wants: Wants,
    /// What may be concluded.
    pub conclusion: Conclusion,
    /// Why nothing may be.
    pub doubt: Option<Doubt>,
    /// How much of the window was seen.
    pub coverage: Coverage,
    /// Part of the window that must have been seen for an absence to be concluded.
    pub floor: f64,
    /// Samples whose caption speaks of it.
    pub shown: u64,
    /// Samples whose caption speaks of it without telling whether as asked.
    pub unclear: u64,
    /// Where it was shown, by time; samples one after the other are one stretch. No more than the first ones are told.
    pub stretches: Vec<Stretch>,
    /// How many separate times: stretches on both sides of a gap may be one.
    pub times: Bounds,
    /// For how many seconds: from first to last sample of each stretch, and up to the samples around it.
    pub seconds: Bounds,
}
