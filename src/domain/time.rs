//! The two clocks: seconds into a stream, and the time of day.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Why a number is not a time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TimeError {
    /// NaN, infinite, negative, or beyond 100 years.
    #[error("{0} is not a number of seconds between 0 and 3155760000")]
    Seconds(f64),
    /// Outside what RFC 3339 can say.
    #[error("{0} ns since 1970 is outside the years 0 to 9999")]
    Wall(i64),
    /// A window that ends before it starts.
    #[error("the window ends ({to}) before it starts ({from})")]
    Reversed {
        /// Start of the refused window.
        from: StreamTime,
        /// End of the refused window.
        to: StreamTime,
    },
}

const MAX_SECONDS: f64 = 3_155_760_000.0;

/// Nanoseconds since the stream's own beginning. For a file: the media time of the picture. For a live stream: wall
/// time minus the wall time at which the stream was first seen, so that it stays monotonic over reconnects.
/// Serialised as seconds (a JSON number).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct StreamTime(u64);

impl StreamTime {
    /// The beginning of the stream.
    pub const ZERO: Self = Self(0);
    /// Later than every frame.
    pub const MAX: Self = Self(3_155_760_000_000_000_000);

    /// From whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From seconds; refuses what is not a time.
    pub fn from_seconds(seconds: f64) -> Result<Self, TimeError> {
        if seconds.is_finite() && (0.0..=MAX_SECONDS).contains(&seconds) {
            Ok(Self((seconds * 1e9).round() as u64))
        } else {
            Err(TimeError::Seconds(seconds))
        }
    }

    /// Whole nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds, exact to about 0.1 µs over 30 years.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self - other`, never negative.
    pub fn saturating_since(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(other.0))
    }

    /// The distance between two times, whichever is later.
    pub fn distance(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.abs_diff(other.0))
    }
}

impl TryFrom<f64> for StreamTime {
    type Error = TimeError;

    fn try_from(seconds: f64) -> Result<Self, TimeError> {
        Self::from_seconds(seconds)
    }
}

impl From<StreamTime> for f64 {
    fn from(at: StreamTime) -> Self {
        at.seconds()
    }
}

impl Add<Duration> for StreamTime {
    type Output = Self;

    /// Saturates at the end of time.
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)).min(Self::MAX.0))
    }
}

impl Sub<Duration> for StreamTime {
    type Output = Self;

    /// Saturates at zero.
    fn sub(self, d: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for StreamTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.seconds())
    }
}

/// A time of day: nanoseconds since 1970 in UTC. Serialised as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WallTime(jiff::Timestamp);

impl WallTime {
    /// Now, by this machine's clock.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now())
    }

    /// From nanoseconds since 1970.
    pub fn from_nanos(nanos: i64) -> Result<Self, TimeError> {
        jiff::Timestamp::from_nanosecond(i128::from(nanos)).map(Self).map_err(|_| TimeError::Wall(nanos))
    }

    /// For the zone of a stream.
    pub(super) fn from_timestamp(at: jiff::Timestamp) -> Self {
        Self(at)
    }

    /// For the zone of a stream.
    pub(super) fn timestamp(self) -> jiff::Timestamp {
        self.0
    }

    /// Nanoseconds since 1970, saturating (years 1678 to 2262 are exact).
    pub fn nanos(self) -> i64 {
        let nanos = self.0.as_nanosecond();
        i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> f64 {
        self.0.as_nanosecond() as f64 / 1e9
    }

    /// `self + d`, saturating.
    #[must_use]
    pub fn plus(self, d: Duration) -> Self {
        Self(self.0.checked_add(d).unwrap_or(jiff::Timestamp::MAX))
    }

    /// The time of day `d` before; stops at the limit of what RFC 3339 can say.
    #[must_use]
    pub fn minus(self, d: Duration) -> Self {
        Self(self.0.checked_sub(d).unwrap_or(jiff::Timestamp::MIN))
    }

    /// `self - other`, zero if `other` is later (clocks step).
    pub fn saturating_since(self, other: Self) -> Duration {
        Duration::try_from(self.0.duration_since(other.0)).unwrap_or(Duration::ZERO)
    }
}

impl From<std::time::SystemTime> for WallTime {
    fn from(time: std::time::SystemTime) -> Self {
        Self(jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A span of stream time, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    from: StreamTime,
    to: StreamTime,
}

impl Window {
    /// The whole stream.
    pub const ALL: Self = Self { from: StreamTime::ZERO, to: StreamTime::MAX };

    /// From `from` to `to`.
    pub fn new(from: StreamTime, to: StreamTime) -> Result<Self, TimeError> {
        if from <= to { Ok(Self { from, to }) } else { Err(TimeError::Reversed { from, to }) }
    }

    /// First instant.
    pub fn from(self) -> StreamTime {
        self.from
    }

    /// Last instant.
    pub fn to(self) -> StreamTime {
        self.to
    }

    /// Whether `at` lies inside.
    pub fn contains(self, at: StreamTime) -> bool {
        (self.from..=self.to).contains(&at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_no_time_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, -1.0, -1e-9, 1e10] {
            assert!(StreamTime::from_seconds(bad).is_err(), "{bad} was accepted");
        }
        assert_eq!(StreamTime::from_seconds(12.48).expect("a time").nanos(), 12_480_000_000);
        assert!(serde_json::from_str::<StreamTime>("-3").is_err());
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        let second = Duration::from_secs(1);
        assert_eq!(StreamTime::ZERO - second, StreamTime::ZERO);
        assert_eq!(StreamTime::MAX + second, StreamTime::MAX);
        assert_eq!(StreamTime::from_nanos(5).distance(StreamTime::from_nanos(8)), Duration::from_nanos(3));
    }

    #[test]
    fn wall_time_is_rfc3339() {
        let at = WallTime::from_nanos(1_790_000_000_500_000_000).expect("in range");
        let json = serde_json::to_string(&at).expect("serialises");
        assert_eq!(json, "\"2026-09-21T14:13:20.5Z\"");
        assert_eq!(serde_json::from_str::<WallTime>(&json).expect("parses"), at);
    }

    #[test]
    fn a_window_cannot_be_reversed() {
        let (early, late) = (StreamTime::from_nanos(1), StreamTime::from_nanos(2));
        assert!(Window::new(late, early).is_err());
        assert!(Window::new(early, late).expect("ordered").contains(late));
    }
}
