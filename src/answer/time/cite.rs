//! Which time of a long moment an answer cites. Pure.
//!
//! Unchanged pictures make a moment longer, so one that began minutes ago may be what there is about the time asked about.
//! It is that time that is cited, extracted and captioned blind, not the moment's beginning: what is claimed of 14:30 is
//! proven by the frame of 14:30.

use super::Plan;
use crate::domain::{Moment, Order};

impl Plan {
    /// A moment as it is cited here: at the time of it that was asked about. One that begins in the window is cited at its
    /// beginning, unless its end was asked for.
    pub(in crate::answer) fn cited(&self, moment: Moment) -> Moment {
        let Some(window) = self.window else { return moment };
        let at = match self.order {
            Order::Nearest => self.at,
            Order::Latest | Order::Last => moment.until,
            Order::Relevance | Order::Earliest | Order::First => moment.at,
        };
        moment.cited_at(at.max(window.from()).min(window.to()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{Caption, Fingerprint, MomentId, StreamId, StreamTime, WallTime, Window};

    fn t(seconds: f64) -> StreamTime {
        StreamTime::from_seconds(seconds).expect("a time")
    }

    fn moment(from: f64, until: f64) -> Moment {
        let model = Fingerprint::new("fake");
        let wall = WallTime::from_nanos(0).expect("in range").plus(Duration::from_secs_f64(from));
        Moment {
            id: MomentId(1),
            stream: StreamId::new("s").expect("a token"),
            at: t(from),
            until: t(until),
            wall,
            timing: None,
            caption: Caption::new("There is a car."),
            captioner: model.clone(),
            embedder: model,
        }
    }

    #[test]
    fn a_long_moment_is_cited_where_it_was_asked_about() {
        use Order::{Earliest, First, Last, Latest, Nearest, Relevance};
        let table = [
            ("a short one", (5.0, 5.0), (0.0, 10.0), Nearest, 5.0),
            ("the time itself", (0.0, 55.0), (26.0, 36.0), Nearest, 31.0),
            ("ends before it", (0.0, 29.0), (26.0, 36.0), Nearest, 29.0),
            ("begins after it", (33.0, 60.0), (26.0, 36.0), Nearest, 33.0),
            ("began before the window", (0.0, 55.0), (20.0, 40.0), Relevance, 20.0),
            ("begins in the window", (25.0, 55.0), (20.0, 40.0), Relevance, 25.0),
            ("the first time", (0.0, 55.0), (20.0, 40.0), First, 20.0),
            ("at the beginning", (0.0, 55.0), (0.0, 15.0), Earliest, 0.0),
            ("the last time", (0.0, 30.0), (20.0, 40.0), Last, 30.0),
            ("at the end", (0.0, 55.0), (45.0, 60.0), Latest, 55.0),
            ("lasts beyond the window", (0.0, 55.0), (20.0, 40.0), Latest, 40.0),
            ("outside of the window", (0.0, 5.0), (20.0, 40.0), Relevance, 5.0),
        ];
        for (what, (from, until), (low, high), order, due) in table {
            let window = Window::new(t(low), t(high)).ok();
            let cited = Plan { window, order, at: t(31.0), lean: None }.cited(moment(from, until));
            assert_eq!(cited.at, t(due), "{what}");
            assert_eq!(cited.wall.nanos(), t(due).nanos() as i64, "{what}: the time of day moves along");
            assert_eq!(cited.until, t(until), "{what}");
        }
    }
}
