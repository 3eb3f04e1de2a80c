//! What was done about a question whose first claims did not suffice.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Citation, Stretch, VerdictId};

/// Why it was looked at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Some claims came back unverified, others are grounded.
    Unverified,
    /// No claim is grounded.
    Ungrounded,
    /// Nothing could be claimed at all.
    Undrafted,
    /// What was found hardly resembles the question, or is beside it.
    Unlike,
}

impl Why {
    /// The name used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Ungrounded => "ungrounded",
            Self::Undrafted => "undrafted",
            Self::Unlike => "unlike",
        }
    }
}

/// How it was looked at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Unverified claims were drafted again from the blind captions of the frames that they cite.
    Repair,
    /// The moments that come next were taken, those at other times first.
    Next,
    /// The window was made wider, where the question leaves its bounds open ("the beginning").
    Wider,
    /// Fresh frames around the best moment, one second apart or less.
    Finer,
}

impl How {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Repair, Self::Next, Self::Wider, Self::Finer];

    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repair => "repair",
            Self::Next => "next",
            Self::Wider => "wider",
            Self::Finer => "finer",
        }
    }
}

/// One more look at the evidence of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Why.
    pub why: Why,
    /// How.
    pub how: How,
    /// The stretches that it lay in, one a stream.
    pub windows: Vec<Stretch>,
    /// Moments or frames that claims were drafted from.
    pub looked_at: Vec<Citation>,
    /// The verdicts on the claims that it added.
    pub added: Vec<VerdictId>,
    /// How many of them are grounded.
    pub grounded: usize,
    /// Pictures that were captioned for it.
    pub captioned: usize,
    /// How long it took.
    pub took: Duration,
    /// Why it was broken off; `None` if it was not.
    pub trouble: Option<String>,
}

/// What a claim was made from, if it is a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The verdict on the claim that stood there before.
    pub verdict: VerdictId,
    /// What that claim said.
    pub claim: String,
    /// The frame whose blind caption the repair was drafted from. It is never the one that proves it.
    pub read_at: Citation,
}
