//! What is asked, and how it shall be checked.

use serde::{Deserialize, Serialize};

use super::{QuestionId, StreamId};

/// A verifier design of the paper, chosen by configuration or per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Baseline: drafted claims are returned unchecked.
    None,
    /// Design V1: a vision-language model is shown the re-extracted frame and asked whether it supports the claim.
    VlmDirect,
    /// Design V2, strict: a chat model says whether a blind caption of the re-extracted frame states the claim.
    CaptionLlmJudge,
    /// Design V2, lenient: a chat model says whether the caption makes the claim likely.
    CaptionLlmJudgeLenient,
    /// Design V3: a blind caption of the re-extracted frame, judged by an entailment classifier.
    #[default]
    CaptionNli,
}

impl Design {
    /// Every design, the baseline first.
    pub const ALL: [Self; 5] =
        [Self::None, Self::VlmDirect, Self::CaptionLlmJudge, Self::CaptionLlmJudgeLenient, Self::CaptionNli];

    /// The name used in configuration, messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::VlmDirect => "vlm-direct",
            Self::CaptionLlmJudge => "caption-llm-judge",
            Self::CaptionLlmJudgeLenient => "caption-llm-judge-lenient",
            Self::CaptionNli => "caption-nli",
        }
    }

    /// Whether frames are captioned blind before anything is judged.
    pub fn captions(self) -> bool {
        matches!(self, Self::CaptionLlmJudge | Self::CaptionLlmJudgeLenient | Self::CaptionNli)
    }

    /// The model that this design needs and that not every site has: the role, and what to configure.
    pub fn needs(self) -> Option<Need> {
        match self {
            Self::VlmDirect => Some(Need::VisualQa),
            Self::CaptionLlmJudge | Self::CaptionLlmJudgeLenient => Some(Need::ChatJudge),
            Self::None | Self::CaptionNli => None,
        }
    }
}

/// A model that only some designs need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// One that answers questions about pictures.
    VisualQa,
    /// A chat model that reads captions and claims.
    ChatJudge,
}

impl Need {
    /// What a site has to configure.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::VisualQa => {
                "set [models.captioner] to a vision-language model that answers questions about pictures (BLIP does not)"
            }
            Self::ChatJudge => "set [models.chat_judge] to a chat model",
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
