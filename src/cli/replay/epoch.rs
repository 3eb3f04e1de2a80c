//! From which epoch the times of stored verdicts count. Pure.
//!
//! A live stream is recorded once for every memory that it was watched with, and a replay has a memory of its own. The
//! frames of a verdict carry both their stream time and their time of day, which together tell the epoch, up to the
//! difference between a camera's clock and ours.

use crate::bus::wire::Verdict;
use crate::domain::{StreamTime, WallTime};

/// The epoch among `recorded` that the frames of the verdicts lie nearest to; the latest one if they had none.
pub(super) fn of(recorded: &[WallTime], verdicts: &[Verdict]) -> Option<WallTime> {
    let trials = verdicts.iter().flat_map(|verdict| &verdict.trials);
    let frame = trials.filter_map(|trial| trial.evidence.as_ref()).map(|frame| (frame.timestamp, frame.wall)).next();
    match frame {
        Some(frame) => nearest(recorded, frame),
        None => recorded.iter().max().copied(),
    }
}

fn nearest(recorded: &[WallTime], (at, wall): (StreamTime, WallTime)) -> Option<WallTime> {
    let counted = wall.minus(at.saturating_since(StreamTime::ZERO)).nanos();
    recorded.iter().min_by_key(|epoch| epoch.nanos().abs_diff(counted)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(seconds: i64) -> WallTime {
        WallTime::from_nanos(seconds * 1_000_000_000).expect("a time")
    }

    #[test]
    fn the_frames_tell_the_epoch() {
        let recorded = [1000, 5000, 9000].map(wall);
        let at = |seconds: u64| StreamTime::from_nanos(seconds * 1_000_000_000);
        for (seconds, time_of_day, due) in [
            (20, 5020, Some(wall(5000))),
            // The camera's clock is a minute late.
            (20, 4960, Some(wall(5000))),
            (4500, 5500, Some(wall(1000))),
            (0, 99_000, Some(wall(9000))),
        ] {
            assert_eq!(nearest(&recorded, (at(seconds), wall(time_of_day))), due, "{seconds} s at {time_of_day}");
        }
        assert_eq!(nearest(&[], (at(1), wall(1))), None);
        assert_eq!(of(&recorded, &[]), Some(wall(9000)));
    }
}
