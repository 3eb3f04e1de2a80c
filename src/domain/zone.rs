//! Where a stream's clock on the wall hangs: what "this morning" and "14:30" mean for it.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde::{Deserialize, Serialize};

use super::WallTime;

/// A time zone: `local` (this machine's), `UTC`, an IANA name (`Europe/Berlin`, needs the system's zone files), an
/// offset (`+02:00`), or a POSIX rule (`CET-1CEST,M3.5.0,M10.5.0/3`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

/// A text that names no time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no time zone known here: write local, UTC, a name such as Europe/Berlin (needs the package tzdata), or \
     an offset such as +02:00"
)]
pub struct ZoneError(String);

impl Zone {
    /// Universal time.
    pub const UTC_NAME: &'static str = "UTC";

    /// This machine's zone.
    pub fn local() -> Self {
        let rules = TimeZone::system();
        Self { name: rules.iana_name().unwrap_or("local").to_owned(), rules }
    }

    /// Universal time.
    pub fn utc() -> Self {
        Self { name: Self::UTC_NAME.to_owned(), rules: TimeZone::UTC }
    }

    /// From its name.
    pub fn parse(name: &str) -> Result<Self, ZoneError> {
        let rules = match name {
            "local" => return Ok(Self::local()),
            "UTC" | "Z" => return Ok(Self::utc()),
            _ if name.starts_with(['+', '-']) => offset(name),
            _ => TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok(),
        };
        let rules = rules.ok_or_else(|| ZoneError(name.to_owned()))?;
        Ok(Self { name: name.to_owned(), rules })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// What a clock on the wall shows at `at`.
    pub fn civil(&self, at: WallTime) -> DateTime {
        at.timestamp().to_zoned(self.rules.clone()).datetime()
    }

    /// When a clock on the wall shows `shown`. Of two such times, as when summer time ends, the first; a time that is
    /// skipped is moved by as much as the clocks are. Years beyond what can be said saturate.
    pub fn wall(&self, shown: DateTime) -> WallTime {
        let zoned = shown.to_zoned(self.rules.clone());
        let end = if shown.year() > 0 { jiff::Timestamp::MAX } else { jiff::Timestamp::MIN };
        WallTime::from_timestamp(zoned.map_or(end, |zoned| zoned.timestamp()))
    }
}

/// `+02:00`, `-0330`, `+5`.
fn offset(text: &str) -> Option<TimeZone> {
    let (sign, digits) = text.split_at(1);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
        None => (digits, "0"),
    };
    let plain = |text: &str| text.parse::<i32>().ok().filter(|_| text.bytes().all(|c| c.is_ascii_digit()));
    let (hours, minutes) = (plain(hours)?, plain(minutes).filter(|minutes| *minutes < 60)?);
    let seconds = hours.checked_mul(3600)?.checked_add(minutes * 60)?;
    Offset::from_seconds(if sign == "-" { -seconds } else { seconds }).ok().map(TimeZone::fixed)
}

impl Default for Zone {
    fn default() -> Self {
        Self::local()
    }
}

impl TryFrom<String> for Zone {
    type Error = ZoneError;

    fn try_from(name: String) -> Result<Self, ZoneError> {
        Self::parse(&name)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(text: &str) -> WallTime {
        serde_json::from_str(&format!("{text:?}")).expect("a time")
    }

    #[test]
    fn a_zone_turns_times_of_day_and_back() {
        let summer = "CET-1CEST,M3.5.0,M10.5.0/3";
        let table = [
            ("UTC", "2026-07-01T12:00:00Z", "2026-07-01T12:00:00"),
            ("+02:00", "2026-07-01T12:00:00Z", "2026-07-01T14:00:00"),
            ("-0330", "2026-07-01T12:00:00Z", "2026-07-01T08:30:00"),
            ("+5", "2026-07-01T20:00:00Z", "2026-07-02T01:00:00"),
            (summer, "2026-07-01T12:00:00Z", "2026-07-01T14:00:00"),
            (summer, "2026-12-01T12:00:00Z", "2026-12-01T13:00:00"),
        ];
        for (name, at, shown) in table {
            let zone = Zone::parse(name).expect("a zone");
            let shown: DateTime = shown.parse().expect("a time");
            assert_eq!(zone.civil(wall(at)), shown, "{name}");
            assert_eq!(zone.wall(shown), wall(at), "{name}");
        }
    }

    #[test]
    fn a_time_that_is_skipped_or_comes_twice_is_still_a_time() {
        let zone = Zone::parse("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        let at = |shown: &str| zone.wall(shown.parse().expect("a time"));
        assert_eq!(at("2026-03-29T02:30:00"), wall("2026-03-29T01:30:00Z"), "skipped");
        assert_eq!(at("2026-10-25T02:30:00"), wall("2026-10-25T00:30:00Z"), "twice");
    }

    #[test]
    fn what_names_no_zone_is_refused() {
        for name in ["", "Berlin", "+", "+xx", "+1:99", "+99:00", "Europe/", "+02:0é"] {
            let refused = Zone::parse(name).expect_err(name);
            assert!(refused.to_string().contains("time zone"), "{refused}");
        }
    }
}
