//! Which frames are tried for a claim after the cited one. Pure.
//!
//! Only the direct neighbours among the sampled frames count, and only if they are near in time: on the far side of a
//! gap lies another scene.

use std::time::Duration;

use crate::domain::StreamTime;
use crate::index::Neighbours;

/// A neighbour may be this many sampling intervals away: samples lie on key frames and may come late.
const REACH: u32 = 2;

/// The neighbours to try, nearest first and the earlier one first if both are as near, with their place (-1 or +1).
/// A cited time that is no sample (somebody else's claim) has its neighbours one sampling interval away.
pub(super) fn neighbours(cited: StreamTime, around: Neighbours, sample_every: Duration) -> Vec<(StreamTime, i8)> {
    let (before, after) = match around.at {
        // Within a span the next sample is one interval away.
        Some(_) if around.until.is_some_and(|until| until > cited) => {
            (around.before, around.until.map(|until| until.min(cited + sample_every)))
        }
        Some(_) => (around.before, around.after),
        None => (Some(cited - sample_every), Some(cited + sample_every)),
    };
    let near = |at: &StreamTime| *at != cited && at.distance(cited) <= sample_every * REACH;
    let mut found: Vec<(StreamTime, i8)> =
        [before.filter(near).map(|at| (at, -1)), after.filter(near).map(|at| (at, 1))].into_iter().flatten().collect();
    found.sort_by_key(|(at, _)| at.distance(cited));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(seconds: u64) -> StreamTime {
        StreamTime::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn neighbours_are_near_and_nearest_first() {
        let around = |before: Option<u64>, at: Option<u64>, after: Option<u64>| Neighbours {
            before: before.map(t),
            at: at.map(t),
            until: at.map(t),
            after: after.map(t),
        };
        let table: [(&str, u64, Neighbours, &[(u64, i8)]); 7] = [
            ("regular", 10, around(Some(5), Some(10), Some(15)), &[(5, -1), (15, 1)]),
            ("the later is nearer", 10, around(Some(4), Some(10), Some(14)), &[(14, 1), (4, -1)]),
            ("at the beginning", 0, around(None, Some(0), Some(5)), &[(5, 1)]),
            ("alone", 10, around(None, Some(10), None), &[]),
            ("behind a gap", 10, around(Some(5), Some(10), Some(600)), &[(5, -1)]),
            ("no sample", 12, around(Some(10), None, Some(15)), &[(7, -1), (17, 1)]),
            ("no sample, at the beginning", 0, around(None, None, None), &[(5, 1)]),
        ];
        let inside = Neighbours { until: Some(t(30)), ..around(Some(5), Some(10), Some(60)) };
        let due = [(t(5), -1), (t(15), 1)];
        assert_eq!(neighbours(t(10), inside, Duration::from_secs(5)), due, "in a long moment");
        let short = Neighbours { until: Some(t(12)), ..around(None, Some(10), Some(60)) };
        assert_eq!(neighbours(t(10), short, Duration::from_secs(5)), [(t(12), 1)], "it ends sooner");
        for (name, cited, around, due) in table {
            let due: Vec<_> = due.iter().map(|(at, place)| (t(*at), *place)).collect();
            assert_eq!(neighbours(t(cited), around, Duration::from_secs(5)), due, "{name}");
        }
    }
}
