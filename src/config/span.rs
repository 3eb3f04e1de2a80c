//! Durations as people write them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A duration as written in configuration: `"250ms"`, `"5s"`, `"2m"`, `"1h"`, `"7d"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub Duration);

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a duration: write a number with ms, s, m, h or d, such as \"5s\"")]
pub struct SpanError(String);

const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];

impl TryFrom<String> for Span {
    type Error = SpanError;

    fn try_from(text: String) -> Result<Self, SpanError> {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = UNITS.iter().find(|(name, _)| *name == &text[number.len()..]);
        unit.zip(number.parse::<f64>().ok())
            .and_then(|((_, seconds), n)| Duration::try_from_secs_f64(n * seconds).ok())
            .map(Self)
            .ok_or(SpanError(text))
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        if millis.is_multiple_of(1000) { write!(f, "{}s", millis / 1000) } else { write!(f, "{millis}ms") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_numbers_with_units() {
        let parse = |text: &str| Span::try_from(text.to_owned()).map(|span| span.0);
        assert_eq!(parse("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse("1.5m"), Ok(Duration::from_secs(90)));
        for bad in ["", "5", "s", "-1s", "NaNs", "5 s", "1e400s", "5S"] {
            assert!(parse(bad).is_err(), "{bad:?} was accepted");
        }
    }
}
