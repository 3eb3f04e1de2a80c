//! What is told without being asked. A verdict event is [`super::Verdict`]; an evidence event is a JPEG with headers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema::{Rfc3339, Token};
use super::{Moment, V1};
use crate::domain::{Blindness, Fingerprint, StreamId, StreamState, WallTime};

/// `caption.<stream>`: a moment was committed to the memory; again, with the same `moment_id` and a later `until`, when
/// unchanged pictures made it longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "caption event")]
pub struct CaptionEvent {
    /// Version of this message.
    pub v: V1,
    /// What was committed.
    #[serde(flatten)]
    pub moment: Moment,
    /// Which captioner.
    pub captioner: Fingerprint,
    /// Which embedder.
    pub embedder: Fingerprint,
}

/// What a state event tells: how the stream fares, or what its pictures show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EventState {
    /// How the stream fares.
    Stream(StreamState),
    /// Pictures arrive and show nothing: black, covered, frozen.
    Blind(Blindness),
    /// They show something again.
    Seeing(Seeing),
}

/// The end of blindness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Seeing {
    /// The pictures show something again.
    Recovered,
}

impl EventState {
    /// What pictures show.
    pub fn of_sight(blind: Option<Blindness>) -> Self {
        blind.map_or(Self::Seeing(Seeing::Recovered), Self::Blind)
    }

    /// The word in the message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stream(state) => state.as_str(),
            Self::Blind(why) => why.as_str(),
            Self::Seeing(Seeing::Recovered) => "recovered",
        }
    }
}

/// `state.<stream>`: a stream came up, went down, ended, or was removed, or its pictures began or ceased to show nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "state event")]
pub struct StateEvent {
    /// Version of this message.
    pub v: V1,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// How it fares now, or what its pictures show.
    pub state: EventState,
    /// Why; empty if the state says all.
    pub detail: String,
    /// Since when.
    #[schemars(with = "Rfc3339")]
    pub wall: WallTime,
}
