//! What a claim states that a sentence does not say. Pure.
//!
//! An entailment model reads for the gist: it lets a colour, a side or a relation pass that nobody mentioned, and it
//! does not mind who does what to whom. Those are words of closed classes, so they can be looked for. A sentence that
//! lacks one cannot ground the claim, whatever its probability; a sentence that has them all is still judged.
//!
//! It only ever refuses. Synonyms of open classes (nouns, verbs) are left to the judge, but for deeds that are claimed of
//! what a sentence only says to be there ([`deeds`]).

use std::fmt;

use super::numerals::{self, Amount};

mod additions;
pub(super) mod deeds;

/// What a sentence fails to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Missing {
    /// The claim denies something, the sentence does not.
    Denial,
    /// The sentence says what is not there, the claim what is.
    Presence,
    /// A number.
    Number(u64),
    /// A colour, a side, a relation, or a word for people or vehicles that leaves others out.
    Word(&'static str),
    /// What somebody or something does, by a sentence that tells only what is there.
    Deed(String),
    /// A word that adds something: again, together, dark-skinned.
    Added(String),
    /// The same words the other way round.
    Roles(&'static str),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denial => f.write_str("no sentence denies it"),
            Self::Presence => f.write_str("the caption says what is not there"),
            Self::Number(number) => write!(f, "the number {number} is not said"),
            Self::Word(word) => write!(f, "{word:?} is not said"),
            Self::Deed(word) => write!(f, "{word:?} is not said, only that it is there"),
            Self::Added(word) => write!(f, "{word:?} is not said"),
            Self::Roles(word) => write!(f, "{word:?} is said the other way round"),
        }
    }
}

/// A word that must be said, in any of these ways. The first is its name.
type Said = &'static [&'static str];

/// Colours and sides: each way of naming one, and what else may stand for it.
const PLAIN: [(Said, Said); 19] = [
    (&["red", "reddish", "maroon"], &[]),
    (&["blue", "bluish", "navy"], &[]),
    (&["green", "greenish"], &[]),
    (&["yellow", "yellowish"], &[]),
    (&["black"], &[]),
    (&["white", "whitish"], &[]),
    (&["pink", "pinkish"], &[]),
    (&["orange"], &[]),
    (&["brown", "brownish"], &[]),
    (&["purple", "violet"], &[]),
    (&["grey", "gray"], &[]),
    (&["beige"], &[]),
    (&["golden", "gold"], &[]),
    (&["silver"], &[]),
    (&["left"], &[]),
    (&["right"], &[]),
    (&["centre", "center", "middle"], &["central"]),
    (&["foreground"], &["front", "close"]),
    (&["background"], &["distance", "distant", "behind", "far"]),
];

/// Each needs one of its own; the first is its name.
const RELATIONS: [Said; 9] = [
    &["near", "nearby", "beside", "next to", "alongside", "adjacent", "by", "close to", "at"],
    &["behind", "background"],
    &["in front of", "before", "foreground"],
    &["under", "underneath", "beneath", "below"],
    &["above", "overhead", "over"],
    &["on top of", "atop", "on", "onto"],
    &["inside", "within", "in", "into"],
    &["between", "among"],
    &["around", "surrounding", "surrounded", "surround"],
];

/// Who is meant, and who may be called so.
const PEOPLE: [(Said, Said); 6] = [
    (
        &["man", "men", "gentleman", "gentlemen", "guy"],
        &["male", "father", "grandfather", "husband", "groom", "he", "his", "him"],
    ),
    (&["woman", "women", "lady", "ladies"], &["female", "mother", "grandmother", "wife", "bride", "she", "her"]),
    (&["boy", "boys"], &["male", "son", "brother", "he", "his", "him"]),
    (&["girl", "girls"], &["female", "daughter", "sister", "she", "her"]),
    (
        &["child", "children", "kid", "kids"],
        &["boy", "boys", "girl", "girls", "toddler", "toddlers", "baby", "babies", "infant", "son", "daughter"],
    ),
    (&["baby", "babies", "infant", "infants"], &["toddler", "toddlers", "newborn"]),
];

/// Vehicles that are told apart, and what else may be called so: of "a van or truck" nobody knows that it is a car.
const VEHICLES: [(Said, Said); 2] = [
    (
        &["car", "cars", "automobile", "automobiles"],
        &[
            "taxi",
            "taxis",
            "cab",
            "cabs",
            "sedan",
            "sedans",
            "suv",
            "suvs",
            "jeep",
            "jeeps",
            "hatchback",
            "coupe",
            "convertible",
            "limousine",
            "racecar",
        ],
    ),
    (&["bus", "buses"], &["coach", "coaches", "minibus", "minibuses", "trolleybus"]),
];

