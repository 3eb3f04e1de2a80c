//! What a reading means for one stream. Pure.

use std::time::Duration;

use jiff::ToSpan as _;
use jiff::civil::{DateTime, Time as Shown};

use super::calendar::Which;
use super::{Event, Order, Point, Side, Time, When};
use crate::domain::{StreamKind, StreamTime, WallTime, Window, Zone};

/// "The beginning", "the end" and "halfway through" are this part of a stream …
const EDGE: f64 = 0.2;
/// … but no more than this, …
const LONGEST_EDGE: f64 = 300.0;
/// … and at least this many sampling intervals. "Now" reaches as far back.
const SHORTEST: f64 = 2.0;
/// "In the middle" draws from this part of the stream on both sides.
const MIDDLE: f64 = 0.125;
/// A live stream's "now" is at least so long: captions come some seconds late.
const LIVE_NOW: f64 = 30.0;
/// A time of day is said to the minute.
const MINUTE: f64 = 60.0;
/// "Around 2 pm" reaches so far to both sides.
const AROUND_SHOWN: f64 = 600.0;
/// Times that are no more than so many sampling intervals apart are searched as one.
const TOUCHING: f64 = 1.0;
/// "Around 0:42" reaches so many sampling intervals to both sides.
const AROUND_OFFSET: f64 = 3.0;

/// How far a stream reaches, and where its clocks stand.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::answer) struct Extent {
    /// Time of its last moment.
    pub(in crate::answer) last: StreamTime,
    /// Stream time between two samples.
    pub(in crate::answer) sample_every: Duration,
    /// Whether it has an end.
    pub(in crate::answer) kind: StreamKind,
    /// Time of day at stream time zero.
    pub(in crate::answer) epoch: WallTime,
    /// Where its clock hangs.
    pub(in crate::answer) zone: Zone,
    /// The time of day at which the question is asked.
    pub(in crate::answer) asked: WallTime,
}

/// Where to look in one stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::answer) struct Plan {
    /// The part of the stream; `None` if the time asked about lies wholly outside it.
    pub(in crate::answer) window: Option<Window>,
    /// The order within it.
    pub(in crate::answer) order: Order,
    /// The time meant by [`Order::Nearest`].
    pub(in crate::answer) at: StreamTime,
    /// The time that is preferred, and how many seconds away from it the preference is spent.
    pub(in crate::answer) lean: Option<(StreamTime, f64)>,
}

/// From and to in seconds of stream time, before the stream's beginning negative.
type Reach = (f64, f64);

const ALL: Reach = (0.0, f64::INFINITY);

/// What `time` means for a stream of this extent.
pub(in crate::answer) fn resolve(time: &Time, extent: &Extent) -> Plan {
    let clocks = Clocks::new(time, extent);
    let (reach, order, at) = clocks.whens(&time.whens);
    let day = clocks.day.map_or(ALL, |(from, to)| (clocks.offset(from), clocks.offset(to)));
    let order = match (order, time.order) {
        (Order::Nearest, _) | (_, None) => order,
        (_, Some(order)) => order,
    };
    let lean = clocks.lean(time);
    Plan { window: window((reach.0.max(day.0), reach.1.min(day.1))), order, at: stream_time(at), lean }
}

/// Whether the times asked about lie apart, or all but one is asked about.
pub(in crate::answer) fn is_apart(time: &Time, extent: &Extent) -> bool {
    let clocks = Clocks::new(time, extent);
    let reaches = time.whens.iter().map(|when| clocks.when(*when).0);
    let mut reaches: Vec<Reach> = reaches.filter(|(from, to)| from <= to).collect();
    reaches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end = reaches.first().map_or(f64::INFINITY, |first| first.1);
    let is_gap = reaches.into_iter().any(|(from, to)| {
        let is_gap = from > end + TOUCHING * clocks.every;
        end = end.max(to);
        is_gap
    });
    time.excludes || is_gap
}

/// Whether the time asked about has not come yet.
pub(in crate::answer) fn is_ahead(time: &Time, extent: &Extent) -> bool {
    let clocks = Clocks::new(time, extent);
    let (reach, ..) = clocks.whens(&time.whens);
    let from = clocks.day.map(|(from, _)| clocks.offset(from).max(reach.0));
    let is_day_ahead = from.is_some_and(|from| from.is_finite() && from > clocks.offset(clocks.now));
    is_day_ahead || !time.whens.is_empty() && time.whens.iter().all(|when| *when == When::Ahead)
}

