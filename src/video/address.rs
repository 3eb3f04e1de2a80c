//! Where a stream comes from, parsed once. Pure; never touches the source.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::Span;
use crate::secret::Secret;

/// Most frames a finite test pattern may have: an hour at 30 frames a second.
const MAX_TEST_FRAMES: u64 = 108_000;
const MAX_TEST_SIDE: u32 = 4096;
const MAX_TEST_FPS: u32 = 120;

/// What `videotestsrc` of GStreamer 1.22 can draw.
pub(super) const PATTERNS: [&str; 26] = [
    "smpte",
    "snow",
    "black",
    "white",
    "red",
    "green",
    "blue",
    "checkers-1",
    "checkers-2",
    "checkers-4",
    "checkers-8",
    "circular",
    "blink",
    "smpte75",
    "zone-plate",
    "gamut",
    "chroma-zone-plate",
    "solid-color",
    "ball",
    "smpte100",
    "bar",
    "pinwheel",
    "spokes",
    "gradient",
    "colors",
    "smpte-rp-219",
];

/// Why a text is no address of a stream. Never repeats the text: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Nothing there.
    #[error("the url is empty: give a path, file://, rtsp://, rtsps://, http://, https://, v4l2:// or test://")]
    Empty,
    /// A scheme that nothing here speaks.
    #[error(
        "the scheme {0:?} is not supported: use a path, file://, rtsp://, rtsps://, http://, https://, v4l2:// or test://"
    )]
    Scheme(String),
    /// A pipeline description instead of an address, without leave.
    #[error("a GStreamer launch fragment can do whatever this process may: allow it with allow_launch = true")]
    Fragment,
    /// Something is missing or malformed.
    #[error("the {scheme} url is malformed: {reason}")]
    Malformed {
        /// Its scheme.
        scheme: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// A source without its credentials.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// A file, relative to the working directory or absolute.
    File(PathBuf),
    /// A camera: `rtsp://` or `rtsps://`.
    Rtsp(String),
    /// HLS, MJPEG or progressive.
    Http(String),
    /// A capture device of this machine.
    Device(PathBuf),
    /// A drawn pattern.
    Test(Pattern),
    /// A description of elements whose last one gives video; it may hold anything, also passwords.
    Launch(Secret),
}

/// A pattern drawn by GStreamer: of a given length (a file) or without end (live).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// One of [`PATTERNS`].
    pub(super) name: String,
    /// Pixels a row.
    pub(super) width: u32,
    /// Rows.
    pub(super) height: u32,
    /// Frames a second.
    pub(super) fps: u32,
    /// How many frames, if it has an end.
    pub(super) frames: Option<u32>,
}

/// User name and password as they stood in an address, decoded.
pub(super) type UserInfo = Option<(String, Secret)>;

impl Address {
    /// Splits `text` into an address and the credentials that stood in it.
    /// Pipeline descriptions are taken only if `allow_launch`.
    pub(super) fn parse(text: &str, allow_launch: bool) -> Result<(Self, UserInfo), AddressError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(AddressError::Empty);
        }
        if text.contains(" ! ") {
            return if allow_launch {
                Ok((Self::Launch(Secret::new(text)), None))
            } else {
                Err(AddressError::Fragment)
            };
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            // A mistyped camera is no file: its name would be told, with the password in it.
            if text.contains("//") && text.contains('@') {
                return Err(malformed("file", "it looks like an address without its ://"));
            }
            return Ok((Self::File(PathBuf::from(text)), None));
        };
        match scheme {
            "file" => Ok((Self::File(file_path(rest)?), None)),
            "v4l2" => Ok((Self::Device(device_path(rest)?), None)),
            "test" => Ok((Self::Test(Pattern::parse(rest)?), None)),
            "rtsp" | "rtsps" => remote("rtsp", scheme, rest).map(|(location, user)| (Self::Rtsp(location), user)),
            "http" | "https" => remote("http", scheme, rest).map(|(location, user)| (Self::Http(location), user)),
            other => Err(AddressError::Scheme(other.chars().take(32).collect())),
        }
    }
}

