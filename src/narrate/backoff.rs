//! When a broken source is opened again. Pure: randomness comes in as a number.

use std::time::Duration;

use crate::seams::SourceError;

/// The waits: they double from the shortest to the longest, and start over after a healthy life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Backoff {
    /// The first wait, before jitter.
    pub(super) shortest: Duration,
    /// No wait is longer.
    pub(super) longest: Duration,
    /// A life with frames this long starts the waits over.
    pub(super) healthy: Duration,
    failures: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new(Duration::from_secs(1), Duration::from_mins(1), Duration::from_mins(1))
    }
}

impl Backoff {
    pub(super) fn new(shortest: Duration, longest: Duration, healthy: Duration) -> Self {
        Self { shortest, longest, healthy, failures: 0 }
    }

    /// How long to wait after a life that ended with `error` and had frames for `lived`. `jitter` in [0, 1) spreads
    /// streams that broke off together: the wait is between the full and one and a half times the step, capped.
    pub(super) fn after(&mut self, error: &SourceError, lived: Duration, jitter: f64) -> Duration {
        if lived >= self.healthy {
            self.failures = 0;
        }
        let doublings = self.failures.min(16);
        self.failures = self.failures.saturating_add(1);
        if matches!(error, SourceError::Unauthorized { .. }) {
            // Cameras lock accounts that are tried too often.
            return self.longest;
        }
        self.shortest.saturating_mul(1 << doublings).min(self.longest).mul_f64(1.0 + 0.5 * jitter).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::StreamId;

    fn lost() -> SourceError {
        SourceError::Lost { stream: StreamId::new("cam").expect("valid"), reason: "reset".into() }
    }

    fn seconds(waits: &[Duration]) -> Vec<f64> {
        waits.iter().map(Duration::as_secs_f64).collect()
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..8).map(|_| backoff.after(&lost(), Duration::ZERO, 0.0)).collect();
        assert_eq!(seconds(&waits), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
        for _ in 0..100 {
            assert_eq!(backoff.after(&lost(), Duration::ZERO, 0.99), Duration::from_mins(1));
        }
    }

    #[test]
    fn only_a_healthy_life_starts_over() {
        let mut backoff = Backoff::default();
        let lives = [0, 0, 59, 60, 0];
        let waits: Vec<_> = lives.map(|s| backoff.after(&lost(), Duration::from_secs(s), 0.0)).into();
        assert_eq!(seconds(&waits), [1.0, 2.0, 4.0, 1.0, 2.0]);
    }

    #[test]
    fn jitter_spreads_and_stays_in_bounds() {
        for (jitter, due) in [(0.0, 1.0), (0.5, 1.25), (0.999, 1.4995)] {
            let wait = Backoff::default().after(&lost(), Duration::ZERO, jitter).as_secs_f64();
            assert!((wait - due).abs() < 1e-6, "{wait} for jitter {jitter}");
        }
    }

    #[test]
    fn refused_credentials_wait_longest() {
        let refused = SourceError::Unauthorized { stream: StreamId::new("cam").expect("valid"), reason: "401".into() };
        assert_eq!(Backoff::default().after(&refused, Duration::ZERO, 0.0), Duration::from_mins(1));
    }
}
