//! How much of a window was seen, and where and how often a thing was shown in it. Pure.
//!
//! Time is counted in slots of one sampling interval, as the sampler does: one sample is due in each slot that the window
//! touches. A moment fills the slots of its span. A slot whose
//! captions tell nothing counts as unobservable, and so does one inside a stretch without sight, whatever captions say.

use std::time::Duration;

use crate::domain::{Bounds, Coverage, StreamId, StreamKind, StreamTime, Stretch, Window};

/// More stretches or gaps than this are counted and not told.
pub(super) const TOLD: usize = 32;
/// More slots than this are not looked at; the earlier ones count as missing. 231 days at 5 s.
const MOST_SLOTS: u64 = 4_000_000;
/// A live stream's captions may be so many slots late.
const LATE: u64 = 2;

/// What the samples of a slot say about the thing asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::answer) enum Slot {
    /// No sample.
    Missing,
    /// A sample that showed nothing, or nothing that could be named.
    Blind,
    /// The thing is not spoken of.
    Clear,
    /// It is spoken of, and not as asked or not for sure.
    Unclear,
    /// It is shown.
    Shown,
}

/// The slots of one stream's window.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::answer) struct Slots {
    stream: StreamId,
    every: u64,
    first: u64,
    states: Vec<Slot>,
    /// Slots of the window before `first`.
    skipped: u64,
}

/// Which samples a stream should hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::answer) struct Due {
    pub(in crate::answer) kind: StreamKind,
    pub(in crate::answer) every: Duration,
    /// Time of the last moment.
    pub(in crate::answer) last: StreamTime,
    /// Stream time of the question; for a file, its end.
    pub(in crate::answer) asked: StreamTime,
}

impl Due {
    fn every(&self) -> u64 {
        u64::try_from(self.every.as_nanos()).unwrap_or(u64::MAX).max(1)
    }

    /// The window widened to whole slots, as far as the stream reaches; `None` if it does not reach it.
    pub(in crate::answer) fn whole(&self, window: Window) -> Option<Window> {
        let (first, last) = self.slots(window)?;
        let every = self.every();
        let end = last.saturating_add(1).saturating_mul(every).saturating_sub(1);
        let (from, to) = (StreamTime::from_nanos(first.saturating_mul(every)), StreamTime::from_nanos(end));
        Window::new(from, to.min(StreamTime::MAX)).ok()
    }

    fn slots(&self, window: Window) -> Option<(u64, u64)> {
        let every = self.every();
        let reached = self.last.nanos() / every;
        let due = match self.kind {
            StreamKind::File => reached,
            StreamKind::Live => reached.max((self.asked.nanos() / every).saturating_sub(LATE)),
        };
        let (first, last) = (window.from().nanos() / every, (window.to().nanos() / every).min(due));
        (first <= last).then_some((first, last))
    }
}

impl Slots {
    /// Every slot missing.
    pub(in crate::answer) fn new(stream: StreamId, window: Window, due: Due) -> Option<Self> {
        let (first, last) = due.slots(window)?;
        let count = last - first + 1;
        let skipped = count.saturating_sub(MOST_SLOTS);
        let states = vec![Slot::Missing; (count - skipped) as usize];
        Some(Self { stream, every: due.every(), first: first + skipped, states, skipped })
    }

    /// Notes what was found from `from` to `to`. Of two samples in one slot the one that says more counts.
    pub(in crate::answer) fn put(&mut self, from: StreamTime, to: StreamTime, state: Slot) {
        let (from, to) = (from.nanos() / self.every, to.nanos() / self.every);
        let end = (self.first + self.states.len() as u64).min(to.saturating_add(1));
        for slot in from.max(self.first)..end {
            let held = &mut self.states[(slot - self.first) as usize];
            if rank(state) > rank(*held) {
                *held = state;
            }
        }
    }

    /// Notes that nothing could be seen, whatever was found there.
    pub(in crate::answer) fn blind(&mut self, from: StreamTime, to: StreamTime) {
        let (from, to) = (from.nanos() / self.every, to.nanos() / self.every);
        let end = (self.first + self.states.len() as u64).min(to.saturating_add(1));
        for slot in from.max(self.first)..end {
            self.states[(slot - self.first) as usize] = Slot::Blind;
        }
    }