impl Address {
    /// Whether pictures come encoded, over a network.
    pub(super) fn is_encoded(&self) -> bool {
        matches!(self, Self::Rtsp(_) | Self::Http(_))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Rtsp(location) | Self::Http(location) => f.write_str(&crate::secret::scrub(location)),
            Self::Device(path) => write!(f, "v4l2://{}", path.display()),
            Self::Test(pattern) => write!(f, "test://{}", pattern.name),
            Self::Launch(_) => f.write_str("a launch fragment"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

fn malformed(scheme: &'static str, reason: impl Into<String>) -> AddressError {
    AddressError::Malformed { scheme, reason: reason.into() }
}

/// `file:///abs`, `file://localhost/abs`, and, as people write it, `file://relative`; with percent escapes.
fn file_path(rest: &str) -> Result<PathBuf, AddressError> {
    use std::os::unix::ffi::OsStringExt as _;
    let path = rest.strip_prefix("localhost/").map_or_else(|| rest.to_owned(), |tail| format!("/{tail}"));
    let bytes = unescape(&path).ok_or_else(|| malformed("file", "a % is not followed by two hexadecimal digits"))?;
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(malformed("file", "there is no path in it"));
    }
    Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

fn device_path(rest: &str) -> Result<PathBuf, AddressError> {
    if rest.starts_with("/dev/") { Ok(PathBuf::from(rest)) } else { Err(malformed("v4l2", "write v4l2:///dev/video0")) }
}

/// Takes `user:password@` out of an address; both may be percent-encoded.
fn remote(kind: &'static str, scheme: &str, rest: &str) -> Result<(String, UserInfo), AddressError> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let (info, host) = authority.rsplit_once('@').map_or((None, authority), |(info, host)| (Some(info), host));
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(malformed(kind, "there is no host in it"));
    }
    if let Some(port) = port(host)
        && !port.parse::<u16>().is_ok_and(|port| port > 0)
    {
        return Err(malformed(kind, format!("{port} is no port: they go from 1 to 65535")));
    }
    let location = format!("{scheme}://{host}{tail}");
    let Some(info) = info else {
        return Ok((location, None));
    };
    let (user, password) = info.split_once(':').unwrap_or((info, ""));
    let decode = |text| unescape(text).and_then(|bytes| String::from_utf8(bytes).ok());
    match (decode(user), decode(password)) {
        (Some(user), Some(password)) => Ok((location, Some((user, Secret::new(password))))),
        _ => Err(malformed(kind, "user and password are not percent-encoded UTF-8: use the keys user and password")),
    }
}

/// What follows the last colon of `host:port`, `[2001:db8::1]:port`.
fn port(host: &str) -> Option<&str> {
    let (before, port) = host.rsplit_once(':')?;
    let in_brackets = before.starts_with('[') && !before.ends_with(']');
    (!in_brackets).then_some(port)
}

/// `%41` to `A`; `None` if an escape is cut short or not hexadecimal.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digit = |n: usize| bytes.get(n).and_then(|&b| char::from(b).to_digit(16));
            out.push((digit(at + 1)? * 16 + digit(at + 2)?) as u8);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    Some(out)
}

impl Pattern {
    /// `PATTERN[?duration=10s][&size=640x360][&fps=10]`.
    fn parse(rest: &str) -> Result<Self, AddressError> {
        let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !PATTERNS.contains(&name) {
            return Err(malformed("test", format!("{name:?} is not one of the patterns {}", PATTERNS.join(", "))));
        }
        let mut pattern = Self { name: name.to_owned(), width: 640, height: 360, fps: 10, frames: None };
        let mut duration = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "duration" => duration = Some(parse_duration(value)?),
                "size" => (pattern.width, pattern.height) = parse_size(value)?,
                "fps" => pattern.fps = parse_number(key, value, MAX_TEST_FPS)?,
                other => return Err(malformed("test", format!("{other:?} is not one of duration, size, fps"))),
            }
        }
        pattern.frames = duration.map(|duration| frames_in(duration, pattern.fps)).transpose()?;
        Ok(pattern)
    }
}

fn parse_duration(value: &str) -> Result<Duration, AddressError> {
    Span::try_from(value.to_owned()).map(|span| span.0).map_err(|error| malformed("test", error.to_string()))
}

fn parse_size(value: &str) -> Result<(u32, u32), AddressError> {
    let (width, height) = value.split_once('x').ok_or_else(|| malformed("test", "write the size as 640x360"))?;
    Ok((parse_number("size", width, MAX_TEST_SIDE)?, parse_number("size", height, MAX_TEST_SIDE)?))
}

