//! The phrases by which a question names its time. Each rule reads one phrase from the beginning of some words. Pure.

use super::calendar::{self, Day};
use super::clock::{self, Word, core};
use super::edges::{self, VIDEO, bound, of_video};
use super::point::{self, Point};
use super::{Order, Side, When};

/// What a phrase says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// Which part of the stream.
    When(When),
    /// Which two parts: "at 3 and 7 seconds".
    Both(When, When),
    /// Which day.
    Day(Day),
    /// In what order; the words stay in the question.
    Order(Order),
    /// In the middle, of the time or of the picture; the words stay in the question.
    Middle,
    /// An event begins here; `offset` seconds away from it.
    Event { side: Side, offset: Option<f64> },
    /// All of it, said in so many words.
    Whole,
}

/// A phrase that was read, and how many words it took.
pub(super) type Taken = (usize, Found);

/// The words from here on, and the one before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) words: &'a [Word<'a>],
    pub(super) before: &'a str,
    pub(super) is_first: bool,
    /// Whether a time phrase ends right before.
    pub(super) is_after_time: bool,
}

const FILLERS: [&str; 12] = [
    "the",
    "about",
    "around",
    "approximately",
    "exactly",
    "roughly",
    "time",
    "precisely",
    "nearly",
    "almost",
    "circa",
    "",
];

