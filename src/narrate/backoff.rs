//! When a broken source is opened again. Pure: randomness comes in as a number.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Deserialize;

use crate::config::Span;
use crate::domain::StreamState;
use crate::seams::SourceError;

/// No wait is shorter: a source that fails at once must not keep a core busy.
const LEAST: Span = Span(Duration::from_millis(10));

/// Section `[reconnect]`: the waits double from the shortest to the longest, and start over after a healthy life.
///
/// Refused credentials have waits of their own, far longer ones: cameras lock an account, or an address, that is tried
/// too often.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reconnect {
    /// The first wait, before jitter.
    pub shortest: Span,
    /// No wait is longer.
    pub longest: Span,
    /// A life with frames this long starts the waits over.
    pub healthy: Span,
    /// The first wait after the credentials were refused.
    pub unauthorized_shortest: Span,
    /// No wait after refused credentials is longer.
    pub unauthorized_longest: Span,
}

/// A value that cannot be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reconnect.{key} {problem}")]
pub struct ReconnectError {
    /// The key inside the section.
    pub key: &'static str,
    /// What to write instead.
    pub problem: String,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            shortest: Span(Duration::from_secs(1)),
            longest: Span(Duration::from_mins(1)),
            healthy: Span(Duration::from_mins(1)),
            unauthorized_shortest: Span(Duration::from_mins(5)),
            unauthorized_longest: Span(Duration::from_hours(1)),
        }
    }
}

impl Reconnect {
    /// Refuses waits that would try without a pause, or that do not grow.
    pub fn check(&self) -> Result<(), ReconnectError> {
        let waits = [
            ("shortest", self.shortest),
            ("unauthorized_shortest", self.unauthorized_shortest),
            ("healthy", self.healthy),
        ];
        for (key, value) in waits {
            if value < LEAST {
                return Err(ReconnectError { key, problem: format!("must be at least {LEAST}") });
            }
        }
        for (key, longest, shortest) in [
            ("longest", self.longest, self.shortest),
            ("unauthorized_longest", self.unauthorized_longest, self.unauthorized_shortest),
        ] {
            if longest < shortest {
                return Err(ReconnectError { key, problem: format!("must be at least {shortest}, the shortest wait") });
            }
        }
        Ok(())
    }
}

/// The section in force, shared by all streams: a change counts from the next broken life on. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Waits(Arc<RwLock<Reconnect>>);

impl Waits {
    /// As configured.
    pub fn new(bounds: Reconnect) -> Self {
        Self(Arc::new(RwLock::new(bounds)))
    }