fn parse_number(key: &str, value: &str, max: u32) -> Result<u32, AddressError> {
    value
        .parse()
        .ok()
        .filter(|number| (1..=max).contains(number))
        .ok_or_else(|| malformed("test", format!("{key} takes whole numbers from 1 to {max}")))
}

fn frames_in(duration: Duration, fps: u32) -> Result<u32, AddressError> {
    let frames = (duration.as_nanos() * u128::from(fps)).div_ceil(1_000_000_000);
    if (1..=u128::from(MAX_TEST_FRAMES)).contains(&frames) {
        Ok(frames as u32)
    } else {
        Err(malformed("test", format!("duration times fps must be 1 to {MAX_TEST_FRAMES} frames")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        Address::parse(text, false).expect("is an address").0
    }

    #[test]
    fn paths_and_schemes_are_told_apart() {
        let file = |path: &str| Address::File(PathBuf::from(path));
        assert_eq!(parsed("clips/a b.mp4"), file("clips/a b.mp4"));
        assert_eq!(parsed("/a:b@c.mp4"), file("/a:b@c.mp4"));
        assert_eq!(parsed("file:///srv/a%20b.mp4"), file("/srv/a b.mp4"));
        assert_eq!(parsed("file://localhost/srv/a.mp4"), file("/srv/a.mp4"));
        assert_eq!(parsed("file://clips/a.mp4"), file("clips/a.mp4"));
        assert_eq!(parsed("v4l2:///dev/video0"), Address::Device(PathBuf::from("/dev/video0")));
        assert_eq!(parsed("rtsp://h:554/live?x=1"), Address::Rtsp("rtsp://h:554/live?x=1".to_owned()));
        assert_eq!(parsed("https://h/a.m3u8"), Address::Http("https://h/a.m3u8".to_owned()));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let bad = [
            ("", "is empty"),
            ("  ", "is empty"),
            ("ftp://h/x", "\"ftp\" is not supported"),
            ("videotestsrc ! x264enc ! fakesink", "launch fragment"),
            ("file://", "no path"),
            ("file:///a%2", "two hexadecimal digits"),
            ("file:///a%00b", "no path"),
            ("v4l2://video0", "write v4l2:///dev/video0"),
            ("rtsp//user:secret@h/x", "without its ://"),
            ("rtsp://", "no host"),
            ("rtsp://user:secret@/x", "no host"),
            ("rtsp://user:%zz@h/x", "percent-encoded"),
            ("test://", "not one of the patterns"),
            ("test://dancing", "not one of the patterns"),
            ("test://ball?duration=5", "is not a duration"),
            ("test://ball?size=640", "640x360"),
            ("test://ball?size=0x1", "from 1 to 4096"),
            ("test://ball?fps=1000", "from 1 to 120"),
            ("test://ball?speed=1", "not one of duration, size, fps"),
            ("test://ball?duration=30h", "1 to 108000 frames"),
            ("test://ball?duration=0s", "1 to 108000 frames"),
        ];
        for (text, part) in bad {
            let error = Address::parse(text, false).expect_err(text).to_string();
            assert!(error.contains(part), "{text:?}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn credentials_leave_the_address() {
        let (address, user) =
            Address::parse("rtsp://cam:p%40ss%2Fw%3Ard@10.0.0.1:554/live", false).expect("is an address");
        assert_eq!(address, Address::Rtsp("rtsp://10.0.0.1:554/live".to_owned()));
        let (name, password) = user.expect("has credentials");
        assert_eq!((name.as_str(), password.expose()), ("cam", "p@ss/w:rd"));
        let (address, user) = Address::parse("http://cam:p@ss@h/x", false).expect("is an address");
        assert_eq!(address.to_string(), "http://h/x");
        assert_eq!(user.expect("has credentials").1.expose(), "p@ss");
    }

    #[test]
    fn patterns_have_an_end_when_they_are_given_one() {
        let Address::Test(pattern) = parsed("test://ball?duration=2.5s&size=641x273&fps=3") else {
            panic!("is a pattern");
        };
        let expected = Pattern { name: "ball".to_owned(), width: 641, height: 273, fps: 3, frames: Some(8) };
        assert_eq!(pattern, expected);
        let Address::Test(endless) = parsed("test://smpte") else { panic!("is a pattern") };
        assert_eq!(endless.frames, None);
    }
}
