//! Which frame is on display at a time. Pure; owns the best candidate so far.

use std::time::Duration;

use crate::domain::StreamTime;

/// The frame on display at `at`: of the frames whose times grow strictly, in decoding order, the last at or before `at`.
///
/// Frames that repeat a time or run backwards never count, as the sampler never keeps one: so a sampled time always
/// leads back to the very frame that was sampled. A frame stays on display until the next one, also through a gap.
#[derive(Debug)]
pub(super) struct Reach<F> {
    at: StreamTime,
    best: Option<Candidate<F>>,
    offered: usize,
}

/// A frame that may be the one.
#[derive(Debug)]
pub(super) struct Candidate<F> {
    /// Its time.
    pub(super) at: StreamTime,
    /// How long it says that it lasts.
    pub(super) lasts: Option<Duration>,
    /// Whether it was the first one offered: after a seek its time may have been cut to the time sought.
    pub(super) first: bool,
    /// The frame.
    pub(super) frame: F,
}

impl<F> Reach<F> {
    pub(super) fn new(at: StreamTime) -> Self {
        Self { at, best: None, offered: 0 }
    }

    /// Offers the next frame; true as soon as the answer is known.
    pub(super) fn offer(&mut self, at: StreamTime, lasts: Option<Duration>, frame: F) -> bool {
        if at > self.at {
            return true;
        }
        let first = self.offered == 0;
        self.offered += 1;
        if self.best.as_ref().is_none_or(|best| at > best.at) {
            self.best = Some(Candidate { at, lasts, first, frame });
        }
        false
    }

    /// The last frame at or before the time.
    pub(super) fn into_best(self) -> Option<Candidate<F>> {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(at: u64, times: &[u64]) -> (Option<(u64, usize)>, usize) {
        let mut reach = Reach::new(StreamTime::from_nanos(at));
        let mut used = 0;
        for (n, &time) in times.iter().enumerate() {
            used += 1;
            if reach.offer(StreamTime::from_nanos(time), None, n) {
                break;
            }
        }
        (reach.into_best().map(|best| (best.at.nanos(), best.frame)), used)
    }

    #[test]
    fn the_frame_on_display_is_the_last_at_or_before() {
        type Row = (&'static str, u64, &'static [u64], Option<(u64, usize)>, usize);
        let table: &[Row] = &[
            ("exactly on a frame", 20, &[0, 10, 20, 30, 40], Some((20, 2)), 4),
            ("between frames", 25, &[0, 10, 20, 30, 40], Some((20, 2)), 4),
            ("in a gap", 500, &[0, 10, 900], Some((10, 1)), 3),
            ("before the first", 5, &[7, 10], None, 1),
            ("at the last", 40, &[0, 40], Some((40, 1)), 2),
            ("nothing", 5, &[], None, 0),
            ("repeated times: the first of them", 10, &[0, 10, 10, 20], Some((10, 1)), 4),
            ("backwards frames never count", 25, &[0, 20, 10, 30], Some((20, 1)), 4),
        ];
        for (name, at, times, best, used) in table {
            assert_eq!(reach(*at, times), (*best, *used), "{name}");
        }
    }

    #[test]
    fn the_first_frame_is_marked() {
        let mut one = Reach::new(StreamTime::from_nanos(5));
        assert!(!one.offer(StreamTime::from_nanos(1), None, ()));
        assert!(one.into_best().expect("offered").first);
        let mut two = Reach::new(StreamTime::from_nanos(5));
        assert!(!two.offer(StreamTime::from_nanos(1), None, ()));
        assert!(!two.offer(StreamTime::from_nanos(2), None, ()));
        assert!(!two.into_best().expect("offered").first);
    }
}
