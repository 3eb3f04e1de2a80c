//! Reads a whole question: its time phrases, the event it leans on, and what is left to look for. Pure.

use super::calendar::Day;
use super::clock::{self, Word};
use super::point::Point;
use super::rules::{self, Found, Here};
use super::{Event, Order, When};

/// What a question says about time.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::answer) struct Time {
    /// The parts of the stream; all of it if there are none.
    pub(super) whens: Vec<When>,
    /// The days; times of day are then those of the first.
    pub(super) days: Vec<Day>,
    /// First or last of something.
    pub(super) order: Option<Order>,
    /// "In the middle", of the time or of the picture.
    pub(super) middle: bool,
    /// All but that time is asked about: "except in the first 10 seconds".
    pub(super) excludes: bool,
    /// What must be found first.
    pub(in crate::answer) event: Option<Event>,
    /// The phrases that were read, as written.
    pub(in crate::answer) phrase: String,
    /// The question without them: what shall be looked for.
    pub(in crate::answer) topic: String,
}

/// Reads a question.
pub(in crate::answer) fn read(question: &str) -> Time {
    let words = clock::words(question);
    let mut reader = Reader::default();
    let mut at = 0;
    while at < words.len() {
        at += reader.step(&words, at);
    }
    reader.finish(question)
}

/// Say when so loosely that they add nothing to another time.
const VAGUE: [&str; 7] = ["initially", "originally", "finally", "eventually", "lastly", "now", "currently"];

#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "one flag for each thing that was read")]
struct Reader<'a> {
    whens: Vec<When>,
    days: Vec<Day>,
    order: Option<Order>,
    middle: bool,
    excludes: bool,
    event: Option<(super::Side, Option<f64>)>,
    phrases: Vec<String>,
    /// Words that belong to the question itself.
    main: Vec<&'a str>,
    /// Words that belong to the event.
    told: Vec<&'a str>,
    connective: String,
    in_event: bool,
    /// The event came first and ends at its comma.
    leads: bool,
    /// Behind the last word of the latest time phrase.
    after: usize,
    /// The phrase follows an "or".
    is_either: bool,
}