/// The first rule that reads a phrase here; the more exact ones stand first.
pub(super) fn read(here: Here<'_>) -> Option<Taken> {
    let rules: [fn(Here<'_>) -> Option<Taken>; 13] = [
        between,
        range,
        stretch,
        day,
        edges::left,
        measured,
        relative,
        length,
        edges::edge,
        edges::halfway,
        edges::part,
        now,
        whole,
    ];
    rules.into_iter().find_map(|rule| rule(here)).or_else(|| ordinal(here)).or_else(|| event(here))
}

/// `between 0:10 and 0:20`, `from 10 to 20 seconds`, `from 2 to 3 pm`.
fn between(Here { words, .. }: Here<'_>) -> Option<Taken> {
    if !matches!(core(words, 0), "between" | "from") {
        return None;
    }
    let from = 1 + fillers(&words[1..]);
    let rest = words.get(from..)?;
    let own = point::read(rest);
    // A number alone takes one word.
    let joint = own.map_or(1, |(_, taken)| taken);
    if !matches!(core(rest, joint), "and" | "to" | "until" | "till" | "-" | "–") {
        return None;
    }
    let later = &rest[joint + 1..];
    let skip = fillers(later);
    if let (Some((first, _)), Some((taken, true))) = (own, bound(&rest[joint + 1..], core(rest, joint))) {
        // "from 0:50 until the end"
        return Some((from + joint + 1 + taken, Found::When(When::After(first))));
    }
    let later = &later[skip..];
    let (second, taken) = point::read(later)?;
    let (first, _) = own.or_else(|| point::borrowed(rest, second, later))?;
    Some((from + joint + 1 + skip + taken, Found::When(When::Between(first, second))))
}

/// `0:10-0:20`.
fn range(Here { words, .. }: Here<'_>) -> Option<Taken> {
    let (from, to) = core(words, 0).split_once(['-', '–'])?;
    let point = |text: &str| point::read(&[Word { raw: text, core: text.to_owned() }]).filter(|_| text.contains(':'));
    let ((from, _), (to, _)) = (point(from)?, point(to)?);
    Some((1, Found::When(When::Between(from, to))))
}

/// `5 to 8 s`, `10 to 20 seconds`: a number, and one with a unit.
fn stretch(Here { words, .. }: Here<'_>) -> Option<Taken> {
    let is_number = core(words, 0).starts_with(|c: char| c.is_ascii_digit());
    if !is_number || core(words, 1) != "to" {
        return None;
    }
    let (second, taken) = point::read(&words[2..])?;
    let (first, 1) = point::borrowed(words, second, &words[2..])? else { return None };
    Some((2 + taken, Found::When(When::Between(first, second))))
}

/// `10 minutes ago`, `10 seconds before the end`, `5 s after the video starts`, `20 seconds into the video`, `a minute in`,
/// `5 seconds after the man sits down`.
fn measured(Here { words, .. }: Here<'_>) -> Option<Taken> {
    let reading = clock::quantities(words)?;
    let rest = &words[reading.words..];
    let at = |taken: usize, point: Point| Some((reading.words + taken, Found::When(When::At(point))));
    match core(rest, 0) {
        "ago" | "earlier" => at(1, Point::Ago(reading.seconds)),
        "from" if core(rest, 1) == "now" => Some((reading.words + 2, Found::When(When::Ahead))),
        "in" if rest.len() == 1 || rest[0].ends_clause() => at(1, Point::Offset(reading.seconds)),
        "into" | "in" => {
            let video = usize::from(core(rest, 1) == "the") + 1;
            let named = VIDEO.contains(&core(rest, video)) || core(rest, video) == "it";
            named.then(|| at(video + 1, Point::Offset(reading.seconds))).flatten()
        }
        "before" => match bound(&rest[1..], "before") {
            Some((taken, true)) => at(1 + taken, Point::BeforeEnd(reading.seconds)),
            Some(_) => None,
            None => (!vague(rest)).then_some(event_at(reading.words, Side::Before, reading.seconds)),
        },
        "after" | "from" => match bound(&rest[1..], "after") {
            Some((taken, false)) => at(1 + taken, Point::Offset(reading.seconds)),
            Some((taken, true)) if core(rest, 0) == "from" => at(1 + taken, Point::BeforeEnd(reading.seconds)),
            None if core(rest, 0) == "after" && !vague(rest) => {
                Some(event_at(reading.words, Side::After, reading.seconds))
            }
            _ => None,
        },
        _ => None,
    }
}

fn event_at(words: usize, side: Side, offset: f64) -> Taken {
    (words + 1, Found::Event { side, offset: Some(offset) })
}

/// `at 0:42`, `around 2 pm`, `or 0:50` after another time, `after 1 minute`, `before 14:30`, `since 8 am`, `by noon`, `up to 0:30`, `from 0:50 on`.
fn relative(here @ Here { words, .. }: Here<'_>) -> Option<Taken> {
    let word = core(words, 0);
    let lead = match (word, core(words, 1)) {
        ("prior", "to") | ("up", "to" | "until" | "till") => 2,
        ("at" | "around" | "about" | "after" | "since" | "from" | "before" | "until" | "till" | "by", _) => 1,
        ("and" | "or", _) if here.is_after_time => 1,
        _ if here.is_after_time && word.contains(':') => 0,
        _ => return None,
    };
    let skip = lead + fillers(&words[lead..]);
    let rest = words.get(skip..)?;
    if word == "at"
        && let Some((taken, found @ Found::When(_))) = measured(Here { words: rest, ..here })
    {
        return Some((skip + taken, found));
    }
    if matches!((core(rest, 0), core(rest, 1)), ("a" | "an", "second")) && rest.len() > 2 && !rest[1].ends_clause() {
        // "after a second car arrives"
        return None;
    }
    if let Some(taken) = point::impossible(rest) {
        return Some((skip + taken, Found::When(When::Nowhere)));
    }
    let Some((point, taken)) = point::read(rest) else { return both(word, rest, skip) };
    let tail = match core(rest, taken) {
        "mark" | "point" | "onwards" | "onward" => 1,
        "on" if word == "from" || taken < rest.len() && rest[taken].ends_clause() => 1,
        _ => 0,
    };
    let is_open = matches!(core(rest, taken), "on" | "onwards" | "onward");
    let vague = word == "around" || word == "about" || matches!(core(words, lead), "around" | "about" | "roughly");
    let when = match word {
        "from" if !is_open => return None,
        "after" | "since" | "from" => When::After(point),
        "before" | "until" | "till" | "by" | "prior" | "up" => When::Before(point),
        _ if vague => When::Around(point),
        _ => When::At(point),
    };
    Some((skip + taken + tail, Found::When(when)))
}

/// `at 3 and 7 seconds`, `at 2 or 3 pm`.
fn both(word: &str, rest: &[Word<'_>], skip: usize) -> Option<Taken> {
    if !matches!(word, "at" | "around" | "about") || !matches!(core(rest, 1), "and" | "or") {
        return None;
    }
    let later = &rest[2..];
    let (second, taken) = point::read(later)?;
    let (first, _) = point::borrowed(rest, second, later)?;
    Some((skip + 2 + taken, Found::Both(When::At(first), When::At(second))))
}

fn day(Here { words, before, .. }: Here<'_>) -> Option<Taken> {
    calendar::read(words, before).map(|(day, taken)| (taken, Found::Day(day)))
}

/// `first 10 seconds`, `last minute`, `past half hour`, `last few minutes`, `last 10 seconds of the video`, `next 5 minutes`.
fn length(Here { words, .. }: Here<'_>) -> Option<Taken> {
    let side = core(words, 0);
    let known = ["first", "opening", "last", "past", "final", "previous", "closing", "preceding", "next", "coming"];
    if !known.contains(&side) {
        return None;
    }
    let rest = &words[1..];
    let (seconds, taken) = match (core(rest, 0), core(rest, 1)) {
        (unit @ ("second" | "minute" | "hour" | "day" | "week"), _) => (clock::unit(unit)?, 1),
        ("few", unit) => (5.0 * clock::unit(unit)?, 2),
        ("couple", "of") => (2.0 * clock::unit(core(rest, 2))?, 3),
        _ => clock::quantities(rest).map(|reading| (reading.seconds, reading.words))?,
    };
    let of_video = of_video(&rest[taken..]);
    let is_ahead = matches!(side, "next" | "coming");
    if is_ahead && (of_video > 0 || matches!(core(rest, taken), "after" | "of" | "when" | "once")) {
        // "in the next 5 seconds after the car stops" has come already.
        return None;
    }
    let when = match (side, of_video) {
        _ if is_ahead => When::Ahead,
        ("first" | "opening", _) => When::Opening(seconds),
        ("closing" | "final", _) | (_, 1..) => When::Closing(seconds),
        _ => When::Recent(seconds),
    };
    Some((1 + taken + of_video, Found::When(when)))
}

/// `now`, `right now`, `currently`, `at the moment`, `most recently`, `latest`.
fn now(Here { words, .. }: Here<'_>) -> Option<Taken> {
    let taken = match (core(words, 0), core(words, 1), core(words, 2)) {
        ("now" | "currently" | "latest" | "presently", _, _) => 1,
        ("right" | "just", "now", _) | ("most", "recent" | "recently", _) | ("at", "present", _) => 2,
        ("at", "the" | "this", "moment") => 3,
        _ => return None,
    };
    Some((taken, Found::When(When::Now)))
}

/// `at any point`, `throughout the video`, `in the whole video`: nothing is left out.
fn whole(Here { words, .. }: Here<'_>) -> Option<Taken> {
    let taken = match (core(words, 0), core(words, 1), core(words, 2)) {
        ("at", "any" | "some", "time" | "point" | "moment") => 3,
        ("during" | "throughout" | "in", "the", last) if VIDEO.contains(&last) && last != "scene" => 3,
        ("during" | "throughout" | "in", "the", "whole" | "entire") if VIDEO.contains(&core(words, 3)) => 4,
        ("throughout", _, _) => 1,
        _ => return None,
    };
    Some((taken, Found::Whole))
}

/// `the first car`, `first seen`, `the last person`; `finally` and `initially` are the edges.
fn ordinal(Here { words, before, .. }: Here<'_>) -> Option<Taken> {
    match core(words, 0) {
        "first" if before == "at" => Some((1, Found::When(When::Beginning))),
        "initially" | "originally" => Some((1, Found::When(When::Beginning))),
        "finally" | "eventually" | "lastly" => Some((1, Found::When(When::End))),
        "first" | "earliest" => Some((0, Found::Order(Order::First))),
        "in" if core(words, 1) == "the"
            && core(words, 2) == "middle"
            && (words.len() == 3 || words[2].ends_clause()) =>
        {
            Some((0, Found::Middle))
        }
        "last" | "final" if before != "at" => Some((0, Found::Order(Order::Last))),
        _ => None,
    }
}

/// `after the man sits down`, `before leaving`, `while the dog runs`, `as soon as it stops`, and in front of the question
/// `When the light turns green, …`.
fn event(here @ Here { words, before, is_first, .. }: Here<'_>) -> Option<Taken> {
    const SUBJECTS: [&str; 20] = [
        "the", "a", "an", "he", "she", "it", "they", "his", "her", "their", "its", "someone", "somebody", "people",
        "this", "that", "one", "two", "another", "everyone",
    ];
    const FOLLOWED: [&str; 24] = [
        "look", "looks", "looking", "looked", "run", "runs", "running", "ran", "go", "goes", "going", "went", "chase",
        "chases", "chasing", "chased", "named", "take", "takes", "clean", "cleaning", "come", "comes", "day",
    ];
    const NOT_TIME: [&str; 16] = [
        "such", "same", "well", "dressed", "used", "act", "acts", "acting", "serve", "serves", "far", "long", "known",
        "works", "as", "just",
    ];
    let subject = SUBJECTS.contains(&core(words, 1));
    let (taken, side) = match core(words, 0) {
        "after" if !FOLLOWED.contains(&before) => (1, Side::After),
        "following" if subject && is_first => (1, Side::After),
        "since" => (1, Side::After),
        "once" if subject => (1, Side::After),
        "as" if core(words, 1) == "soon" && core(words, 2) == "as" => (3, Side::After),
        "as" if subject && !NOT_TIME.contains(&before) => (1, Side::During),
        "before" | "until" | "till" => (1, Side::Before),
        "prior" if core(words, 1) == "to" => (2, Side::Before),
        "while" | "whilst" if before != "a" => (1, Side::During),
        "when" if !is_first || !is_auxiliary(core(words, 1)) => (1, Side::During),
        "during" if !matches!(core(words, 2), "day" | "night") => (1, Side::During),
        _ => return None,
    };
    if matches!(before, "since" | "until" | "till") || vague(&words[taken - 1..]) {
        return None;
    }
    if matches!(side, Side::After | Side::Before)
        && let Some((edge, is_end)) = bound(&words[taken..], core(words, 0))
    {
        let is_nowhere = is_end == (side == Side::After) && core(words, 0) != "since";
        let when = if is_nowhere { When::Nowhere } else { edges::at(is_end) };
        let is_whole = core(words, 0) == "since" && !is_end;
        return Some((taken + edge, if is_whole { Found::Whole } else { Found::When(when) }));
    }
    if let Some((edge, is_end)) = edges::bound_of_video(&words[taken..]) {
        return Some((taken + edge, Found::When(edges::at(is_end))));
    }
    Some((taken, Found::Event { side, offset: None })).filter(|_| here.words.len() > taken)
}

/// Whether what follows the connective at 0 is no event: `after that`, `before him`, `after a while`.
fn vague(words: &[Word<'_>]) -> bool {
    const PRONOUNS: [&str; 16] = [
        "that", "this", "it", "him", "her", "them", "me", "us", "you", "all", "then", "long", "these", "those",
        "which", "what",
    ];
    let rest = &words[1..];
    let Some(first) = rest.first() else { return true };
    let last = rest.len() == 1 || first.ends_clause();
    let spell = matches!((core(rest, 0), core(rest, 1)), ("a", "while" | "bit") | ("some", "time"));
    spell || (last && PRONOUNS.contains(&first.core.as_str())) || words[0].ends_clause()
}

fn is_auxiliary(word: &str) -> bool {
    matches!(
        word,
        "did"
            | "does"
            | "do"
            | "was"
            | "were"
            | "is"
            | "are"
            | "has"
            | "have"
            | "had"
            | "will"
            | "can"
            | "could"
            | "exactly"
    )
}

fn fillers(words: &[Word<'_>]) -> usize {
    words.iter().take_while(|word| FILLERS.contains(&word.core.as_str())).count()
}
