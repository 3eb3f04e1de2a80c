//! A stream's section of the configuration, validated when it is read.

use std::time::Duration;

use serde::Deserialize;

use super::address::{Address, AddressError};
use super::file;
use super::gate::Decode;
use crate::config::{SecretFile, Span};
use crate::domain::{StreamId, StreamKind, WallTime, Zone};
use crate::seams::SourceError;
use crate::secret::Secret;
use crate::sight;

const STALL_TIMEOUT: Span = Span(Duration::from_secs(10));
const SHORTEST_SAMPLE: Duration = Duration::from_millis(10);
const DAY: Duration = Duration::from_hours(24);

/// Why a stream's section is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamConfigError {
    /// The url.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Two places say who logs in.
    #[error("credentials stand in the url and in the keys user and password: keep one")]
    TwoCredentials,
    /// Two places hold the password.
    #[error("password and password_file are both set: keep one")]
    TwoPasswords,
    /// Half of the credentials.
    #[error("user needs password or password_file, and the reverse")]
    HalfCredentials,
    /// Credentials for something that does not ask for them.
    #[error("only rtsp and http sources take credentials")]
    UselessCredentials,
    /// A time of day for a source that has its own.
    #[error("starts_at belongs to files: a live stream starts when it is first seen")]
    UselessStart,
    /// An interval that cannot be kept.
    #[error("{key} must be at least {least}")]
    TooShort {
        /// The key.
        key: &'static str,
        /// Its least value.
        least: Span,
    },
    /// An interval in which a stream tells next to nothing, or that the clocks cannot count.
    #[error("{key} must be at most {most}")]
    TooLong {
        /// The key.
        key: &'static str,
        /// Its greatest value.
        most: Span,
    },
    /// A name that would break into the lines of a protocol.
    #[error("user holds a character that no user name has (a line break, a tab)")]
    UserName,
    /// A key that means nothing for this kind of source.
    #[error("{key} belongs to {sources}: leave it out here")]
    UselessKey {
        /// The key.
        key: &'static str,
        /// What it belongs to.
        sources: &'static str,
    },
}

/// How RTSP media travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Inside the control connection: passes firewalls and loses nothing.
    #[default]
    Tcp,
    /// Datagrams: lost ones smear the picture.
    Udp,
}

/// What the configuration says; becomes a [`StreamConfig`] if it makes sense.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    url: Secret,
    #[serde(default)]
    sample_every: Option<Span>,
    #[serde(default)]
    zone: Option<Zone>,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    password: Option<Secret>,
    #[serde(default)]
    password_file: Option<SecretFile>,
    #[serde(default)]
    starts_at: Option<WallTime>,
    #[serde(default)]
    protocol: Option<Protocol>,
    #[serde(default = "stall_timeout")]
    stall_timeout: Span,
    #[serde(default)]
    sight: sight::Config,
    #[serde(default)]
    record: Option<bool>,
    #[serde(default)]
    decode: Decode,
    #[serde(default = "yes")]
    tls_verify: bool,
    #[serde(default)]
    allow_launch: bool,
}

fn stall_timeout() -> Span {
    STALL_TIMEOUT
}

fn yes() -> bool {
    true
}

/// One stream: where it comes from and how to watch it.
///
/// | key | meaning |
/// |---|---|
/// | `url` | a path, `file://`, `rtsp://`, `rtsps://`, `http://`, `https://`, `v4l2:///dev/video0`, `test://PATTERN?duration=10s&size=640x360&fps=10` |
/// | `sample_every` | one frame per this much stream time; without it the daemon's default |
/// | `zone` | the zone of its clock on the wall: what "this morning" means; without it the daemon's default |
/// | `user`, `password` or `password_file` | credentials for rtsp and http, instead of in the url |
/// | `starts_at` | time of day of a file's beginning (RFC 3339); without it, when the stream was first seen |
/// | `protocol` | `tcp` (default) or `udp` for rtsp |
/// | `sight` | how pictures are looked at before they are captioned: see [`sight::Config`] |
/// | `stall_timeout` | a source that sends nothing for so long is given up and opened again (default 10 s) |
/// | `record` | whether a live stream is recorded in the archive (default true) |
/// | `decode` | of live streams: `auto` (default), `keyframes`, `all`; see [`Decode`] |
/// | `tls_verify` | whether certificates of rtsps and https are checked (default true) |
/// | `allow_launch` | take a `url` that holds ` ! ` as a pipeline description whose last element gives video |
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Raw")]
pub struct StreamConfig {
    pub(super) address: Address,
    pub(super) protocol: Protocol,
    pub(super) stall_timeout: Duration,
    pub(super) record: bool,
    pub(super) decode: Decode,
    pub(super) tls_verify: bool,
    sample_every: Option<Duration>,
    zone: Option<Zone>,
    user: Option<String>,
    password: Password,
    starts_at: Option<WallTime>,
    sight: sight::Config,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Password {
    None,
    Here(Secret),
    File(SecretFile),
}

impl TryFrom<Raw> for StreamConfig {
    type Error = StreamConfigError;