/// Relations that hold in one direction.
const DIRECTED: [Said; 14] = [
    &["behind"],
    &["in front of"],
    &["under", "underneath", "beneath", "below"],
    &["above"],
    &["on top of", "atop"],
    &["on"],
    &["inside"],
    &["chasing", "chases"],
    &["holding", "holds"],
    &["carrying", "carries"],
    &["riding", "rides"],
    &["feeding", "feeds"],
    &["following", "follows"],
    &["pushing", "pushes"],
];

const DENIALS: [&str; 14] = [
    "no", "not", "nobody", "none", "never", "without", "nothing", "neither", "nor", "nowhere", "cannot", "empty",
    "deserted", "absent",
];

/// Says nothing of who or what.
const SMALL: [&str; 34] = [
    "a", "an", "the", "is", "are", "was", "were", "and", "or", "of", "to", "in", "at", "with", "by", "his", "her",
    "their", "its", "it", "he", "she", "they", "there", "that", "this", "which", "who", "while", "as", "be", "being",
    "on", "one",
];

/// The first thing that `claim` states and `sentence` does not say; `None` if the judge may decide.
pub(super) fn missing(sentence: &str, claim: &str) -> Option<Missing> {
    let (said, stated) = (tokens(sentence), tokens(claim));
    denial(&said, &stated)
        .or_else(|| number(&said, &stated))
        .or_else(|| word(&said, &stated))
        .or_else(|| additions::added(&said, &stated).map(Missing::Added))
        .or_else(|| deeds::undone(&said, &stated).map(Missing::Deed))
        .or_else(|| roles(&said, &stated))
}

/// Things that may be called by a wider word, or by another one. Not `domain::words::KINDS`: those tell what a text is
/// about, these let a sentence ground a claim or veto it, and know pronouns; so they stay few.
const WIDER: [(&str, Said); 12] = [
    (
        "person",
        &[
            "people",
            "man",
            "men",
            "woman",
            "women",
            "boy",
            "girl",
            "child",
            "children",
            "baby",
            "lady",
            "gentleman",
            "guy",
            "adult",
            "individual",
            "someone",
            "somebody",
            "he",
            "she",
            "they",
            "toddler",
            "kid",
            "group",
            "crowd",
            "cyclist",
            "couple",
        ],
    ),
    ("vehicle", &["car", "bus", "truck", "van", "taxi", "train", "motorcycle", "lorry", "suv"]),
    (
        "animal",
        &["dog", "cat", "bird", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "rabbit", "goat"],
    ),
    ("child", &["children", "boy", "girl", "kid", "toddler", "baby", "infant"]),
    ("man", &["gentleman", "guy", "men", "he"]),
    ("woman", &["lady", "women", "she"]),
    ("bike", &["bicycle", "motorcycle"]),
    ("bicycle", &["bike"]),
    ("couch", &["sofa"]),
    ("sofa", &["couch"]),
    ("tv", &["television"]),
    ("television", &["tv"]),
];

/// Whether a sentence names a thing: by its word, in the singular or plural, or by a narrower one.
pub(super) fn names(sentence: &str, thing: &str) -> bool {
    let said = tokens(sentence);
    let last = thing.rsplit(' ').next().unwrap_or(thing);
    let is_named = |word: &str| {
        let plurals = [format!("{word}s"), format!("{word}es"), format!("{}ies", word.trim_end_matches('y'))];
        said.iter().any(|token| token == word || plurals.contains(token))
    };
    let narrower = WIDER.iter().find(|(wide, _)| *wide == last).map_or(&[] as Said, |(_, narrower)| *narrower);
    is_named(last) || narrower.iter().any(|word| is_named(word))
}

/// What a plain claim is about, in its own word: "A red car is on the right." is about a car, "Two people wear black."
/// about people. `None` if that is not plain.
pub(super) fn subject(claim: &str) -> Option<String> {
    let stated = tokens(claim);
    let verb = stated.iter().position(|word| matches!(word.as_str(), "is" | "are" | "wears" | "wear"))?;
    let is_plain = (1..=5).contains(&verb) && !matches!(stated[0].as_str(), "there" | "it" | "they" | "this" | "that");
    let noun = is_plain.then(|| stated[verb - 1].as_str())?;
    let plain =
        |noun: &str| noun.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s')).map(str::to_owned);
    Some(if noun == "people" { "person".to_owned() } else { plain(noun).unwrap_or_else(|| noun.to_owned()) })
}

