//! Log sites that could repeat with every message: one line a minute, which says how many it stands for.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_mins(1);

/// The memory of one log site.
#[derive(Debug, Default)]
pub(super) struct Quiet(Mutex<(Option<Instant>, u64)>);

impl Quiet {
    /// Whether to speak now, and how many times this site kept silent since it last spoke.
    pub(super) fn speak(&self) -> Option<u64> {
        self.speak_at(Instant::now())
    }

    fn speak_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, swallowed) = *state;
        if last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
            state.1 += 1;
            return None;
        }
        *state = (Some(now), 0);
        Some(swallowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_minute_stands_for_the_rest() {
        let (quiet, start) = (Quiet::default(), Instant::now());
        assert_eq!(quiet.speak_at(start), Some(0));
        assert_eq!(quiet.speak_at(start + PAUSE / 2), None);
        assert_eq!(quiet.speak_at(start + PAUSE / 2), None);
        assert_eq!(quiet.speak_at(start + PAUSE), Some(2));
        assert_eq!(quiet.speak_at(start + 2 * PAUSE), Some(0));
    }
}
