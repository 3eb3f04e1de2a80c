//! Refusals: a number to act on, a name to switch on, a sentence to read.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::V1;

/// Why a request was refused. The number (as in HTTP) travels in `Nats-Service-Error-Code`, the name in
/// `Nats-Service-Error`, both again in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// 400: the body is not JSON.
    BadJson,
    /// 400: a field is missing, unknown, of a wrong type or out of range; the message names it.
    BadRequest,
    /// 400: the message has a version other than 1.
    BadVersion,
    /// 400: the last token of the subject is no stream id.
    BadSubject,
    /// 403: the site does not allow it.
    Forbidden,
    /// 404: no such stream is known.
    UnknownStream,
    /// 404: the stream has no frame at that time.
    NoFrame,
    /// 408: not finished within the deadline.
    Deadline,
    /// 409: the stream is watched already, belongs to the configuration file, or is known as another source.
    Conflict,
    /// 410: the frame was recorded once and is past its retention.
    Expired,
    /// 413: the request, or the reply to it, is too large.
    TooLarge,
    /// 422: the frame exists and cannot be decoded.
    Undecodable,
    /// 429: as many requests as allowed are at work; ask again later.
    Busy,
    /// 500: a defect of the daemon.
    Internal,
    /// 501: the design asked for needs a model that the site does not have; the message says what to configure.
    NotConfigured,
    /// 503: a model or the memory does not answer.
    Unavailable,
    /// 503: the daemon is ending.
    Stopping,
}

impl ErrorCode {
    /// Every code, in the order of the documentation.
    pub const ALL: [Self; 17] = [
        Self::BadJson,
        Self::BadRequest,
        Self::BadVersion,
        Self::BadSubject,
        Self::Forbidden,
        Self::UnknownStream,
        Self::NoFrame,
        Self::Deadline,
        Self::Conflict,
        Self::Expired,
        Self::TooLarge,
        Self::Undecodable,
        Self::Busy,
        Self::Internal,
        Self::NotConfigured,
        Self::Unavailable,
        Self::Stopping,
    ];

    /// The number.
    pub fn number(self) -> u16 {
        match self {
            Self::BadJson | Self::BadRequest | Self::BadVersion | Self::BadSubject => 400,
            Self::Forbidden => 403,
            Self::UnknownStream | Self::NoFrame => 404,
            Self::Deadline => 408,
            Self::Conflict => 409,
            Self::Expired => 410,
            Self::TooLarge => 413,
            Self::Undecodable => 422,
            Self::Busy => 429,
            Self::Internal => 500,
            Self::NotConfigured => 501,
            Self::Unavailable | Self::Stopping => 503,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BadJson => "bad_json",
            Self::BadRequest => "bad_request",
            Self::BadVersion => "bad_version",
            Self::BadSubject => "bad_subject",
            Self::Forbidden => "forbidden",
            Self::UnknownStream => "unknown_stream",
            Self::NoFrame => "no_frame",
            Self::Deadline => "deadline",
            Self::Conflict => "conflict",
            Self::Expired => "expired",
            Self::TooLarge => "too_large",
            Self::Undecodable => "undecodable",
            Self::Busy => "busy",
            Self::Internal => "internal",
            Self::NotConfigured => "not_configured",
            Self::Unavailable => "unavailable",
            Self::Stopping => "stopping",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The reply to a refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "error reply")]
pub struct ErrorReply {
    /// Version of this message.
    pub v: V1,
    /// Why.
    pub error: ErrorBody,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// The number of `name`, as in HTTP.
    pub code: u16,
    /// What to switch on.
    pub name: ErrorCode,
    /// What to read; not stable.
    pub message: String,
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.name, self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_serde_writes() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_string(&code).expect("serialises"), format!("\"{}\"", code.name()));
            assert!((400..600).contains(&code.number()));
        }
    }
}