    fn try_from(raw: Raw) -> Result<Self, StreamConfigError> {
        let (address, in_url) = Address::parse(raw.url.expose(), raw.allow_launch)?;
        let keys = raw.user.is_some() || raw.password.is_some() || raw.password_file.is_some();
        if in_url.is_some() && keys {
            return Err(StreamConfigError::TwoCredentials);
        }
        let (user, password) = match in_url {
            Some((user, password)) => (Some(user), Password::Here(password)),
            None => credentials(raw.user, raw.password, raw.password_file)?,
        };
        if raw.protocol.is_some() && !matches!(address, Address::Rtsp(_)) {
            return Err(StreamConfigError::UselessKey { key: "protocol", sources: "rtsp sources" });
        }
        if raw.record == Some(true) && !address.is_encoded() {
            return Err(StreamConfigError::UselessKey { key: "record", sources: "rtsp and http sources" });
        }
        let config = Self {
            address,
            protocol: raw.protocol.unwrap_or_default(),
            stall_timeout: raw.stall_timeout.0,
            record: raw.record.unwrap_or(true),
            decode: raw.decode,
            tls_verify: raw.tls_verify,
            sample_every: raw.sample_every.map(|span| span.0),
            zone: raw.zone,
            user,
            password,
            starts_at: raw.starts_at,
            sight: raw.sight,
        };
        config.check()?;
        Ok(config)
    }
}

fn credentials(
    user: Option<String>,
    password: Option<Secret>,
    file: Option<SecretFile>,
) -> Result<(Option<String>, Password), StreamConfigError> {
    match (user, password, file) {
        (None, None, None) => Ok((None, Password::None)),
        (_, Some(_), Some(_)) => Err(StreamConfigError::TwoPasswords),
        (Some(user), Some(password), None) => Ok((Some(user), Password::Here(password))),
        (Some(user), None, Some(file)) => Ok((Some(user), Password::File(file))),
        _ => Err(StreamConfigError::HalfCredentials),
    }
}

impl StreamConfig {
    /// A stream with every key but the url at its default.
    pub fn new(url: &str) -> Result<Self, StreamConfigError> {
        Self::try_from(Raw {
            url: Secret::new(url),
            sample_every: None,
            zone: None,
            user: None,
            password: None,
            password_file: None,
            starts_at: None,
            protocol: None,
            stall_timeout: STALL_TIMEOUT,
            sight: sight::Config::default(),
            record: None,
            decode: Decode::default(),
            tls_verify: true,
            allow_launch: false,
        })
    }

    fn check(&self) -> Result<(), StreamConfigError> {
        if self.user.is_some() && !self.is_encoded() {
            return Err(StreamConfigError::UselessCredentials);
        }
        if self.user.as_ref().is_some_and(|user| user.contains(char::is_control)) {
            return Err(StreamConfigError::UserName);
        }
        if self.starts_at.is_some() && self.kind() == StreamKind::Live {
            return Err(StreamConfigError::UselessStart);
        }
        within("stall_timeout", self.stall_timeout, Duration::from_millis(100))?;
        self.sample_every.map_or(Ok(()), |every| within("sample_every", every, SHORTEST_SAMPLE))
    }

    /// Whether it has an end and can be read again.
    pub fn kind(&self) -> StreamKind {
        match &self.address {
            Address::File(_) => StreamKind::File,
            Address::Test(pattern) if pattern.frames.is_some() => StreamKind::File,
            Address::Test(_) | Address::Rtsp(_) | Address::Http(_) | Address::Device(_) | Address::Launch(_) => {
                StreamKind::Live
            }
        }
    }

    /// Whether its pictures come encoded, so that they can be recorded as they are.
    pub(super) fn is_encoded(&self) -> bool {
        self.address.is_encoded()
    }

    /// Whether it may be a file although it counts as live.
    pub(super) fn may_end(&self) -> bool {
        matches!(self.address, Address::Http(_))
    }

    /// The interval of this stream, if it has one of its own.
    pub fn sample_every(&self) -> Option<Duration> {
        self.sample_every
    }

    /// How its pictures are looked at. A drawn pattern is no camera: it may hold still.
    pub fn sight(&self) -> sight::Settings {
        let is_camera = self.kind() == StreamKind::Live && !matches!(self.address, Address::Test(_));
        self.sight.settings(self.kind(), is_camera)
    }

    /// The zone of this stream's clock, if it has one of its own.
    pub fn zone(&self) -> Option<&Zone> {
        self.zone.as_ref()
    }

