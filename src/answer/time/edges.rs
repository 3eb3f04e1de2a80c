//! Phrases about a stream's beginning, end, middle and parts. Pure.

use super::When;
use super::clock::{self, Word, core};
use super::point::Point;
use super::rules::{Found, Here, Taken};

pub(super) const VIDEO: [&str; 9] =
    ["video", "clip", "footage", "recording", "stream", "film", "movie", "scene", "tape"];

/// `the beginning`, `the end of the video`, `first frame`; but not `the end of the street`.
pub(super) fn edge(Here { words, before, .. }: Here<'_>) -> Option<Taken> {
    let (taken, is_end) = edge_at(words, before)?;
    if words[..taken].iter().any(|word| matches!(word.core.as_str(), "frame" | "image" | "picture")) {
        return Some((taken, Found::When(if is_end { When::LastFrame } else { When::FirstFrame })));
    }
    if before == "very" || words[..taken].iter().any(|word| word.core == "very") {
        return Some((taken, Found::When(if is_end { When::VeryEnd } else { When::VeryBeginning })));
    }
    Some((taken, Found::When(at(is_end))))
}

/// The window of an edge.
pub(super) fn at(is_end: bool) -> When {
    if is_end { When::End } else { When::Beginning }
}

/// How many words name an edge, or say that the video starts or ends, and whether it is the end.
pub(super) fn bound(words: &[Word<'_>], before: &str) -> Option<(usize, bool)> {
    edge_at(words, before).or_else(|| bound_of_video(words))
}

/// `the clip ends`, `the video starts`.
pub(super) fn bound_of_video(words: &[Word<'_>]) -> Option<(usize, bool)> {
    let skip = usize::from(matches!(core(words, 0), "the" | "this"));
    if !VIDEO.contains(&core(words, skip)) {
        return None;
    }
    match core(words, skip + 1) {
        "starts" | "started" | "begins" | "began" => Some((skip + 2, false)),
        "ends" | "ended" | "stops" | "stopped" | "finishes" | "finished" => Some((skip + 2, true)),
        _ => None,
    }
}

fn edge_at(words: &[Word<'_>], before: &str) -> Option<(usize, bool)> {
    const OTHER: [&str; 18] = [
        "line", "zone", "table", "button", "school", "man", "woman", "one", "lady", "boy", "girl", "person", "row",
        "up", "position", "point", "cap", "result",
    ];
    const SEEN: [&str; 11] =
        ["frame", "frames", "image", "images", "picture", "scene", "scenes", "moment", "moments", "seconds", "minutes"];
    let skip = words.iter().take_while(|word| matches!(word.core.as_str(), "the" | "very")).count();
    let introduced = skip > 0 || matches!(before, "the" | "very" | "at" | "in" | "near" | "towards" | "toward");
    let (noun, next) = (core(words, skip), core(words, skip + 1));
    let of = of_video(words.get(skip + 1..).unwrap_or_default());
    let is_end = matches!(noun, "end" | "ending" | "finish");
    match noun {
        "beginning" | "start" | "end" if introduced => {
            let other = of == 0 && (next == "of" || OTHER.contains(&next)) && !words[skip].ends_clause();
            (!other).then_some((skip + 1 + of, is_end))
        }
        "opening" | "ending" | "finish" | "beginning" | "start" | "end" if of > 0 => Some((skip + 1 + of, is_end)),
        "first" | "opening" | "last" | "final" | "closing" => {
            let of = of_video(words.get(skip + 2..).unwrap_or_default());
            SEEN.contains(&next).then_some((skip + 2 + of, matches!(noun, "last" | "final" | "closing")))
        }
        _ => None,
    }
}

/// `first half`, `second quarter`, `last third`, `middle of the video`, `early in the clip`.
pub(super) fn part(Here { words, .. }: Here<'_>) -> Option<Taken> {
    const THIRD: f64 = 1.0 / 3.0;
    let (first, second) = (core(words, 0), core(words, 1));
    let of = |skip: usize| of_video(words.get(skip..).unwrap_or_default());
    // "the first quarter of an hour" is a length.
    if core(words, 2) == "of" && matches!(core(words, 3), "a" | "an") {
        return None;
    }
    let (from, to, taken) = match (first, second) {
        ("first", "half") => (0.0, 0.5, 2 + of(2)),
        ("second" | "last" | "latter", "half") => (0.5, 1.0, 2 + of(2)),
        ("first", "third") => (0.0, THIRD, 2 + of(2)),
        ("second" | "middle", "third") => (THIRD, 2.0 * THIRD, 2 + of(2)),
        ("last" | "final", "third") => (2.0 * THIRD, 1.0, 2 + of(2)),
        ("first", "quarter") => (0.0, 0.25, 2 + of(2)),
        ("second", "quarter") => (0.25, 0.5, 2 + of(2)),
        ("third", "quarter") => (0.5, 0.75, 2 + of(2)),
        ("last" | "final" | "fourth", "quarter") => (0.75, 1.0, 2 + of(2)),
        ("middle" | "midst", _) if of(1) > 0 => (THIRD, 2.0 * THIRD, 1 + of(1)),
        ("early", "on") => (0.0, THIRD, 2),
        ("early", _) if of(1) > 0 => (0.0, THIRD, 1 + of(1)),
        ("late" | "later", _) if of(1) > 0 => (2.0 * THIRD, 1.0, 1 + of(1)),
        _ => return None,
    };
    Some((taken, Found::When(When::Part(from, to))))
}

/// `halfway through the video`, `midway`, `the halfway point`, `the midpoint of the clip`.
pub(super) fn halfway(Here { words, .. }: Here<'_>) -> Option<Taken> {
    let taken = match (core(words, 0), core(words, 1)) {
        ("halfway" | "midway" | "half-way", "through" | "into") => {
            let skip = 2 + usize::from(core(words, 2) == "the");
            skip + usize::from(VIDEO.contains(&core(words, skip)))
        }
        ("halfway" | "half-way", "point" | "mark") => 2 + of_video(&words[2..]),
        ("midpoint" | "mid-point", next) => {
            let of = of_video(&words[1..]);
            let other = of == 0 && next == "of" && !words[0].ends_clause();
            (!other).then_some(1 + of)?
        }
        _ => return None,
    };
    Some((taken, Found::When(When::Halfway)))
}

/// `with 15 seconds left`, `with a minute to go`.
pub(super) fn left(Here { words, .. }: Here<'_>) -> Option<Taken> {
    if core(words, 0) != "with" {
        return None;
    }
    let reading = clock::quantities(&words[1..])?;
    let taken = 1 + reading.words;
    let end = match (core(words, taken), core(words, taken + 1)) {
        ("left" | "remaining", _) => 1,
        ("to", "go") => 2,
        _ => return None,
    };
    let of = of_video(&words[taken + end..]);
    Some((taken + end + of, Found::When(When::At(Point::BeforeEnd(reading.seconds)))))
}

/// How many words are `of the video`; 0 if none.
pub(super) fn of_video(words: &[Word<'_>]) -> usize {
    match (core(words, 0), core(words, 1), core(words, 2)) {
        ("of" | "in" | "into", "the" | "this", video) if VIDEO.contains(&video) => 3,
        ("of", video, _) if VIDEO.contains(&video) => 2,
        _ => 0,
    }
}
