//! What the check of a claim found.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Claim, Design, Evidence, QuestionId, Repaired, Timing, VerdictId};

/// Whether a claim may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Label {
    /// A blind caption of the cited frame, or of a direct neighbour, entails the claim.
    Grounded,
    /// Everything else, including "could not check".
    Unverified,
}

impl Label {
    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Grounded => "GROUNDED",
            Self::Unverified => "UNVERIFIED",
        }
    }
}

/// Why the label is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The caption entails the claim.
    Entailed,
    /// The caption contradicts the claim.
    Contradicted,
    /// The caption neither entails nor contradicts the claim.
    Neutral,
    /// There is no frame at the cited time: a gap, or out of range.
    NoFrame,
    /// The frame is past its retention.
    Expired,
    /// The frame shows nothing: frozen, black or covered.
    Unobservable,
    /// The frame exists and could not be decoded.
    DecodeError,
    /// A model needed for the check did not answer.
    ModelUnavailable,
    /// No check was asked for (design `none`).
    Unchecked,
}

impl Reason {
    /// Every reason, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::Entailed,
        Self::Contradicted,
        Self::Neutral,
        Self::NoFrame,
        Self::Expired,
        Self::Unobservable,
        Self::DecodeError,
        Self::ModelUnavailable,
        Self::Unchecked,
    ];

    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entailed => "entailed",
            Self::Contradicted => "contradicted",
            Self::Neutral => "neutral",
            Self::NoFrame => "no_frame",
            Self::Expired => "expired",
            Self::Unobservable => "unobservable",
            Self::DecodeError => "decode_error",
            Self::ModelUnavailable => "model_unavailable",
            Self::Unchecked => "unchecked",
        }
    }

    /// GROUNDED has exactly one reason.
    pub fn label(self) -> Label {
        if self == Self::Entailed { Label::Grounded } else { Label::Unverified }
    }
}

/// Probabilities of the three relations between a caption (premise) and a claim (hypothesis); they sum to 1. A judge that
/// gives no more than a label says 1 for it. One that answers yes or no says entailment or neutral.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Entailment {
    /// The caption says so.
    pub entailment: f32,
    /// The caption does not tell.
    pub neutral: f32,
    /// The caption says otherwise.
    pub contradiction: f32,
}

/// Identity of a model with its weights and reading: `name@sha256-prefix`, plus a calibration version for the judge.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The models behind a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ModelSet {
    /// Who drafted; absent for somebody else's claims, and for those that follow from a survey.
    pub drafter: Option<Fingerprint>,
    /// Who captioned the evidence frame; in the design `vlm-direct`, who was asked about it.
    pub captioner: Fingerprint,
    /// Who judged; in the design `vlm-direct`, who was asked about the frame.
    pub judge: Fingerprint,
}

/// One frame that was tried for a claim: the cited one first, then its neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What this frame alone would have decided.
    pub reason: Reason,
    /// More about it, for a reader; empty if the reason says all.
    pub detail: String,
    /// The frame, if there was one.
    pub evidence: Option<Evidence>,
    /// The judge's probabilities for the sentence that decided, if it came to judging.
    pub entailment: Option<Entailment>,
    /// The sentence of the caption that decided, or the whole caption if it was judged as one; in the design `vlm-direct`,
    /// what the model answered.
    pub premise: Option<String>,
}

/// A claim with what its check found. `trials` is never empty unless the design is `none`.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Its identity.
    pub id: VerdictId,
    /// The question the claim belongs to; absent for somebody else's claims.
    pub question: Option<QuestionId>,
    /// What was claimed.
    pub claim: Claim,
    /// What it was made from, if it stands for a claim that could not be verified.
    pub repaired_from: Option<Repaired>,
    /// How exact the cited time is; unknown if nothing was ever seen there.
    pub timing: Option<Timing>,
    /// How it was checked.
    pub design: Design,
    /// Why; the label follows from it.
    pub reason: Reason,
    /// Index in `trials` of the frame that decided.
    pub decided_by: Option<usize>,
    /// The frames that were looked at, in order.
    pub trials: Vec<Trial>,
    /// Probability of entailment from which a claim counts as entailed.
    pub threshold: f32,
    /// The models behind it.
    pub models: ModelSet,
}

impl Verdict {
    /// Whether the claim may be believed.
    pub fn label(&self) -> Label {
        self.reason.label()
    }

    /// The trial that decided.
    pub fn deciding(&self) -> Option<&Trial> {
        self.decided_by.and_then(|i| self.trials.get(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entailment_grounds() {
        for reason in Reason::ALL {
            assert_eq!(reason.label() == Label::Grounded, reason == Reason::Entailed);
            assert_eq!(serde_json::to_string(&reason).expect("serialises"), format!("\"{}\"", reason.as_str()));
        }
    }
}
