//! Where to look again. Pure.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::domain::{Order, StreamTime, Window};

/// Fresh frames lie no farther apart than this …
const FINE: Duration = Duration::from_secs(1);
/// … and at most half a sampling interval.
const OF_INTERVAL: u32 = 2;

/// Stream time between two fresh frames of a stream that is sampled every `sample_every`.
pub(super) fn step(sample_every: Duration) -> Duration {
    FINE.min(sample_every / OF_INTERVAL).max(Duration::from_millis(1))
}

/// At most `most` times around `best`, nearest first and the later one first of two, less than an interval away, within
/// `window` and none of `known`.
pub(super) fn finer(
    best: StreamTime,
    sample_every: Duration,
    window: Window,
    known: &BTreeSet<StreamTime>,
    most: usize,
) -> Vec<StreamTime> {
    let step = step(sample_every);
    let steps = (1..).map(|i| step * i).take_while(|away| *away < sample_every);
    let both = steps.flat_map(|away| [Some(best + away), (best - away != best).then(|| best - away)]);
    let mut found: Vec<StreamTime> = Vec::new();
    for at in both.flatten().filter(|at| window.contains(*at) && !known.contains(at)) {
        if found.len() < most && !found.contains(&at) {
            found.push(at);
        }
    }
    found
}

/// The frame that proves a claim which was read from the one at `read_at`: a step later, or earlier at the end.
pub(super) fn beside(read_at: StreamTime, sample_every: Duration, last: StreamTime) -> StreamTime {
    let step = step(sample_every);
    let later = read_at + step;
    if later <= last || read_at.saturating_since(StreamTime::ZERO) < step { later } else { read_at - step }
}

/// A window twice as long to both sides, if the question leaves its bounds open: "the beginning", "the end".
pub(super) fn wider(window: Window, order: Order, last: StreamTime) -> Option<Window> {
    let is_open = matches!(order, Order::Earliest | Order::Latest);
    let length = window.to().min(last).saturating_since(window.from());
    let to = window.to().min(last) + length;
    let wide = Window::new(window.from() - length, to.min(last)).ok()?;
    (is_open && (wide.from() < window.from() || wide.to() > window.to().min(last))).then_some(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(seconds: f64) -> StreamTime {
        StreamTime::from_seconds(seconds).expect("a time")
    }

    fn w(from: f64, to: f64) -> Window {
        Window::new(t(from), t(to)).expect("ordered")
    }

    #[test]
    fn fresh_frames_lie_around_the_best_moment() {
        let s = Duration::from_secs;
        let table: [(&str, f64, Duration, Window, &[f64], usize, &[f64]); 9] = [
            ("both sides", 20.0, s(5), Window::ALL, &[], 9, &[21.0, 19.0, 22.0, 18.0, 23.0, 17.0, 24.0, 16.0]),
            ("no more than wanted", 20.0, s(5), Window::ALL, &[], 3, &[21.0, 19.0, 22.0]),
            ("at the beginning", 0.0, s(5), Window::ALL, &[], 9, &[1.0, 2.0, 3.0, 4.0]),
            ("near the beginning", 1.0, s(3), Window::ALL, &[], 9, &[2.0, 0.0, 3.0]),
            ("within the window", 20.0, s(5), w(19.0, 21.0), &[], 9, &[21.0, 19.0]),
            ("known ones are not looked at again", 20.0, s(3), Window::ALL, &[21.0, 18.0], 9, &[19.0, 22.0]),
            ("often sampled", 20.0, s(1), Window::ALL, &[], 9, &[20.5, 19.5]),
            ("seldom sampled", 20.0, s(60), Window::ALL, &[], 4, &[21.0, 19.0, 22.0, 18.0]),
            ("none wanted", 20.0, s(5), Window::ALL, &[], 0, &[]),
        ];
        for (name, best, every, window, known, most, due) in table {
            let known = known.iter().map(|at| t(*at)).collect();
            let due: Vec<_> = due.iter().map(|at| t(*at)).collect();
            assert_eq!(finer(t(best), every, window, &known, most), due, "{name}");
        }
    }

    #[test]
    fn another_frame_proves_what_was_read() {
        let s = Duration::from_secs;
        for (name, read_at, every, last, due) in [
            ("later", 20.0, s(5), 80.0, 21.0),
            ("earlier at the end", 80.0, s(5), 80.0, 79.0),
            ("half an interval", 20.0, s(1), 80.0, 20.5),
            ("nothing else is there", 0.0, s(5), 0.0, 1.0),
        ] {
            let found = beside(t(read_at), every, t(last));
            assert_eq!(found, t(due), "{name}");
            assert_ne!(found, t(read_at), "{name}");
        }
    }

    #[test]
    fn only_open_windows_get_wider() {
        let table = [
            ("the beginning", w(0.0, 8.0), Order::Earliest, Some(w(0.0, 16.0))),
            ("the end", w(72.0, 80.0), Order::Latest, Some(w(64.0, 80.0))),
            (
                "the end, without an end",
                Window::new(t(72.0), StreamTime::MAX).expect("ordered"),
                Order::Latest,
                Some(w(64.0, 80.0)),
            ),
            ("at 0:42", w(40.0, 45.0), Order::Nearest, None),
            ("between two times", w(40.0, 45.0), Order::Relevance, None),
            ("everything", w(0.0, 80.0), Order::Earliest, None),
        ];
        for (name, window, order, due) in table {
            assert_eq!(wider(window, order, t(80.0)), due, "{name}");
        }
    }
}
