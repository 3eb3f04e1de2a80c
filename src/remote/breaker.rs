//! When to stop asking an endpoint that fails. Pure: the time is handed in.
//!
//! Closed while calls succeed; open for a pause after so many failed in a row; then one call at a time is let through to
//! see whether it is back. What is refused here fails at once, so that a question about a dead endpoint is answered in
//! milliseconds and not after a deadline.

use std::time::{Duration, Instant};

/// The state of one endpoint.
#[derive(Debug)]
pub(super) struct Breaker {
    limit: u32,
    pause: Duration,
    failures: u32,
    /// No calls until then, but for one at a time.
    closed_again: Option<Instant>,
}

impl Breaker {
    /// Closed. Opens for `pause` after `limit` failures in a row.
    pub(super) fn new(limit: u32, pause: Duration) -> Self {
        Self { limit: limit.max(1), pause, failures: 0, closed_again: None }
    }

    /// Whether a call may be made now; otherwise how long to wait. The call that is let through after a pause holds the
    /// others off for another one: if it never tells how it ended, the next one is tried after that.
    pub(super) fn admit(&mut self, now: Instant) -> Result<(), Duration> {
        match self.closed_again {
            Some(until) if now < until => Err(until - now),
            Some(_) => {
                self.closed_again = Some(now + self.pause);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A call succeeded.
    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
        self.closed_again = None;
    }

    /// A call failed, with all its tries.
    pub(super) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.limit {
            self.closed_again = Some(now + self.pause);
        }
    }

    /// Whether calls are refused, or tried one at a time.
    pub(super) fn is_open(&self) -> bool {
        self.closed_again.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_closes_after_a_success() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut breaker = Breaker::new(2, Duration::from_secs(10));
        breaker.failed(at(0));
        breaker.succeeded();
        breaker.failed(at(1));
        assert_eq!((breaker.admit(at(1)), breaker.is_open()), (Ok(()), false), "one failure in a row");
        breaker.failed(at(2));
        assert_eq!((breaker.admit(at(5)), breaker.is_open()), (Err(Duration::from_secs(7)), true));
        assert_eq!(breaker.admit(at(12)), Ok(()), "one is let through");
        assert_eq!(breaker.admit(at(13)), Err(Duration::from_secs(9)), "and one only");
        breaker.failed(at(14));
        assert_eq!(breaker.admit(at(15)), Err(Duration::from_secs(9)), "it is still away");
        assert_eq!(breaker.admit(at(24)), Ok(()));
        assert_eq!(breaker.admit(at(34)), Ok(()), "the one that was let through never told");
        breaker.succeeded();
        assert_eq!((breaker.admit(at(34)), breaker.admit(at(34)), breaker.is_open()), (Ok(()), Ok(()), false));
    }
}
