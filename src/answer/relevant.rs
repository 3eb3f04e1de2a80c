//! Whether a claim answers a question. Pure.
//!
//! A verdict says whether a claim holds, not whether it answers: "The car is blue." may be proven, and says nothing about
//! the colour of the dog. What the question names is compared with what the claim names:
//!
//! | question | a claim answers it that |
//! |---|---|
//! | about a thing ("What is the man doing?", "Who …") | names the first thing, a kind of it, or what it is a kind of |
//! | "what colour", "how many", "where" | also names a colour, a number, a place |
//! | "what … wear" | also speaks of wearing |
//! | "what … do", "what … doing" | also tells a deed |
//! | "what … holding" | also says so in a form of that verb |
//! | "what happens to", "which … does" | also says more than the question does |
//! | "more … than" | also compares |
//! | "why", "how" | also says more, and names something else of the question: "There is a dog." says not why it barks |
//! | "when … do" | also names something else of the question; its time is the answer |
//! | "who …" with more ("Who won the game?") | also names something of the rest, or resembles the question |
//! | "is/does/has … ?" that is not counted | also names something of the rest, or something of its kind: another colour |
//! | without a noun phrase ("dog", "asdf", "Is it raining?") | names one of its words |
//! | that names nothing, or only where ("What happens on the street?") | is any |
//!
//! What the rules do not know, they cannot find answered: a question in another language has no answer here.
//!
//! A claim very similar to the question in other words is about it too; it must still say what is asked. A claim that
//! repeats what the question supposes ("The dog chases a ball.") says neither why nor how. It must not decide whether a
//! claim is true.

mod named;
#[cfg(test)]
mod tests;

use self::named::{Asks, Named, PLACES, is_generic, is_of};
use super::said::deeds::{is_deed, is_still};
use super::said::tokens;
use super::{survey, time};
use crate::domain::words::{content, is_kind_of, stem, words};

/// From this cosine similarity on, a claim in other words is about the question.
const SAME: f32 = 0.7;
/// From this one on, a claim that names the thing explains what the question tells of it in other words.
const NEAR: f32 = 0.55;

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Focus {
    /// Stems of the first thing it names; empty if it names none ("What happens?"), and then every claim is about it.
    thing: Vec<String>,
    /// Where in the picture something is asked for; a claim about another side does not answer.
    sides: Vec<String>,
    /// What the question supposes to be there, in its words, what it is about first: to tell that there was none.
    pub(super) supposes: Vec<String>,
    /// Stems of everything else it names.
    rest: Vec<String>,
    /// What is asked of the thing.
    wants: Wanted,
    /// How it asks; what is counted asks nothing else.
    asks: Asks,
    /// Whether two things are compared ("more cars than people"), which a claim about one does not.
    compares: bool,
}

/// What is asked of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// Anything that is true of it.
    Anything,
    Colour,
    Number,
    Place,
    Clothes,
    /// What happens to it or is like: more than the question says.
    More,
    /// What it does: a deed that the question does not name; of "What is he holding?" a holding.
    Deed(Option<String>),
    /// What the question tells of it, explained: why, how.
    Explanation,
    /// When what the question tells of it happens.
    Time,
}

/// Words that say how many, besides numbers.
const NUMBERS: [&str; 14] = [
    "a", "an", "no", "nobody", "nothing", "none", "several", "many", "few", "single", "pair", "couple", "group",
    "crowd",
];

/// Say of two which is more.
const COMPARED: [&str; 6] = ["more", "fewer", "less", "than", "most", "equal"];
/// Say where something is, besides the kinds of places.
const NEARNESS: [&str; 4] = ["near", "far", "close", "distant"];
/// What is one of these is none of the others.
const STATES: [&[&str]; 7] = [
    &["sit", "stand", "lie", "walk", "run", "kneel", "jump"],
    &["open", "closed", "shut"],
    &["empty", "full"],
    &["old", "young"],
    &["tall", "big", "large", "short", "small"],
    &["wet", "dry"],
    &["day", "night", "dark", "bright"],
];