struct Clocks<'a> {
    extent: &'a Extent,
    /// What the clock on the wall shows at the time of the question.
    now: DateTime,
    day: Option<(DateTime, DateTime)>,
    last: f64,
    every: f64,
}

impl<'a> Clocks<'a> {
    fn new(time: &Time, extent: &'a Extent) -> Self {
        let now = extent.zone.civil(extent.asked);
        // "In the morning" describes what a file shows; of a live stream it says when.
        let days = time.days.iter().filter(|day| day.which != Which::Latest || extent.kind == StreamKind::Live);
        let day = days.filter_map(|day| day.span(now)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        Self { extent, now, day, last: extent.last.seconds(), every: extent.sample_every.as_secs_f64() }
    }

    /// Stream time at which the clock on the wall shows `shown`.
    fn offset(&self, shown: DateTime) -> f64 {
        self.extent.zone.wall(shown).seconds() - self.extent.epoch.seconds()
    }

    /// Stream time of the question itself; of a file, its end.
    fn asked(&self) -> f64 {
        match self.extent.kind {
            StreamKind::File => self.last,
            StreamKind::Live => (self.extent.asked.seconds() - self.extent.epoch.seconds()).max(self.last),
        }
    }

    /// All parts as one. What lies between them is searched too, and told as searched.
    fn whens(&self, whens: &[When]) -> (Reach, Order, f64) {
        let all = whens.iter().map(|when| self.when(*when));
        let both = |(a, order, at): (Reach, Order, f64), (b, other, _): (Reach, Order, f64)| {
            let is_one = order == other && order != Order::Nearest;
            ((a.0.min(b.0), a.1.max(b.1)), if is_one { order } else { Order::Relevance }, at)
        };
        all.reduce(both).unwrap_or_else(|| self.when(When::Whole))
    }

    fn when(&self, when: When) -> (Reach, Order, f64) {
        let (last, asked) = (self.last, self.asked());
        let similar = |reach: Reach| (reach, Order::Relevance, 0.0);
        match when {
            When::Whole => similar(ALL),
            When::Beginning => ((0.0, self.edge()), Order::Earliest, 0.0),
            When::End => ((last - self.edge(), last), Order::Latest, last),
            When::VeryBeginning => ((0.0, self.every), Order::Earliest, 0.0),
            When::VeryEnd => ((last - self.every, last), Order::Latest, last),
            When::Nowhere | When::Ahead => similar((f64::INFINITY, f64::NEG_INFINITY)),
            When::FirstFrame => self.sample(0.0),
            When::LastFrame => self.sample(last),
            When::Halfway => similar((0.5 * (last - self.edge()), 0.5 * (last + self.edge()))),
            When::Part(from, to) => similar((from * last, to * last)),
            When::Opening(seconds) => similar((0.0, seconds)),
            When::Closing(seconds) => similar((last - seconds, last)),
            When::Recent(seconds) => similar((asked - seconds, asked)),
            When::Now => ((asked - self.now_length(), asked), Order::Latest, asked),
            When::At(point) => self.at(point, self.every, 0.0),
            When::Around(point) => self.at(point, AROUND_OFFSET * self.every, AROUND_SHOWN),
            When::After(point) => similar((self.point(point).0, f64::INFINITY)),
            When::Before(point) => similar((0.0, self.point(point).0)),
            When::Between(a, b) => similar(self.between(a, b)),
        }
    }

    /// The one sample at `at`.
    fn sample(&self, at: f64) -> (Reach, Order, f64) {
        ((at - self.every / 2.0, at + self.every / 2.0), Order::Nearest, at)
    }

    fn at(&self, point: Point, margin: f64, shown_margin: f64) -> (Reach, Order, f64) {
        let (at, is_shown) = self.point(point);
        let reach = if is_shown {
            (at - self.every - shown_margin, at + MINUTE + self.every + shown_margin)
        } else {
            (at - margin, at + margin)
        };
        (reach, Order::Nearest, at)
    }

    fn between(&self, a: Point, b: Point) -> Reach {
        let ((a, a_shown), (b, b_shown)) = (self.point(a), self.point(b));
        // Both were read alike unless one of them fits only one way: then it decides.
        let (a, b) = if a_shown && b_shown && b < a { (a, b + 86_400.0) } else { (a.min(b), a.max(b)) };
        // From ten in the evening until two, asked at noon, is last night's.
        if a_shown && b_shown && a > self.asked() && self.day.is_none() { (a - 86_400.0, b - 86_400.0) } else { (a, b) }
    }

    /// Stream time of a point, and whether it was read as a time of day.
    fn point(&self, point: Point) -> (f64, bool) {
        match point {
            Point::Offset(seconds) => (seconds, false),
            Point::BeforeEnd(seconds) => (self.last - seconds, false),
            Point::Ago(seconds) => (self.asked() - seconds, false),
            Point::Shown(shown) => (self.shown(shown), true),
            Point::Either { offset, shown } => self.either(offset, shown),
        }
    }

    fn either(&self, offset: f64, shown: Shown) -> (f64, bool) {
        if self.day.is_some() {
            return (self.shown(shown), true);
        }
        let (of_day, end) = (self.shown(shown), self.asked());
        let was_watched = (-MINUTE..=end).contains(&of_day);
        let is_offset = match self.extent.kind {
            StreamKind::File => offset <= self.last + self.every || !was_watched,
            StreamKind::Live => !was_watched && offset <= end,
        };
        if is_offset { (offset, false) } else { (of_day, true) }
    }

    /// A time of day on the day asked about, otherwise the latest that has passed; for a file, the latest that is not
    /// after its end.
    fn shown(&self, shown: Shown) -> f64 {
        if let Some((from, to)) = self.day {
            // Tonight reaches into the next day.
            let here = from.date().to_datetime(shown);
            let next = here.checked_add(1.days()).unwrap_or(here);
            return self.offset(if here < from && next < to { next } else { here });
        }
        let end = match self.extent.kind {
            StreamKind::Live => self.now,
            StreamKind::File => self.extent.zone.civil(self.extent.epoch.plus(Duration::from_secs_f64(self.last))),
        };
        let here = end.date().to_datetime(shown);
        let passed = if here > end { here.checked_sub(1.days()).unwrap_or(here) } else { here };
        self.offset(passed)
    }

    fn edge(&self) -> f64 {
        (self.last * EDGE).min(LONGEST_EDGE).max(self.every * SHORTEST)
    }

    /// Edges draw within their window. "In the middle" may mean a place in the picture, so it only draws, and only in
    /// what has a middle.
    fn lean(&self, time: &Time) -> Option<(StreamTime, f64)> {
        let (towards, within) = match time.whens[..] {
            [When::Beginning] => (0.0, self.edge()),
            [When::End] => (self.last, self.edge()),
            [When::Now] => (self.asked(), self.now_length()),
            [] if time.middle && self.extent.kind == StreamKind::File => (self.last / 2.0, self.last * MIDDLE),
            _ => return None,
        };
        Some((stream_time(towards), within))
    }

    fn now_length(&self) -> f64 {
        let least = if self.extent.kind == StreamKind::Live { LIVE_NOW } else { 0.0 };
        (self.every * SHORTEST).max(least)
    }
}

/// `None` if the reach ends before the stream begins, or holds nothing.
fn window((from, to): Reach) -> Option<Window> {
    if to < 0.0 || from > to || from > StreamTime::MAX.seconds() {
        return None;
    }
    Window::new(stream_time(from), stream_time(to)).ok()
}

fn stream_time(seconds: f64) -> StreamTime {
    StreamTime::from_seconds(seconds.clamp(0.0, StreamTime::MAX.seconds())).unwrap_or_default()
}

/// The part of `window` that an event points to, once it was found at `at`. Samples lie `every` apart, so what happens
/// at the event may be seen at its neighbours.
pub(in crate::answer) fn beyond(window: Window, event: &Event, at: StreamTime, every: Duration) -> Option<Window> {
    let offset = event.offset.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let (from, to) = match (event.side, offset) {
        (Side::After, Some(offset)) => (at + offset - every, at + offset + every),
        (Side::Before, Some(offset)) => (at - offset - every, at - offset + every),
        (Side::After, None) => (at, StreamTime::MAX),
        (Side::Before, None) => (StreamTime::ZERO, at),
        (Side::During, _) => (at - every * 2, at + every * 2),
    };
    Window::new(from.max(window.from()), to.min(window.to())).ok()
}
