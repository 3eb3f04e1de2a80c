//! The stream time of live frames. Pure; fed with both clocks of the machine.

use std::time::Duration;

use crate::domain::{StreamTime, WallTime};

/// How far the time of day may run ahead of the ticks before it counts as having been set.
const SET_AHEAD: Duration = Duration::from_secs(1);

/// Stream time = time of day minus the stream's epoch, never running backwards.
///
/// Within one life of a stream the ticks of the monotonic clock are counted on from the time of day at its beginning.
/// A time of day that is set forward is followed (the stream has a gap, as it would after a reconnect); one that is set
/// back is not, until the stream is opened again: media time of cameras is no alternative, as it drifts by seconds a
/// minute.
#[derive(Debug, Clone)]
pub(super) struct LiveClock {
    epoch: WallTime,
    /// Stream time at tick zero.
    start: StreamTime,
}

impl LiveClock {
    /// Tick zero is now. A stream whose epoch lies in the future stands at zero until it is reached.
    pub(super) fn new(epoch: WallTime, now: WallTime) -> Self {
        Self { epoch, start: since(epoch, now) }
    }

    /// The stream time of a frame that arrives `now`, `ticks` after the clock was made.
    pub(super) fn stamp(&mut self, now: WallTime, ticks: Duration) -> StreamTime {
        let counted = self.start + ticks;
        let told = since(self.epoch, now);
        if told > counted + SET_AHEAD {
            self.start = told - ticks;
            return told;
        }
        counted
    }
}

fn since(epoch: WallTime, now: WallTime) -> StreamTime {
    StreamTime::ZERO + now.saturating_since(epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(seconds: i64) -> WallTime {
        WallTime::from_nanos((1_790_000_000 + seconds) * 1_000_000_000).expect("in range")
    }

    fn at(seconds: u64) -> StreamTime {
        StreamTime::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn both_clocks_agree_in_peace() {
        let mut clock = LiveClock::new(wall(0), wall(100));
        assert_eq!(clock.stamp(wall(100), Duration::ZERO), at(100));
        assert_eq!(clock.stamp(wall(105), Duration::from_secs(5)), at(105));
    }

    #[test]
    fn a_clock_set_forward_is_followed_and_one_set_back_is_not() {
        let mut clock = LiveClock::new(wall(0), wall(10));
        assert_eq!(clock.stamp(wall(3611), Duration::from_secs(1)), at(3611));
        assert_eq!(clock.stamp(wall(3612), Duration::from_secs(2)), at(3612));
        assert_eq!(clock.stamp(wall(13), Duration::from_secs(3)), at(3613));
    }

    #[test]
    fn an_epoch_in_the_future_does_not_go_negative() {
        let mut clock = LiveClock::new(wall(50), wall(0));
        assert_eq!(clock.stamp(wall(1), Duration::from_secs(1)), at(1));
    }
}
