//! Which part of a stream a question is about, and in what order its moments matter. Pure.
//!
//! Understood so far: `between X and Y`, `from X to Y`, `at X`, `after X`, `before X`, `in the first/last N minutes`,
//! the beginning, the end, now, and `first`/`last` of something. Anything else is the whole stream by relevance.

use std::time::Duration;

use super::clock::{self, Reading, Word};
use crate::domain::{Hit, StreamTime, Window};

/// How far a stream reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Time of its last moment.
    pub(super) last: StreamTime,
    /// Stream time between two samples.
    pub(super) sample_every: Duration,
}

/// In what order retrieved moments are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Most similar first.
    Relevance,
    /// Earliest first, whatever they show.
    Earliest,
    /// Latest first, whatever they show.
    Latest,
    /// Of the similar ones, the earliest first.
    First,
    /// Of the similar ones, the latest first.
    Last,
    /// Nearest to a time first.
    Nearest(StreamTime),
}

/// What to retrieve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// The part of the stream.
    pub(super) window: Window,
    /// The order within it.
    pub(super) order: Order,
}

impl Plan {
    const WHOLE: Self = Self { window: Window::ALL, order: Order::Relevance };
}

/// "The beginning" and "the end" are this part of a stream …
const EDGE: f64 = 0.1;
/// … but no more than this.
const LONGEST_EDGE: Duration = Duration::from_mins(5);
/// "The first car" is the earliest moment whose similarity is at least this part of the best one's.
const SIMILAR: f32 = 0.75;
/// Moments looked at for each one wanted when the order is not by relevance.
const WIDER: usize = 4;