    /// Puts another section into force.
    pub fn set(&self, bounds: Reconnect) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = bounds;
    }

    fn get(&self) -> Reconnect {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The waits of one stream so far.
#[derive(Debug, Clone)]
pub(super) struct Backoff {
    waits: Waits,
    /// Lives in a row that were not healthy, and how many of them ended with refused credentials.
    failures: u32,
    refusals: u32,
}

impl Backoff {
    pub(super) fn new(waits: Waits) -> Self {
        Self { waits, failures: 0, refusals: 0 }
    }

    /// How long to wait after a life that ended with `error` and had frames for `lived`. `jitter` in [0, 1) spreads
    /// streams that broke off together, also those that have waited for long: the wait is between half of the step and
    /// the step.
    pub(super) fn after(&mut self, error: &SourceError, lived: Duration, jitter: f64) -> Duration {
        let bounds = self.waits.get();
        if lived >= bounds.healthy.0 {
            (self.failures, self.refusals) = (0, 0);
        }
        let refused = matches!(error, SourceError::Unauthorized { .. });
        let (count, shortest, longest) = if refused {
            (&mut self.refusals, bounds.unauthorized_shortest, bounds.unauthorized_longest)
        } else {
            (&mut self.failures, bounds.shortest, bounds.longest)
        };
        let doublings = (*count).min(16);
        *count = count.saturating_add(1);
        shortest.0.saturating_mul(1 << doublings).min(longest.0).mul_f64(1.0 - 0.5 * jitter)
    }
}

/// How a stream fares after a life that ended with `error` and that will be tried again.
pub(super) fn state_after(error: &SourceError) -> StreamState {
    match error {
        SourceError::Unauthorized { .. } => StreamState::AuthFailed,
        SourceError::Stalled { .. } => StreamState::Stalled,
        SourceError::Open { .. } | SourceError::Lost { .. } => StreamState::Down,
        // Neither is tried again.
        SourceError::Unusable { .. } | SourceError::Stopped => StreamState::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::StreamId;

    fn cam() -> StreamId {
        StreamId::new("cam").expect("valid")
    }

    fn lost() -> SourceError {
        SourceError::Lost { stream: cam(), reason: "reset".into() }
    }

    fn refused() -> SourceError {
        SourceError::Unauthorized { stream: cam(), reason: "401".into() }
    }

    fn default() -> Backoff {
        Backoff::new(Waits::default())
    }

    fn seconds(waits: &[Duration]) -> Vec<f64> {
        waits.iter().map(Duration::as_secs_f64).collect()
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let mut backoff = default();
        let waits: Vec<_> = (0..8).map(|_| backoff.after(&lost(), Duration::ZERO, 0.0)).collect();
        assert_eq!(seconds(&waits), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
        for _ in 0..100 {
            assert_eq!(backoff.after(&lost(), Duration::ZERO, 0.0), Duration::from_mins(1));
        }
    }

    #[test]
    fn only_a_healthy_life_starts_over() {
        let mut backoff = default();
        let lives = [0, 0, 59, 60, 0];
        let waits: Vec<_> = lives.map(|s| backoff.after(&lost(), Duration::from_secs(s), 0.0)).into();
        assert_eq!(seconds(&waits), [1.0, 2.0, 4.0, 1.0, 2.0]);
    }

    #[test]
    fn jitter_spreads_and_stays_in_bounds() {
        for (jitter, due) in [(0.0, 1.0), (0.5, 0.75), (0.999, 0.5005)] {
            let wait = default().after(&lost(), Duration::ZERO, jitter).as_secs_f64();
            assert!((wait - due).abs() < 1e-6, "{wait} for jitter {jitter}");
        }
        let mut old = default();
        let last: Vec<_> = (0..20).map(|_| old.after(&lost(), Duration::ZERO, 0.5)).collect();
        assert_eq!(last.last(), Some(&Duration::from_secs(45)), "streams that wait longest are spread too");
    }

    #[test]
    fn refused_credentials_have_waits_of_their_own() {
        let mut backoff = default();
        let waits: Vec<_> = (0..6).map(|_| backoff.after(&refused(), Duration::ZERO, 0.0)).collect();
        assert_eq!(seconds(&waits), [300.0, 600.0, 1200.0, 2400.0, 3600.0, 3600.0]);
        assert_eq!(backoff.after(&lost(), Duration::ZERO, 0.0), Duration::from_secs(1), "another trouble is its own");
        assert_eq!(backoff.after(&refused(), Duration::from_mins(1), 0.0), Duration::from_mins(5));
    }

    #[test]
    fn a_changed_section_counts_from_the_next_broken_life_on() {
        let waits = Waits::default();
        let mut backoff = Backoff::new(waits.clone());
        let mut next = || backoff.after(&lost(), Duration::ZERO, 0.0).as_secs_f64();
        let before = [next(), next(), next()];
        waits.set(Reconnect { longest: Span(Duration::from_secs(3)), ..Reconnect::default() });
        assert_eq!((before, next()), ([1.0, 2.0, 4.0], 3.0));
        waits.set(Reconnect::default());
        assert_eq!(next(), 16.0);
    }

    #[test]
    fn each_error_has_its_state() {
        let stalled = SourceError::Stalled { stream: cam(), after: Duration::from_secs(10) };
        let open = SourceError::Open { stream: cam(), reason: "refused".into() };
        for (error, due) in [
            (lost(), StreamState::Down),
            (open, StreamState::Down),
            (stalled, StreamState::Stalled),
            (refused(), StreamState::AuthFailed),
        ] {
            assert!(error.is_transient());
            assert_eq!(state_after(&error), due, "{error}");
        }
    }

    #[test]
    fn impossible_waits_are_named() {
        Reconnect::default().check().expect("the default is valid");
        let span = |ms| Span(Duration::from_millis(ms));
        let table = [
            (Reconnect { shortest: span(0), ..Reconnect::default() }, "reconnect.shortest"),
            (Reconnect { longest: span(20), ..Reconnect::default() }, "reconnect.longest"),
            (Reconnect { unauthorized_shortest: span(1), ..Reconnect::default() }, "reconnect.unauthorized_shortest"),
            (Reconnect { unauthorized_longest: span(20), ..Reconnect::default() }, "reconnect.unauthorized_longest"),
        ];
        for (bounds, key) in table {
            let error = bounds.check().expect_err("refused").to_string();
            assert!(error.starts_with(key), "{error} does not name {key}");
        }
    }
}
