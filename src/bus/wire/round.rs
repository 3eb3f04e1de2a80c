//! What was done when the first claims of an answer did not suffice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::Stretch;
use super::schema::{Seconds, Token, Uuid};
use crate::domain::{How, StreamId, StreamTime, VerdictId, Why};

/// One more look at the evidence of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Why it was looked at again.
    pub why: Why,
    /// How.
    pub how: How,
    /// The stretches that it lay in, one a stream.
    pub windows: Vec<Stretch>,
    /// Moments or frames that claims were drafted from.
    pub looked_at: Vec<Place>,
    /// The verdicts on the claims that it added; each is among the claims of the answer.
    #[schemars(with = "Vec<Uuid>")]
    pub added: Vec<VerdictId>,
    /// How many of them are grounded.
    pub grounded: u64,
    /// Pictures that were captioned for it.
    pub captioned: u64,
    /// How long it took.
    pub seconds: f64,
    /// Why it was broken off; absent if it was not.
    pub trouble: Option<String>,
}

/// A place in a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// Seconds into it.
    #[schemars(with = "Seconds")]
    pub timestamp: StreamTime,
}

/// The claim that a repair stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepairedFrom {
    /// The verdict on that claim.
    #[schemars(with = "Uuid")]
    pub verdict_id: VerdictId,
    /// What it said.
    pub claim: String,
    /// The frame whose blind caption the repair was drafted from. It never proves the repair: another picture does.
    pub read_at: Place,
}