    pub(in crate::answer) fn count(&self, state: Slot) -> u64 {
        self.states.iter().filter(|held| **held == state).count() as u64
    }

    /// Adds what was seen of this stream.
    pub(in crate::answer) fn add_to(&self, coverage: &mut Coverage) {
        let (missing, blind) = (self.count(Slot::Missing) + self.skipped, self.count(Slot::Blind));
        let due = self.states.len() as u64 + self.skipped;
        coverage.due += due;
        coverage.missing += missing;
        coverage.unobservable += blind;
        coverage.seen += due - missing - blind;
        let gaps = self.runs(|state| matches!(state, Slot::Missing | Slot::Blind));
        coverage.gaps.extend(gaps.take(TOLD.saturating_sub(coverage.gaps.len())).map(|run| self.stretch(run)));
    }

    /// Where the thing was shown.
    pub(in crate::answer) fn stretches(&self) -> Vec<Stretch> {
        self.runs(|state| state == Slot::Shown).map(|run| self.stretch(run)).collect()
    }

    /// How many separate times it was shown. At least: stretches with no more than one clear sample between them are one
    /// (a captioner misses one now and then), and so are those with nothing but unseen samples between. At most: each
    /// stretch is another time.
    pub(in crate::answer) fn times(&self) -> Bounds {
        let runs: Vec<(usize, usize)> = self.runs(|state| state == Slot::Shown).collect();
        let apart = |pair: &&[(usize, usize)]| {
            let between = &self.states[pair[0].1 + 1..pair[1].0];
            between.iter().filter(|state| **state == Slot::Clear).count() > 1
        };
        let separate = runs.windows(2).filter(apart).count();
        Bounds { least: (separate + usize::from(!runs.is_empty())) as f64, most: runs.len() as f64 }
    }

    /// For how many seconds it was shown. At least from the first to the last sample of each stretch; at most up to the
    /// samples around, and in every sample that was not seen.
    pub(in crate::answer) fn seconds(&self) -> Bounds {
        let every = self.every as f64 / 1e9;
        let runs = self.runs(|state| state == Slot::Shown).count() as f64;
        let shown = self.count(Slot::Shown) as f64;
        let unseen = self.states.iter().filter(|state| !matches!(state, Slot::Clear | Slot::Shown)).count() as f64;
        let least = (shown - runs).max(0.0) * every;
        let most = if runs == 0.0 { 0.0 } else { (shown + runs + unseen + self.skipped as f64) * every };
        Bounds { least, most }
    }

    /// First and last index of each run of such slots.
    fn runs(&self, is: impl Fn(Slot) -> bool) -> impl Iterator<Item = (usize, usize)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let begin = at + self.states[at..].iter().position(|state| is(*state))?;
            let length = self.states[begin..].iter().position(|state| !is(*state));
            let end = length.map_or(self.states.len(), |length| begin + length);
            at = end;
            Some((begin, end - 1))
        })
    }

    fn stretch(&self, (begin, end): (usize, usize)) -> Stretch {
        let time = |index: usize| StreamTime::from_nanos((self.first + index as u64).saturating_mul(self.every));
        Stretch { stream: self.stream.clone(), from: time(begin), to: time(end) }
    }
}

