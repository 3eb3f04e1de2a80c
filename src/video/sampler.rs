//! Which frames to keep: one a slot of stream time. Pure; owns nothing but the last slot used.

use std::time::Duration;

use crate::domain::StreamTime;

/// Keeps the first frame, in decoding order, of every slot `[k · every, (k + 1) · every)` of stream time.
///
/// A slot without a frame is skipped, never filled from a neighbour. A frame whose time runs backwards into a slot that
/// is used up, or an earlier one, is not kept. So the kept times grow strictly, and which are kept depends on the
/// frames alone: a sampler resumed with `after` keeps what an uninterrupted one keeps after it.
#[derive(Debug, Clone)]
pub(super) struct Sampler {
    every: u64,
    last: Option<u64>,
}

impl Sampler {
    /// `after` is the last frame that was kept in an earlier life. An interval of zero keeps every nanosecond.
    pub(super) fn new(every: Duration, after: Option<StreamTime>) -> Self {
        let every = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { every, last: after.map(|at| at.nanos() / every) }
    }

    /// Whether to keep the frame at `at`; if so, its slot is used up.
    pub(super) fn keep(&mut self, at: StreamTime) -> bool {
        let slot = at.nanos() / self.every;
        let fresh = self.last.is_none_or(|last| slot > last);
        if fresh {
            self.last = Some(slot);
        }
        fresh
    }

    /// The earliest time that can still be kept.
    pub(super) fn next_due(&self) -> StreamTime {
        let slot = self.last.map_or(0, |last| last.saturating_add(1));
        StreamTime::from_nanos(slot.saturating_mul(self.every))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(times: &[u64]) -> Vec<StreamTime> {
        times.iter().map(|ms| StreamTime::from_nanos(ms * 1_000_000)).collect()
    }

    fn kept(every: Duration, after: Option<u64>, times: &[u64]) -> Vec<u64> {
        let mut sampler = Sampler::new(every, after.map(|ms| StreamTime::from_nanos(ms * 1_000_000)));
        ms(times).into_iter().filter(|&at| sampler.keep(at)).map(|at| at.nanos() / 1_000_000).collect()
    }

    #[test]
    fn the_first_frame_of_each_slot_is_kept() {
        let second = Duration::from_secs(1);
        let table: &[(&str, &[u64], &[u64])] = &[
            ("steady", &[0, 400, 800, 1200, 1600, 2000, 2400], &[0, 1200, 2000]),
            ("frame on the edge belongs to the later slot", &[999, 1000, 1001], &[999, 1000]),
            ("does not start at zero", &[350, 700, 1050], &[350, 1050]),
            ("starts slots late", &[7300, 7900, 8000], &[7300, 8000]),
            ("gap leaves slots empty", &[0, 500, 4700, 4900, 5000], &[0, 4700, 5000]),
            ("variable rate", &[0, 10, 20, 1900, 1910, 2500, 6000], &[0, 1900, 2500, 6000]),
            ("backwards within a slot", &[0, 1500, 1200, 2100], &[0, 1500, 2100]),
            ("backwards over slots", &[3000, 1000, 2000, 3500, 4000], &[3000, 4000]),
            ("repeated times", &[0, 0, 1000, 1000], &[0, 1000]),
            ("slower than the interval", &[0, 3000, 6000], &[0, 3000, 6000]),
            ("nothing", &[], &[]),
        ];
        for (name, times, expected) in table {
            assert_eq!(kept(second, None, times), *expected, "{name}");
        }
    }

    #[test]
    fn resuming_after_any_kept_frame_keeps_the_same_rest() {
        let times: Vec<u64> = (0..400).map(|n| 130 + n * 41 + (n % 7) * 13).collect();
        for every in [100, 250, 1000, 5000].map(Duration::from_millis) {
            let whole = kept(every, None, &times);
            for (n, &after) in whole.iter().enumerate() {
                assert_eq!(kept(every, Some(after), &times), whole[n + 1..], "after {after} ms, every {every:?}");
            }
        }
    }

    #[test]
    fn seeking_to_what_is_due_loses_nothing() {
        let mut sampler = Sampler::new(Duration::from_secs(5), None);
        assert_eq!(sampler.next_due(), StreamTime::ZERO);
        assert!(sampler.keep(ms(&[7300])[0]));
        assert_eq!(sampler.next_due(), ms(&[10_000])[0]);
        assert!(!sampler.keep(ms(&[9999])[0]));
        assert!(sampler.keep(sampler.next_due()));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut sampler = Sampler::new(Duration::ZERO, Some(StreamTime::MAX));
        assert!(!sampler.keep(StreamTime::MAX));
        let mut sampler = Sampler::new(Duration::MAX, None);
        assert!(sampler.keep(StreamTime::ZERO));
        assert!(!sampler.keep(StreamTime::MAX));
        assert_eq!(sampler.next_due(), StreamTime::from_nanos(u64::MAX));
    }
}
