//! What may be otherwise than a stored verdict says, and how it is told. Pure.

use std::fmt;

use serde::Serialize;

use crate::domain::{Entailment, Fingerprint, Reason, StreamTime};

/// One thing that is not as it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub(super) enum Change {
    /// Another model, or the same with other weights or another calibration.
    Model {
        /// Its role.
        role: &'static str,
        /// Then.
        was: Fingerprint,
        /// Now.
        is: Fingerprint,
    },
    /// The threshold of entailment.
    Threshold {
        /// Then.
        was: f32,
        /// Now.
        is: f32,
    },
    /// The frame at this time has other bytes.
    Frame {
        /// When.
        at: StreamTime,
        /// SHA-256 then.
        was: String,
        /// SHA-256 now.
        is: String,
    },
    /// The captioner says something else of it.
    Caption {
        /// When.
        at: StreamTime,
        /// Then.
        was: String,
        /// Now.
        is: String,
    },
    /// The judge says something else.
    Probabilities {
        /// When.
        at: StreamTime,
        /// Then; absent if it did not come to judging.
        was: Option<Entailment>,
        /// Now.
        is: Option<Entailment>,
    },
    /// This frame alone would be weighed otherwise.
    Weight {
        /// When.
        at: StreamTime,
        /// Then.
        was: Reason,
        /// Now.
        is: Reason,
    },
    /// This frame is not looked at any more, or gives no picture.
    Gone {
        /// When.
        at: StreamTime,
    },
    /// This frame is looked at now, and the stored verdict does not hold it.
    Unseen {
        /// When.
        at: StreamTime,
    },
    /// The stored verdict contradicts itself: somebody changed it.
    Torn {
        /// What is not as its trials say.
        part: &'static str,
    },
    /// Something else that the same check gives otherwise.
    Field {
        /// What, as it is called in the message where it has a name there.
        part: &'static str,
        /// Of which frame; absent if it is the verdict's own.
        at: Option<StreamTime>,
        /// Then.
        was: String,
        /// Now.
        is: String,
    },
    /// The verdict itself.
    Verdict {
        /// Then.
        was: Reason,
        /// Now.
        is: Reason,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let odds = |odds: &Option<Entailment>| match odds {
            Some(p) => format!("{:.3}/{:.3}/{:.3}", p.entailment, p.neutral, p.contradiction),
            None => "none".to_owned(),
        };
        match self {
            Self::Model { role, was, is } => write!(f, "the {role} was {was}, is {is}"),
            Self::Threshold { was, is } => write!(f, "the threshold was {was}, is {is}"),
            Self::Frame { at, was, is } => write!(f, "the frame at {at} was {was}, is {is}"),
            Self::Caption { at, was, is } => write!(f, "the caption at {at} was {was:?}, is {is:?}"),
            Self::Probabilities { at, was, is } => {
                write!(f, "the probabilities at {at} were {}, are {}", odds(was), odds(is))
            }
            Self::Weight { at, was, is } => {
                write!(f, "the frame at {at} alone was {}, is {}", was.as_str(), is.as_str())
            }
            Self::Gone { at } => write!(f, "the frame at {at} was looked at, and is not now"),
            Self::Unseen { at } => write!(f, "the frame at {at} is looked at, and is not among the stored ones"),
            Self::Torn { part } => {
                write!(f, "the stored verdict contradicts itself: its {part} is not that of its trials")
            }
            Self::Field { part, at, was, is } => {
                write!(f, "the {part}")?;
                if let Some(at) = at {
                    write!(f, " at {at}")?;
                }
                write!(f, " was {was}, is {is}")
            }
            Self::Verdict { was, is } => write!(f, "the verdict was {}, is {}", was.as_str(), is.as_str()),
        }
    }
}