impl<'a> Reader<'a> {
    /// Takes a phrase or one word; returns how many words.
    fn step(&mut self, words: &'a [Word<'a>], at: usize) -> usize {
        let before = at.checked_sub(1).map_or("", |before| words[before].core.as_str());
        let here = Here { words: &words[at..], before, is_first: at == 0, is_after_time: at > 0 && at == self.after };
        // "What does he do in the last minute eventually?" names one time.
        let is_vague = VAGUE.contains(&words[at].core.as_str()) && !self.whens.is_empty();
        self.is_either = before == "or";
        let found = rules::read(here).filter(|_| !is_vague);
        let taken = found.map_or(0, |(taken, found)| if self.take(found) { taken } else { 0 });
        if taken > 0 {
            self.after = at + taken;
        }
        if taken > 0 {
            let phrase: Vec<&str> = words[at..at + taken].iter().map(|word| word.raw).collect();
            self.note(phrase.join(" "));
        } else {
            let clause = if self.in_event { &mut self.told } else { &mut self.main };
            clause.push(words[at].raw);
        }
        let taken = taken.max(1);
        let asks = words.get(at + 1).is_some_and(|next| asks(&next.core)) && !self.told.is_empty();
        if self.in_event && self.leads && asks {
            self.in_event = false;
        }
        if self.in_event && self.leads && words[at + taken - 1].raw.ends_with(',') {
            self.in_event = false;
        }
        taken
    }

    /// Whether there was room for what was found.
    fn take(&mut self, found: Found) -> bool {
        match found {
            Found::When(when) => {
                self.add(when);
                true
            }
            Found::Both(first, second) => {
                self.whens.extend([first, second]);
                true
            }
            Found::Day(day) => {
                self.days.push(day);
                true
            }
            Found::Order(order) => {
                // An event's "first" is not the question's.
                if !self.in_event {
                    self.order.get_or_insert(order);
                }
                false
            }
            Found::Middle => {
                self.middle = true;
                false
            }
            Found::Event { side, offset } => {
                self.event.is_none() && {
                    self.event = Some((side, offset));
                    self.leads = self.main.is_empty();
                    true
                }
            }
            Found::Whole => true,
        }
    }

    /// One more part, or what ends the last one: "after 0:10 and before 0:20".
    fn add(&mut self, when: When) {
        match (self.whens.last().copied(), when) {
            (Some(When::After(from)), When::Before(to)) | (Some(When::Before(to)), When::After(from))
                if !self.is_either && !is_later(from, to) =>
            {
                self.whens.pop();
                self.whens.push(When::Between(from, to));
            }
            // "From the start until 0:05", "from 0:50 until the end".
            (Some(When::Beginning | When::VeryBeginning), When::Before(_)) => {
                self.whens.pop();
                self.whens.push(when);
            }
            (Some(When::After(_)), When::End | When::VeryEnd) => {}
            _ => self.whens.push(when),
        }
    }

    /// Keeps the words of a phrase, and takes away what led to it: "in the", "right".
    fn note(&mut self, phrase: String) {
        let opens_event = self.event.is_some() && !self.in_event && self.told.is_empty() && self.connective.is_empty();
        let clause = if self.in_event { &mut self.told } else { &mut self.main };
        while clause.last().is_some_and(|word| leads_to_time(word)) {
            clause.pop();
        }
        if clause.last().is_some_and(|word| excludes(word)) && !opens_event {
            clause.pop();
            self.excludes = true;
        }
        if opens_event {
            self.in_event = true;
            self.connective = phrase;
        } else {
            self.phrases.push(trim(&phrase).to_owned());
        }
    }

    fn finish(mut self, question: &str) -> Time {
        let told = trim(&self.told.join(" ")).to_owned();
        let event = self.event.filter(|_| !told.is_empty()).map(|(side, offset)| {
            self.phrases.push(format!("{} {told}", self.connective));
            Event { side, offset, text: told.clone() }
        });
        let main = trim(&self.main.join(" ")).to_owned();
        let topic = if clock::words(&main).iter().any(|word| !word.core.is_empty()) {
            main
        } else {
            question.trim().to_owned()
        };
        Time {
            whens: self.whens,
            days: self.days,
            order: self.order,
            middle: self.middle,
            excludes: self.excludes,
            event,
            phrase: self.phrases.join(", "),
            topic,
        }
    }
}

/// Whether one time of the stream is later than another; of times of day and of the stream nothing is said.
fn is_later(from: Point, to: Point) -> bool {
    match (from, to) {
        (
            Point::Offset(from) | Point::Either { offset: from, .. },
            Point::Offset(to) | Point::Either { offset: to, .. },
        ) => from >= to,
        (Point::Shown(from), Point::Shown(to)) => from >= to,
        _ => false,
    }
}

/// Leads to a time that is left out.
fn excludes(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "except" | "excluding" | "outside" | "besides" | "save")
}

fn leads_to_time(word: &str) -> bool {
    let core = word.to_lowercase();
    matches!(
        core.as_str(),
        "in" | "the"
            | "at"
            | "on"
            | "of"
            | "within"
            | "over"
            | "during"
            | "for"
            | "about"
            | "around"
            | "by"
            | "right"
            | "just"
            | "near"
            | "towards"
            | "toward"
            | "from"
            | "shortly"
            | "immediately"
            | "soon"
            | "directly"
            | "very"
            | "starting"
            | "and"
            | "or"
    )
}

/// Words that begin a question.
fn asks(word: &str) -> bool {
    matches!(word, "what" | "who" | "where" | "how" | "why" | "which")
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '?' | '.' | '!'))
}
