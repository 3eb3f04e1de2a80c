//! What a claim does for an answer, which is another question than whether it holds.

use serde::{Deserialize, Serialize};

use super::VerdictId;

/// What a claim does for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is proven and about the question: it is told.
    Answers,
    /// It is proven and says nothing about what was asked: it is not told.
    BesideThePoint,
    /// It is not proven: it is not told.
    Unproven,
    /// No check was asked for: it is told as unchecked.
    Unchecked,
}

/// What one claim does for the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// Its verdict.
    pub verdict: VerdictId,
    /// What it does.
    pub role: Role,
    /// Cosine similarity between question and claim.
    pub relevance: f32,
}
