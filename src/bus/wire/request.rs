//! What can be asked, and the limits that are checked before anybody works on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::V1;
use super::schema::{Seconds, Token};
use super::stream::StreamRequest;
use crate::domain::{Design, StreamId, StreamTime, Window};

/// Longest question, claim or query, in characters.
pub const MAX_TEXT: usize = 2000;
/// Most moments a request may ask for.
pub const MAX_K: u32 = 50;
/// Most claims verified in one request.
pub const MAX_CLAIMS: usize = 32;

/// A field and what is wrong with it.
pub(in crate::bus) type Objection = (String, String);

/// A request whose fields are within their limits, beyond what their types say.
pub(in crate::bus) trait Checked {
    /// The first field that is not.
    fn check(&self) -> Result<(), Objection>;

    /// How long the sender will wait, if it said so.
    fn deadline_s(&self) -> Option<f64>;
}

/// `ask` and `ask.<stream>`: a question in plain language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "ask request")]
pub struct AskRequest {
    /// Version of this message, 1 if absent.
    #[serde(default)]
    pub v: V1,
    /// The question.
    #[schemars(length(min = 1, max = 2000))]
    pub question: String,
    /// The stream asked about; all streams if neither this nor the subject names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Token>")]
    pub stream: Option<StreamId>,
    /// How claims are checked; the daemon's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<Design>,
    /// How many moments are retrieved; the daemon's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 50))]
    pub k: Option<u32>,
    /// How long the sender will wait, in seconds; the daemon's default if absent. More than `bus.max_deadline` is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub deadline_s: Option<f64>,
}

/// `verify.<stream>`: somebody else's claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "verify request")]
pub struct VerifyRequest {
    /// Version of this message, 1 if absent.
    #[serde(default)]
    pub v: V1,
    /// What is claimed.
    #[serde(deserialize_with = "super::object::list")]
    #[schemars(length(min = 1, max = 32))]
    pub claims: Vec<ClaimRequest>,
    /// How claims are checked; the daemon's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<Design>,
    /// How long the sender will wait, in seconds; the daemon's default if absent. More than `bus.max_deadline` is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub deadline_s: Option<f64>,
}

/// One factual statement and the frame it cites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {
    /// A full sentence.
    #[schemars(length(min = 1, max = 2000))]
    pub claim: String,
    /// Seconds into the stream.
    #[schemars(with = "Seconds")]
    pub timestamp: StreamTime,
}

/// `search.<stream>`: text to moments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "search request")]
pub struct SearchRequest {
    /// Version of this message, 1 if absent.
    #[serde(default)]
    pub v: V1,
    /// What to look for.
    #[schemars(length(min = 1, max = 2000))]
    pub query: String,
    /// How many moments; the daemon's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 50))]
    pub k: Option<u32>,
    /// First second of the stream to look at; its beginning if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Seconds>")]
    pub from: Option<StreamTime>,
    /// Last second of the stream to look at; its end if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Seconds>")]
    pub to: Option<StreamTime>,
    /// How long the sender will wait, in seconds; the daemon's default if absent. More than `bus.max_deadline` is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub deadline_s: Option<f64>,
}

impl SearchRequest {
    /// The window looked at.
    pub fn window(&self) -> Result<Window, crate::domain::TimeError> {
        Window::new(self.from.unwrap_or(StreamTime::ZERO), self.to.unwrap_or(StreamTime::MAX))
    }
}

/// `frame.<stream>`: the picture at a time. The reply is the JPEG itself, its identity in headers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "frame request")]
pub struct FrameRequest {
    /// Version of this message, 1 if absent.
    #[serde(default)]
    pub v: V1,
    /// Seconds into the stream.
    #[schemars(with = "Seconds")]
    pub timestamp: StreamTime,
    /// How long the sender will wait, in seconds; the daemon's default if absent. More than `bus.max_deadline` is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub deadline_s: Option<f64>,
}

/// `streams`: what is watched. An empty body is as good as `{}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "streams request")]
pub struct StreamsRequest {
    /// Version of this message, 1 if absent.
    #[serde(default)]
    pub v: V1,
}

/// `streams.remove`: a stream that shall be watched no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stream removal request")]
pub struct RemoveRequest {
    /// Version of this message, 1 if absent.
    #[serde(default)]
    pub v: V1,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
}

impl Checked for AskRequest {
    fn check(&self) -> Result<(), Objection> {
        check_text("question", &self.question)?;
        check_k(self.k)
    }

    fn deadline_s(&self) -> Option<f64> {
        self.deadline_s
    }
}

impl Checked for VerifyRequest {
    fn check(&self) -> Result<(), Objection> {
        if self.claims.is_empty() || self.claims.len() > MAX_CLAIMS {
            return Err(("claims".to_owned(), format!("holds {} claims, not 1 to {MAX_CLAIMS}", self.claims.len())));
        }
        self.claims
            .iter()
            .enumerate()
            .try_for_each(|(i, claim)| check_text(&format!("claims[{i}].claim"), &claim.claim))
    }

    fn deadline_s(&self) -> Option<f64> {
        self.deadline_s
    }
}

impl Checked for SearchRequest {
    fn check(&self) -> Result<(), Objection> {
        check_text("query", &self.query)?;
        check_k(self.k)?;
        self.window().map(|_| ()).map_err(|error| ("to".to_owned(), error.to_string()))
    }

    fn deadline_s(&self) -> Option<f64> {
        self.deadline_s
    }
}

impl Checked for FrameRequest {
    fn check(&self) -> Result<(), Objection> {
        Ok(())
    }

    fn deadline_s(&self) -> Option<f64> {
        self.deadline_s
    }
}

impl Checked for StreamsRequest {
    fn check(&self) -> Result<(), Objection> {
        Ok(())
    }

    fn deadline_s(&self) -> Option<f64> {
        None
    }
}

impl Checked for StreamRequest {
    fn check(&self) -> Result<(), Objection> {
        check_text("url", &self.url)
    }

    fn deadline_s(&self) -> Option<f64> {
        None
    }
}

impl Checked for RemoveRequest {
    fn check(&self) -> Result<(), Objection> {
        Ok(())
    }

    fn deadline_s(&self) -> Option<f64> {
        None
    }
}

fn check_text(field: &str, text: &str) -> Result<(), Objection> {
    let objection = if text.trim().is_empty() {
        "is empty".to_owned()
    } else if text.chars().count() > MAX_TEXT {
        format!("has more than {MAX_TEXT} characters")
    } else if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        "holds a control character".to_owned()
    } else {
        return Ok(());
    };
    Err((field.to_owned(), objection))
}

fn check_k(k: Option<u32>) -> Result<(), Objection> {
    match k {
        Some(k) if !(1..=MAX_K).contains(&k) => Err(("k".to_owned(), format!("{k} is not within 1 to {MAX_K}"))),
        _ => Ok(()),
    }
}