/// Whether a claim, if it holds, answers a question. `similarity` is the cosine between both.
pub fn answers(question: &str, claim: &str, similarity: f32) -> bool {
    focus(&time::read(question).topic).holds(claim, similarity)
}

/// A question without its time phrases: what the similarity is measured with.
pub fn topic(question: &str) -> String {
    time::read(question).topic
}

/// Reads what a question is about; `topic` is the question without its time phrases.
pub(super) fn focus(topic: &str) -> Focus {
    let all: Vec<String> = words(topic).map(str::to_lowercase).collect();
    let asks = named::asks(&all);
    let Named { mut thing, supposes, sides, places } = named::named(&all, asks);
    let counted = survey::read(topic);
    let is_counted = counted.is_some() || all.get(1).is_some_and(|word| word == "there");
    if thing.is_empty() {
        thing = counted.map_or_else(|| named::bare(&all, asks, &places), |subject| subject.heads);
    }
    let is_rest = |stem: &String| !(thing.contains(stem) || asks == Asks::Who && places.contains(stem));
    let rest: Vec<String> = content(topic).into_iter().filter(is_rest).collect();
    let is_told_of = all.first().is_some_and(|word| word == "which") && !rest.is_empty();
    let wants = match wanted(&all) {
        Wanted::Anything if is_told_of => Wanted::More,
        wants => wants,
    };
    let asks = if asks == Asks::Whether && is_counted { Asks::Else } else { asks };
    let than = all.iter().position(|word| word == "than");
    let compares =
        than.is_some_and(|than| all.get(than + 1).is_some_and(|next| !is_kind_of(&stem(next), &stem("number"))));
    Focus { thing, sides, supposes, rest, wants, asks, compares }
}

fn wanted(all: &[String]) -> Wanted {
    let has = |wanted: &str| all.iter().any(|word| stem(word) == stem(wanted));
    match all.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["how", "many", ..] => Wanted::Number,
        ["where", ..] => Wanted::Place,
        ["why" | "how", ..] => Wanted::Explanation,
        ["when", ..] => Wanted::Time,
        ["what" | "which", ..] if has("colour") => Wanted::Colour,
        ["what" | "which" | "who" | "whose", ..] if has("wear") => Wanted::Clothes,
        ["what", "is" | "are" | "was" | "were", .., "doing"] | ["what", "do" | "does" | "did", .., "do"] => {
            Wanted::Deed(None)
        }
        ["what", "is" | "are" | "was" | "were", .., deed]
        | ["what", "is" | "are" | "was" | "were", .., deed, "about"]
            if deed.ends_with("ing") && is_deed(deed) && all.len() > 3 =>
        {
            Wanted::Deed(Some(stem(deed)))
        }
        ["what", "happens" | "happened", "to", ..] => Wanted::More,
        _ => Wanted::Anything,
    }
}

impl Focus {
    /// Whether a claim answers. `similarity` is the cosine between question and claim.
    pub(super) fn holds(&self, claim: &str, similarity: f32) -> bool {
        let said: Vec<String> = words(claim).map(stem).collect();
        let is_about = similarity >= SAME || self.names_thing(&said);
        is_about
            && self.is_where_asked(&said)
            && (!self.compares || words(claim).any(|word| COMPARED.contains(&word.to_lowercase().as_str())))
            && self.tells_of_the_rest(&said, similarity)
            && self.says_what_is_wanted(claim, &said, similarity)
    }

    /// Whether a claim says nothing of another side of the picture than the one asked about.
    fn is_where_asked(&self, said: &[String]) -> bool {
        let mut sides = said.iter().filter(|word| is_of(word, "place")).peekable();
        self.sides.is_empty() || sides.peek().is_none() || sides.any(|side| self.sides.contains(side))
    }