    /// What tells this file from another one under the same name: path, length and time of change. A finite test
    /// pattern is told by its parameters; a live source has no identity, as a camera may be replaced.
    pub fn identity(&self, stream: &StreamId) -> Result<Option<String>, SourceError> {
        match &self.address {
            Address::File(path) => file::identity(path).map(Some).map_err(|fault| fault.into_source_error(stream)),
            Address::Test(pattern) if pattern.frames.is_some() => Ok(Some(format!("{pattern:?}"))),
            _ => Ok(None),
        }
    }

    /// The time of day of a file's frame.
    pub(super) fn beginning(&self, epoch: WallTime) -> WallTime {
        self.starts_at.unwrap_or(epoch)
    }

    /// Whether the password could be read at this moment, by this user.
    pub fn check_password(&self) -> Result<(), String> {
        self.credentials().map(drop)
    }

    /// User name and password, a password file being read now, so that a changed one is used at the next connection.
    pub(super) fn credentials(&self) -> Result<Option<(String, Secret)>, String> {
        let Some(user) = self.user.clone() else {
            return Ok(None);
        };
        match &self.password {
            Password::None => Ok(None),
            Password::Here(password) => Ok(Some((user, password.clone()))),
            Password::File(file) => {
                let password = file.read().map_err(|error| format!("the password: {error}"))?;
                Ok(Some((user, password)))
            }
        }
    }
}

fn within(key: &'static str, value: Duration, least: Duration) -> Result<(), StreamConfigError> {
    match value {
        value if value < least => Err(StreamConfigError::TooShort { key, least: Span(least) }),
        value if value > DAY => Err(StreamConfigError::TooLong { key, most: Span(DAY) }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<StreamConfig, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_section_needs_no_more_than_an_address() {
        let config = parsed("url = \"rtsp://h/live\"").expect("is complete");
        assert_eq!((config.kind(), config.protocol, config.sample_every()), (StreamKind::Live, Protocol::Tcp, None));
        assert_eq!(config.stall_timeout, Duration::from_secs(10));
        let config = parsed("url = \"a.mp4\"\nstarts_at = \"2026-09-21T14:13:20Z\"\nsample_every = \"250ms\"");
        let config = config.expect("is complete");
        assert_eq!((config.kind(), config.sample_every()), (StreamKind::File, Some(Duration::from_millis(250))));
        let epoch = WallTime::from_nanos(0).expect("in range");
        assert_eq!(config.beginning(epoch).nanos(), 1_790_000_000_000_000_000);
    }

    #[test]
    fn contradictions_and_unknown_keys_are_refused_without_secrets() {
        let table = [
            ("", "missing field `url`"),
            ("url = \"a.mp4\"\nurls = 1", "unknown field `urls`"),
            ("url = \"ftp://u:hunter2@h/x\"", "scheme"),
            ("url = \"rtsp://u:hunter2@h/x\"\nuser = \"u\"", "keep one"),
            ("url = \"rtsp://h/x\"\nuser = \"u\"", "needs password"),
            ("url = \"rtsp://h/x\"\npassword = \"hunter2\"", "needs password"),
            ("url = \"rtsp://h/x\"\nuser = \"u\"\npassword = \"hunter2\"\npassword_file = \"p\"", "both set"),
            ("url = \"a.mp4\"\nuser = \"u\"\npassword = \"hunter2\"", "only rtsp and http"),
            ("url = \"rtsp://h/x\"\nstarts_at = \"2026-09-21T14:13:20Z\"", "belongs to files"),
            ("url = \"a.mp4\"\nsample_every = \"1ms\"", "sample_every must be at least 10ms"),
            ("url = \"a.mp4\"\nstall_timeout = \"0s\"", "stall_timeout must be at least 100ms"),
            ("url = \"rtsp://h/x\"\nprotocol = \"sctp\"", "unknown variant `sctp`"),
            ("url = \"a.mp4\"\nprotocol = \"udp\"", "protocol belongs to rtsp sources"),
            ("url = \"http://h/x\"\nprotocol = \"udp\"", "protocol belongs to rtsp sources"),
            ("url = \"test://ball\"\nrecord = true", "record belongs to rtsp and http sources"),
            ("url = \"rtsp://h/x\"\nsample_every = \"25h\"", "sample_every must be at most"),
            ("url = \"rtsp://h/x\"\nstall_timeout = \"25h\"", "stall_timeout must be at most"),
            ("url = \"rtsp://h/x\"\nuser = \"u\\r\\nX: y\"\npassword = \"hunter2\"", "user holds a character"),
            ("url = \"rtsp://u%0d%0a:hunter2@h/x\"", "user holds a character"),
            ("url = \"rtsp://h:99999/x\"", "99999 is no port"),
            ("url = \"http://[::1]:0/x\"", "0 is no port"),
        ];
        for (text, part) in table {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_config_does_not_print_its_password() {
        let shown = format!("{:?}", StreamConfig::new("rtsp://cam:hunter2@h/live").expect("is an address"));
        assert!(shown.contains("rtsp://h/live") && !shown.contains("hunter2"), "{shown}");
    }
}