/// Reads a question. The first rule that matches decides; the more exact ones stand first.
pub(super) fn plan(question: &str, extent: Extent) -> Plan {
    let words = clock::words(question);
    let by_word =
        |rule: fn(&[Word<'_>], Extent) -> Option<Plan>| (0..words.len()).find_map(|at| rule(&words[at..], extent));
    by_word(between)
        .or_else(|| by_word(edge_of_length))
        .or_else(|| by_word(relative_to))
        .or_else(|| by_word(edge))
        .or_else(|| by_word(now))
        .or_else(|| by_word(ordinal))
        .unwrap_or(Plan::WHOLE)
}

/// How many hits to search for so that `arrange` can choose `k`.
pub(super) fn candidates(order: Order, k: usize) -> usize {
    if order == Order::Relevance { k } else { k.saturating_mul(WIDER) }
}

/// Orders hits that came best first, and keeps `k`.
pub(super) fn arrange(mut hits: Vec<Hit>, order: Order, k: usize) -> Vec<Hit> {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    if matches!(order, Order::First | Order::Last) {
        let least = hits.first().map_or(0.0, |best| best.score * SIMILAR);
        hits.retain(|hit| hit.score >= least);
    }
    let time = |hit: &Hit| (hit.moment.wall, hit.moment.at);
    match order {
        Order::Relevance => {}
        Order::Earliest | Order::First => hits.sort_by_key(time),
        Order::Latest | Order::Last => hits.sort_by_key(|hit| std::cmp::Reverse(time(hit))),
        Order::Nearest(at) => hits.sort_by_key(|hit| hit.moment.distance(at)),
    }
    hits.truncate(k);
    hits
}

/// `between 0:10 and 0:20`, `from 10 to 20 seconds`.
fn between(words: &[Word<'_>], _: Extent) -> Option<Plan> {
    if !matches!(words[0].core.as_str(), "between" | "from") {
        return None;
    }
    let rest = &words[1..];
    let first = clock::read(rest).or_else(|| bare(rest))?;
    if !matches!(rest.get(first.words)?.core.as_str(), "and" | "to" | "until" | "till") {
        return None;
    }
    let second = clock::read(&rest[first.words + 1..])?;
    // "from 10 to 20 minutes": a number without a unit takes the other's.
    let scale = match clock::read(rest) {
        Some(_) => 1.0,
        None => {
            second.seconds / clock::number(&rest[first.words + 1].core).filter(|n| *n > 0.0).unwrap_or(second.seconds)
        }
    };
    let (a, b) = (time(first.seconds * scale)?, time(second.seconds)?);
    Some(Plan { window: Window::new(a.min(b), a.max(b)).ok()?, order: Order::Relevance })
}

/// `in the first 10 seconds`, `in the last minute`, `in the past 5 minutes`.
fn edge_of_length(words: &[Word<'_>], extent: Extent) -> Option<Plan> {
    let side = words[0].core.as_str();
    if !matches!(side, "first" | "last" | "past" | "final" | "previous") {
        return None;
    }
    let singular = ["second", "minute", "hour"];
    let seconds = match words.get(1) {
        Some(word) if singular.contains(&word.core.as_str()) => match word.core.as_str() {
            "second" => 1.0,
            "minute" => 60.0,
            _ => 3600.0,
        },
        _ => clock::read(words.get(1..)?)?.seconds,
    };
    let length = Duration::try_from_secs_f64(seconds).ok()?;
    let (window, order) = if side == "first" {
        (Window::new(StreamTime::ZERO, StreamTime::ZERO + length), Order::Relevance)
    } else {
        (Window::new(extent.last - length, extent.last), Order::Relevance)
    };
    Some(Plan { window: window.ok()?, order })
}

/// `at 0:42`, `after 1 minute`, `before 0:10`.
fn relative_to(words: &[Word<'_>], extent: Extent) -> Option<Plan> {
    const FILLERS: [&str; 7] = ["the", "about", "around", "approximately", "exactly", "roughly", "time"];
    let word = words[0].core.as_str();
    if !matches!(word, "at" | "around" | "after" | "since" | "before" | "until") {
        return None;
    }
    let skip = 1 + words[1..].iter().take_while(|word| FILLERS.contains(&word.core.as_str())).count();
    let at = time(clock::read(&words[skip..])?.seconds)?;
    let (window, order) = match word {
        "after" | "since" => (Window::new(at, StreamTime::MAX), Order::Relevance),
        "before" | "until" => (Window::new(StreamTime::ZERO, at), Order::Relevance),
        _ => (Window::new(at - extent.sample_every, at + extent.sample_every), Order::Nearest(at)),
    };
    Some(Plan { window: window.ok()?, order })
}

/// `at the beginning`, `at the end of the video`, `in the first frame`; but not `at the end of the street`.
fn edge(words: &[Word<'_>], extent: Extent) -> Option<Plan> {
    let core = |i: usize| words.get(i).map_or("", |word| word.core.as_str());
    let of_video = core(2) != "of" || matches!(core(4), "video" | "clip" | "footage" | "recording" | "stream" | "film");
    let frame = matches!(core(1), "frame" | "frames" | "image" | "scene" | "moment" | "moments");
    let (start, end) = match (core(0), core(1)) {
        ("the", "beginning" | "start" | "opening") => (of_video, false),
        ("the", "end" | "ending" | "finish") => (false, of_video),
        ("first" | "opening", _) => (frame, false),
        ("last" | "final" | "closing", _) => (false, frame),
        _ => (false, false),
    };
    let length = edge_length(extent);
    if start {
        let window = Window::new(StreamTime::ZERO, StreamTime::ZERO + length).ok()?;
        return Some(Plan { window, order: Order::Earliest });
    }
    let window = Window::new(extent.last - length, extent.last).ok()?;
    end.then_some(Plan { window, order: Order::Latest })
}

/// `now`, `currently`, `at the moment`, `most recently`, `latest`.
fn now(words: &[Word<'_>], extent: Extent) -> Option<Plan> {
    let core = |i: usize| words.get(i).map_or("", |word| word.core.as_str());
    let asked = match core(0) {
        "now" | "currently" | "latest" => true,
        "at" => (core(1), core(2)) == ("the", "moment"),
        "most" => matches!(core(1), "recent" | "recently"),
        _ => false,
    };
    let window = Window::new(extent.last - extent.sample_every * 2, extent.last).ok()?;
    asked.then_some(Plan { window, order: Order::Latest })
}

/// `the first car`, `first seen`, `the last person`.
fn ordinal(words: &[Word<'_>], _: Extent) -> Option<Plan> {
    let order = match words[0].core.as_str() {
        "first" | "earliest" | "initially" => Order::First,
        "last" | "final" | "lastly" => Order::Last,
        _ => return None,
    };
    Some(Plan { window: Window::ALL, order })
}

fn edge_length(extent: Extent) -> Duration {
    let part = Duration::from_nanos(extent.last.nanos()).mul_f64(EDGE);
    part.min(LONGEST_EDGE).max(extent.sample_every * 2)
}

fn bare(words: &[Word<'_>]) -> Option<Reading> {
    let seconds = clock::number(&words.first()?.core)?;
    Some(Reading { seconds, words: 1 })
}

fn time(seconds: f64) -> Option<StreamTime> {
    StreamTime::from_seconds(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Caption, Fingerprint, Moment, MomentId, StreamId, WallTime};

    fn t(seconds: f64) -> StreamTime {
        StreamTime::from_seconds(seconds).expect("a time")
    }

    #[test]
    fn questions_name_their_time() {
        let extent = Extent { last: t(200.0), sample_every: Duration::from_secs(5) };
        let (all, max) = ((0.0, StreamTime::MAX.seconds()), StreamTime::MAX.seconds());
        let table = [
            ("How many people are there?", all, Order::Relevance),
            ("What is there at the beginning?", (0.0, 20.0), Order::Earliest),
            ("What happens at the start of the video?", (0.0, 20.0), Order::Earliest),
            ("What does the first frame show?", (0.0, 20.0), Order::Earliest),
            ("Who is there at the end?", (180.0, 200.0), Order::Latest),
            ("Is a car at the end of the street?", all, Order::Relevance),
            ("When did the car start?", all, Order::Relevance),
            ("What do the last frames show?", (180.0, 200.0), Order::Latest),
            ("Is anybody there now?", (190.0, 200.0), Order::Latest),
            ("What is there at the moment?", (190.0, 200.0), Order::Latest),
            ("Who was most recently there?", (190.0, 200.0), Order::Latest),
            ("When was the first car seen?", all, Order::First),
            ("When was the last person there?", all, Order::Last),
            ("What is there at 0:42?", (37.0, 47.0), Order::Nearest(t(42.0))),
            ("What is there at 15 seconds?", (10.0, 20.0), Order::Nearest(t(15.0))),
            ("What is there at around 2 s?", (0.0, 7.0), Order::Nearest(t(2.0))),
            ("At second 15, who is there?", (10.0, 20.0), Order::Nearest(t(15.0))),
            ("What happens between 0:10 and 0:20?", (10.0, 20.0), Order::Relevance),
            ("What happens between 20 s and 10 s?", (10.0, 20.0), Order::Relevance),
            ("What happens from 1 to 2 minutes?", (60.0, 120.0), Order::Relevance),
            ("Who passed in the first 30 seconds?", (0.0, 30.0), Order::Relevance),
            ("Who passed in the last 2 minutes?", (80.0, 200.0), Order::Relevance),
            ("Who passed in the last minute?", (140.0, 200.0), Order::Relevance),
            ("Who passed in the last 10 minutes?", (0.0, 200.0), Order::Relevance),
            ("Who passed after 1:00?", (60.0, max), Order::Relevance),
            ("Who passed before one minute?", (0.0, 60.0), Order::Relevance),
            ("Are there people from 3 to 5 cars?", all, Order::Relevance),
            ("between", all, Order::Relevance),
            ("at", all, Order::Relevance),
            ("", all, Order::Relevance),
            ("at 99999999999999999999 seconds", all, Order::Relevance),
        ];
        for (question, (from, to), order) in table {
            let plan = plan(question, extent);
            assert_eq!((plan.window.from().seconds(), plan.window.to().seconds()), (from, to), "{question:?}");
            assert_eq!(plan.order, order, "{question:?}");
        }
    }

    #[test]
    fn an_edge_has_a_least_and_a_greatest_length() {
        let length = |last: f64| edge_length(Extent { last: t(last), sample_every: Duration::from_secs(5) }).as_secs();
        assert_eq!([length(0.0), length(80.0), length(1000.0), length(1e6)], [10, 10, 100, 300]);
    }

    #[test]
    fn hits_are_taken_in_the_order_asked_for() {
        let hits = [(10.0, 0.9), (30.0, 0.8), (0.0, 0.2), (20.0, 0.7)];
        let table: [(Order, &[f64]); 6] = [
            (Order::Relevance, &[10.0, 30.0, 20.0]),
            (Order::Earliest, &[0.0, 10.0, 20.0]),
            (Order::Latest, &[30.0, 20.0, 10.0]),
            (Order::First, &[10.0, 20.0, 30.0]),
            (Order::Last, &[30.0, 20.0, 10.0]),
            (Order::Nearest(t(21.0)), &[20.0, 30.0, 10.0]),
        ];
        for (order, due) in table {
            let taken = arrange(hits.iter().map(|(at, score)| hit(*at, *score)).collect(), order, 3);
            assert_eq!(taken.iter().map(|hit| hit.moment.at.seconds()).collect::<Vec<_>>(), due, "{order:?}");
        }
        assert_eq!(candidates(Order::Relevance, 5), 5);
        assert_eq!(candidates(Order::First, 5), 20);
    }

    fn hit(at: f64, score: f32) -> Hit {
        let model = Fingerprint::new("fake");
        let moment = Moment {
            id: MomentId(1),
            stream: StreamId::new("cam").expect("a token"),
            at: t(at),
            until: t(at),
            wall: WallTime::from_nanos(t(at).nanos() as i64).expect("in range"),
            caption: Caption::new("There is a car."),
            captioner: model.clone(),
            embedder: model,
        };
        Hit { moment, score }
    }
}