    /// Of "Who won the game?" and "Is the car red?": whether a claim tells of more than the thing.
    fn tells_of_the_rest(&self, said: &[String], similarity: f32) -> bool {
        let rest: Vec<&String> = self.rest.iter().filter(|stem| !is_generic(stem)).collect();
        // "Is the man wearing a hat?" asks about the hat.
        let wear = stem("wear");
        let only_wear = rest.iter().all(|it| **it == wear);
        let mut asked = rest.iter().filter(|it| only_wear || ***it != wear);
        let is_named = rest.is_empty() || asked.any(|it| names(said, it));
        match self.asks {
            Asks::Else => true,
            Asks::Who => similarity >= NEAR || is_named,
            Asks::Whether => is_named || rest.iter().any(|it| said.iter().any(|word| is_same_kind(word, it))),
        }
    }

    fn names_thing(&self, said: &[String]) -> bool {
        // "There is nobody." answers "Who is there?".
        let nobody = self.thing.contains(&stem("person")) && said.contains(&stem("nobody"));
        // Of "the red car" another red thing is not it.
        let is_trait = |stem: &&String| ["colour", "number", "place"].iter().any(|kind| is_of(stem, kind));
        let only_traits = self.thing.iter().all(|stem| is_trait(&stem));
        let mut heads = self.thing.iter().filter(|stem| only_traits || !is_trait(stem));
        self.thing.is_empty() || nobody || heads.any(|thing| names(said, thing))
    }

    /// Whether something else is named that the question names.
    fn names_rest(&self, said: &[String]) -> bool {
        self.rest.is_empty() || self.rest.iter().any(|other| names(said, other))
    }

    /// Whether a claim says more than the question does: something besides what it names, and how many there are.
    fn adds(&self, claim: &str) -> bool {
        let known = |stem: &String| self.thing.iter().chain(&self.rest).any(|it| names(std::slice::from_ref(stem), it));
        content(claim).iter().any(|it| !known(it) && !is_kind_of(it, &stem("number")))
    }

    fn says_what_is_wanted(&self, claim: &str, said: &[String], similarity: f32) -> bool {
        let of_kind = |kind: &str| said.iter().any(|word| is_kind_of(word, &stem(kind)));
        let any = |listed: &[&str]| words(claim).any(|word| listed.contains(&word.to_lowercase().as_str()));
        match &self.wants {
            Wanted::Anything => true,
            Wanted::Colour => of_kind("colour"),
            Wanted::Number => of_kind("number") || any(&NUMBERS),
            Wanted::Place => of_kind("place") || any(&PLACES),
            Wanted::Clothes => said.contains(&stem("wear")),
            Wanted::More => self.thing.is_empty() || self.adds(claim),
            Wanted::Deed(Some(deed)) => said.contains(deed),
            Wanted::Deed(None) => self.thing.is_empty() || self.adds(claim) && !is_still(&tokens(claim)),
            Wanted::Explanation => self.adds(claim) && (similarity >= NEAR || self.names_rest(said)),
            Wanted::Time => similarity >= NEAR || self.names_rest(said),
        }
    }
}

/// The noun of a clause that tells an event, "bus" of "the red bus left the stop": who or what must have been there.
pub(super) fn actor(event: &str) -> Option<String> {
    let all: Vec<String> = words(event).map(str::to_lowercase).collect();
    named::actor(&all)
}

/// Whether a claim speaks of a thing, in its word, a wider or a narrower one.
pub(super) fn speaks_of(claim: &str, noun: &str) -> bool {
    let said: Vec<String> = words(claim).map(stem).collect();
    names(&said, &stem(noun))
}

/// Whether two stems answer the same question: both are colours, both say where.
fn is_same_kind(a: &str, b: &str) -> bool {
    let both = |is: &dyn Fn(&str) -> bool| is(a) && is(b);
    let says_where = |word: &str| is_of(word, "place") || NEARNESS.iter().any(|near| stem(near) == word);
    let of_states = |states: &&[&str]| both(&|word| states.iter().any(|state| stem(state) == word));
    both(&says_where)
        || ["colour", "number"].iter().any(|kind| both(&|word| is_of(word, kind)))
        || STATES.iter().any(of_states)
}

/// Whether one of these stems is the thing, of its kind, or what it is a kind of.
fn names(said: &[String], thing: &str) -> bool {
    said.iter().any(|word| word == thing || is_kind_of(word, thing) || is_kind_of(thing, word))
}
