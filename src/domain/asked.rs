//! What was understood of the time a question is about.

use serde::{Deserialize, Serialize};

use super::{Hit, StreamId, WallTime, Window, Zone};

/// In what order retrieved moments are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Most similar first.
    #[default]
    Relevance,
    /// Nearer to the beginning first, weighed with similarity.
    Earliest,
    /// Nearer to the end first, weighed with similarity.
    Latest,
    /// Of the similar ones, the earliest first.
    First,
    /// Of the similar ones, the latest first.
    Last,
    /// Nearest to the time asked about first.
    Nearest,
}

impl Order {
    /// The name used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Earliest => "earliest",
            Self::Latest => "latest",
            Self::First => "first",
            Self::Last => "last",
            Self::Nearest => "nearest",
        }
    }
}

/// Where to look once an event is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Beyond it.
    After,
    /// Up to it.
    Before,
    /// At the same time.
    During,
}

/// The part of one stream that was searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Searched {
    /// The stream.
    pub stream: StreamId,
    /// The part of it; `None` if the time asked about lies wholly outside what was watched.
    pub window: Option<Window>,
    /// Time of day at its beginning.
    pub from: Option<WallTime>,
    /// Time of day at its end; absent if there is no end.
    pub to: Option<WallTime>,
    /// Where the stream's clock hangs.
    pub zone: Zone,
}

/// An event that the question leans on: "after the man sits down".
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// What was looked for.
    pub event: String,
    /// Where to look from there.
    pub side: Side,
    /// The moment that is most likely it; `None` if nothing resembles it, and then it restricts nothing.
    pub found: Option<Hit>,
}

/// What was understood of the time a question is about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asked {
    /// The words that speak of time; empty if there are none.
    pub phrase: String,
    /// The order in which moments were taken.
    pub order: Order,
    /// What was searched, one entry a stream that holds moments.
    pub searched: Vec<Searched>,
    /// The event that was looked for first.
    pub anchor: Option<Anchor>,
}