/// Lower-case words; "isn't" is "is not", hyphens part words.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let low = text.to_lowercase().replace('’', "'").replace("n't", " not").replace("'s", " ");
    low.split(|c: char| !c.is_alphanumeric() && c != '.')
        .map(|word| word.trim_matches('.').to_owned())
        .filter(|w| !w.is_empty())
        .collect()
}

fn denial(said: &[String], stated: &[String]) -> Option<Missing> {
    let denies = |words: &[String]| words.iter().any(|word| DENIALS.contains(&word.as_str()));
    let (claims, says) = (denies(stated), denies(said));
    let is_absence = said.iter().take(3).any(|word| matches!(word.as_str(), "no" | "nothing" | "nobody" | "none"));
    match (claims, says) {
        (true, false) => Some(Missing::Denial),
        (false, true) if is_absence => Some(Missing::Presence),
        _ => None,
    }
}

fn number(said: &[String], stated: &[String]) -> Option<Missing> {
    let amounts = numerals::amounts(said);
    let articles = said.iter().filter(|word| matches!(word.as_str(), "a" | "an" | "another")).count() as u64;
    let holds = |claimed: &Amount| {
        amounts.iter().any(|amount| claimed.admits(amount.value))
            || claimed.admits(articles) && articles > 0
            || claimed.admits(1) && amounts.iter().all(|amount| amount.value < 2)
    };
    let unsaid = numerals::amounts(stated).into_iter().find(|claimed| !holds(claimed))?;
    Some(Missing::Number(unsaid.value))
}

fn word(said: &[String], stated: &[String]) -> Option<Missing> {
    let unsaid = |(names, others): &&(Said, Said)| has(stated, names) && !has(said, names) && !has(said, others);
    let named = PLAIN.iter().chain(&PEOPLE).chain(&VEHICLES).find(unsaid).map(|(names, _)| names[0]);
    let related = || RELATIONS.iter().find(|ways| states(stated, ways) && !has(said, ways)).map(|ways| ways[0]);
    named.or_else(related).map(Missing::Word)
}

/// Whether a claim states a relation: by the ways that mean it and nothing else.
fn states(stated: &[String], ways: Said) -> bool {
    const VAGUE: [&str; 10] = ["by", "at", "in", "on", "into", "onto", "over", "before", "foreground", "background"];
    ways.iter().any(|way| !VAGUE.contains(way) && find(stated, way, 0).is_some())
}

fn has(words: &[String], ways: &[&str]) -> bool {
    ways.iter().any(|way| find(words, way, 0).is_some())
}

/// Where a word or phrase begins, from `from` on.
fn find(words: &[String], phrase: &str, from: usize) -> Option<usize> {
    let parts: Vec<&str> = phrase.split(' ').collect();
    (from..(words.len() + 1).saturating_sub(parts.len()))
        .find(|at| parts.iter().zip(&words[*at..]).all(|(a, b)| a == b))
}

/// The claim has the words of the sentence on the wrong sides of a relation that holds in one direction.
fn roles(said: &[String], stated: &[String]) -> Option<Missing> {
    DIRECTED.iter().find(|ways| is_reversed(said, stated, ways)).map(|ways| Missing::Roles(ways[0]))
}

fn is_reversed(said: &[String], stated: &[String], ways: Said) -> bool {
    let Some((before, after)) = sides(stated, ways, 0) else { return false };
    let (mut from, mut crossed) = (0, false);
    while let Some((left, right)) = sides(said, ways, from) {
        let meet = |a: &[&str], b: &[&str]| a.iter().any(|word| b.contains(word));
        if meet(&before, &left) && meet(&after, &right) {
            return false;
        }
        crossed |= meet(&before, &right) && meet(&after, &left);
        from = said.len() - right_length(said, ways, from);
    }
    crossed
}

/// The telling words on both sides of the first of `ways`, from `from` on.
fn sides<'a>(words: &'a [String], ways: Said, from: usize) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let (at, length) = place(words, ways, from)?;
    let telling = |part: &'a [String]| part.iter().map(String::as_str).filter(|word| !SMALL.contains(word)).collect();
    Some((telling(&words[..at]), telling(&words[at + length..])))
}

fn right_length(words: &[String], ways: Said, from: usize) -> usize {
    place(words, ways, from).map_or(0, |(at, length)| words.len() - at - length)
}

fn place(words: &[String], ways: Said, from: usize) -> Option<(usize, usize)> {
    let found = ways.iter().filter_map(|way| Some((find(words, way, from)?, way.split(' ').count())));
    found.min()
}

#[cfg(test)]
mod tests;
