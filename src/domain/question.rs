//! What is asked, and how it shall be checked.

use serde::{Deserialize, Serialize};

use super::{QuestionId, StreamId};

/// A verifier design of the paper, chosen by configuration or per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Baseline: drafted claims are returned unchecked.
    None,
    /// Design V3: a blind caption of the re-extracted frame, judged by an entailment classifier.
    #[default]
    CaptionNli,
}

impl Design {
    /// Every design, the baseline first.
    pub const ALL: [Self; 2] = [Self::None, Self::CaptionNli];

    /// The name used in configuration, messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::CaptionNli => "caption-nli",
        }
    }
}

/// A question in plain language about one stream, or about all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its identity, echoed in the answer and in every verdict.
    pub id: QuestionId,
    /// What is asked.
    pub text: String,
    /// The stream asked about; all streams if absent.
    pub stream: Option<StreamId>,
    /// How claims are checked.
    pub design: Design,
    /// How many moments are retrieved.
    pub k: usize,
}