fn rank(state: Slot) -> u8 {
    match state {
        Slot::Missing => 0,
        Slot::Blind => 1,
        Slot::Clear => 2,
        Slot::Unclear => 3,
        Slot::Shown => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(seconds: f64) -> StreamTime {
        StreamTime::from_seconds(seconds).expect("a time")
    }

    fn window(from: f64, to: f64) -> Window {
        Window::new(t(from), t(to)).expect("ordered")
    }

    fn due(kind: StreamKind, last: f64, asked: f64) -> Due {
        Due { kind, every: Duration::from_secs(5), last: t(last), asked: t(asked) }
    }

    fn slots(states: &str) -> Slots {
        let mut slots = Slots::new(
            StreamId::new("cam").expect("a token"),
            Window::ALL,
            due(StreamKind::File, 5.0 * states.len() as f64 - 1.0, 0.0),
        )
        .expect("slots");
        for (index, state) in states.chars().enumerate() {
            let at = t(5.0 * index as f64 + 1.0);
            match state {
                '#' => slots.put(at, at, Slot::Shown),
                '.' => slots.put(at, at, Slot::Clear),
                '?' => slots.put(at, at, Slot::Unclear),
                'x' => slots.blind(at, at),
                _ => {}
            }
        }
        slots
    }

    #[test]
    fn samples_are_due_where_the_window_and_the_stream_are() {
        use StreamKind::{File, Live};
        let table = [
            ("a file", Window::ALL, due(File, 99.0, 99.0), 20),
            ("the end of a file", window(90.0, 200.0), due(File, 99.0, 99.0), 2),
            ("a window within", window(37.0, 47.0), due(File, 99.0, 99.0), 3),
            ("a window of whole slots", window(10.0, 20.0), due(File, 99.0, 99.0), 3),
            ("beyond the end", window(200.0, 300.0), due(File, 99.0, 99.0), 0),
            ("a camera that is up", Window::ALL, due(Live, 99.0, 104.0), 20),
            ("a camera that went down", Window::ALL, due(Live, 99.0, 1010.0), 201),
            ("later than now", window(0.0, 9000.0), due(Live, 99.0, 104.0), 20),
        ];
        for (name, window, due, count) in table {
            let slots = Slots::new(StreamId::new("cam").expect("a token"), window, due);
            assert_eq!(slots.map_or(0, |slots| slots.states.len()), count, "{name}");
        }
        let whole = due(File, 99.0, 99.0).whole(window(37.0, 47.0)).expect("a window");
        assert_eq!((whole.from(), whole.to().seconds().ceil()), (t(35.0), 50.0));
    }

    #[test]
    fn what_was_seen_is_counted() {
        let mut coverage = Coverage::default();
        slots("..#  xx.?").add_to(&mut coverage);
        let Coverage { due, seen, unobservable, missing, gaps } = coverage;
        assert_eq!((due, seen, unobservable, missing), (9, 5, 2, 2));
        assert_eq!(gaps.iter().map(|gap| (gap.from, gap.to)).collect::<Vec<_>>(), [(t(15.0), t(30.0))]);
    }

    #[test]
    fn a_span_fills_its_slots_and_the_one_that_says_more_counts() {
        use Slot::{Blind, Clear, Missing, Shown};

        let mut slots = slots("      ");
        slots.put(t(6.0), t(17.0), Slot::Clear);
        slots.put(t(11.0), t(11.0), Slot::Shown);
        slots.put(t(12.0), t(12.0), Slot::Clear);
        slots.put(t(20.0), t(20.0), Slot::Blind);
        slots.put(t(15.0), t(16.0), Slot::Blind);
        assert_eq!(slots.states, [Missing, Clear, Shown, Clear, Blind, Missing]);
    }

    #[test]
    fn times_and_seconds_lie_between_bounds() {
        let table: [(&str, (f64, f64), (f64, f64)); 9] = [
            ("......", (0.0, 0.0), (0.0, 0.0)),
            ("..##..", (1.0, 1.0), (5.0, 15.0)),
            ("#....#", (2.0, 2.0), (0.0, 20.0)),
            ("##.##.", (1.0, 2.0), (10.0, 30.0)),
            ("##..##", (2.0, 2.0), (10.0, 30.0)),
            ("##  ##", (1.0, 2.0), (10.0, 40.0)),
            ("##xx##", (1.0, 2.0), (10.0, 40.0)),
            ("##.x.#", (2.0, 2.0), (5.0, 30.0)),
            ("######", (1.0, 1.0), (25.0, 35.0)),
        ];
        for (states, times, seconds) in table {
            let slots = slots(states);
            let bounds = |Bounds { least, most }| (least, most);
            assert_eq!((bounds(slots.times()), bounds(slots.seconds())), (times, seconds), "{states:?}");
        }
    }

    #[test]
    fn a_window_of_years_is_counted_without_being_held() {
        let due = Due {
            kind: StreamKind::File,
            every: Duration::from_millis(10),
            last: StreamTime::MAX,
            asked: StreamTime::MAX,
        };
        let slots = Slots::new(StreamId::new("cam").expect("a token"), Window::ALL, due).expect("slots");
        let mut coverage = Coverage::default();
        slots.add_to(&mut coverage);
        assert_eq!((slots.states.len() as u64, coverage.missing), (MOST_SLOTS, coverage.due));
    }
}
