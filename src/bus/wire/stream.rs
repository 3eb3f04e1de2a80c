//! A stream that somebody wants to have watched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::V1;
use super::schema::Token;
use crate::domain::StreamId;

/// `streams.add` and `streams.change`: a stream and all of its settings, as in a `[streams.NAME]` section of the
/// configuration. What is absent is at its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stream request")]
pub struct StreamRequest {
    /// Version of this message, 1 if absent.
    #[serde(default)]
    pub v: V1,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// Where it comes from; must begin with what the site allows, and holds no credentials.
    #[schemars(length(min = 1, max = 2000))]
    pub url: String,
    /// User name for the source; goes with `password_file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Bare name of a file in the directory that the site set aside for passwords.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<String>,
    /// Stream time between two sampled frames, such as `5s`; the daemon's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_every: Option<String>,
    /// The zone of its clock on the wall, such as `Europe/Berlin`; the daemon's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// How RTSP media travels: `tcp` or `udp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// A source that sends nothing for so long is opened again, such as `10s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_timeout: Option<String>,
    /// Time of day of a file's beginning, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<String>,
    /// Whether a live stream is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<bool>,
    /// What is decoded of a live stream: `auto`, `keyframes` or `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decode: Option<String>,
    /// How its pictures are looked at before they are captioned.
    #[serde(default, deserialize_with = "super::object::maybe", skip_serializing_if = "Option::is_none")]
    pub sight: Option<SightRequest>,
}

/// The `sight` section of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SightRequest {
    /// Whether a picture that shows what the last captioned one showed makes that moment longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extend_unchanged: Option<bool>,
    /// However little changes, a caption is made this often, such as `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption_at_least: Option<String>,
    /// The same picture for so long means a frozen camera, such as `1m`; `0s`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_after: Option<String>,
    /// A sudden change between two samples is captioned, at most one in so long, such as `5s`; `0s`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_every: Option<String>,
}

impl StreamRequest {
    /// A stream with every setting but the address at its default.
    pub fn new(stream: StreamId, url: &str) -> Self {
        Self {
            v: V1,
            stream,
            url: url.to_owned(),
            user: None,
            password_file: None,
            sample_every: None,
            zone: None,
            protocol: None,
            stall_timeout: None,
            starts_at: None,
            record: None,
            decode: None,
            sight: None,
        }
    }
}
