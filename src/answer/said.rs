//! What a claim states that a sentence does not say. Pure.
//!
//! An entailment model reads for the gist: it lets a colour, a side or a relation pass that nobody mentioned, and it
//! does not mind who does what to whom. Those are words of closed classes, so they can be looked for. A sentence that
//! lacks one cannot ground the claim, whatever its probability; a sentence that has them all is still judged.
//!
//! It only ever refuses. Synonyms of open classes (nouns, verbs) are left to the judge.

use std::fmt;

use super::numerals::{self, Amount};

/// What a sentence fails to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Missing {
    /// The claim denies something, the sentence does not.
    Denial,
    /// The sentence says what is not there, the claim what is.
    Presence,
    /// A number.
    Number(u64),
    /// A colour, a side, a relation, or a word for people that leaves others out.
    Word(&'static str),
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
        .or_else(|| roles(&said, &stated))
}

/// Things that may be called by a wider word, or by another one.
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
    let named = PLAIN.iter().chain(&PEOPLE).find(unsaid).map(|(names, _)| names[0]);
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
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_must_be_said() {
        use Missing::{Denial, Number, Presence, Roles, Word};
        let table: [(&str, &str, Option<Missing>); 44] = [
            ("There is a car.", "There is a car.", None),
            ("There is a car.", "There is no car.", Some(Denial)),
            ("There is a car.", "There isn't a car.", Some(Denial)),
            ("The street is empty.", "Nobody is there.", None),
            ("No people or vehicles are clearly visible.", "There are people.", Some(Presence)),
            ("No people or vehicles are clearly visible.", "There are no people.", None),
            ("A man who is not wearing a hat holds a ball.", "A man holds a ball.", None),
            ("There are about eight people.", "There are about six people.", Some(Number(6))),
            ("There are about eight people.", "There are about eight people.", None),
            ("There are about seven people.", "There are about six people.", None),
            ("There are eight people.", "There are at least three people.", None),
            ("There are eight people.", "There are more than eight people.", Some(Number(8))),
            ("There are 8 people.", "There are eight people.", None),
            ("A man and a woman sit.", "Two people sit.", None),
            ("Several people sit.", "Five people sit.", Some(Number(5))),
            ("There is a person.", "There is one person.", None),
            ("Two people wear red.", "One person wears red.", Some(Number(1))),
            ("One person wears red.", "A person wears red.", None),
            ("A boy in a blue shirt.", "A boy in a green shirt.", Some(Word("green"))),
            ("A boy in a gray shirt.", "A boy in a grey shirt.", None),
            ("A boy in a navy shirt.", "A boy in a blue shirt.", None),
            ("A boy in a shirt.", "A boy in a red shirt.", Some(Word("red"))),
            ("The car is on the right.", "The car is on the left.", Some(Word("left"))),
            ("The car is in the middle.", "The car is in the centre.", None),
            ("There are about five people, a car and a van.", "The people are near the car.", Some(Word("near"))),
            ("A dog sits next to a bench.", "A dog sits beside a bench.", None),
            ("A dog sits on a bench.", "A dog sits on top of a bench.", None),
            ("A dog sits on a bench.", "A dog sits under a bench.", Some(Word("under"))),
            ("A woman stands.", "A man stands.", Some(Word("man"))),
            ("He stands by the door.", "The man stands by the door.", None),
            ("A boy stands.", "A child stands.", None),
            ("A man stands.", "A child stands.", Some(Word("child"))),
            ("A man stands.", "A person stands.", None),
            ("A child stands.", "A boy stands.", Some(Word("boy"))),
            ("A truck is behind a car.", "A car is behind a truck.", Some(Roles("behind"))),
            ("A truck is behind a car.", "A truck is behind a car.", None),
            ("A car is behind a truck and a truck is behind a car.", "A car is behind a truck.", None),
            ("A dog is chasing a cat.", "A cat is chasing a dog.", Some(Roles("chasing"))),
            ("A man is holding a dog.", "A dog is holding a man.", Some(Roles("holding"))),
            ("A cup is on a table.", "A table is on a cup.", Some(Roles("on"))),
            ("A boy on a chair holds a ball on a string.", "A boy holds a ball.", None),
            ("", "A boy.", Some(Word("boy"))),
            ("A boy.", "", None),
            ("It's a boy's room.", "It is a boy's room.", None),
        ];
        for (sentence, claim, due) in table {
            assert_eq!(missing(sentence, claim), due, "{sentence:?} => {claim:?}");
        }
    }

    #[test]
    fn things_are_named_by_their_word_or_a_narrower_one() {
        let table = [
            ("There are two dogs.", "dog", true),
            ("There are two buses.", "bus", true),
            ("There are two benches.", "bench", true),
            ("Two babies sleep.", "baby", true),
            ("A young boy stands.", "person", true),
            ("Two people stand.", "person", true),
            ("There is a van or truck.", "vehicle", true),
            ("A bike leans on a wall.", "bicycle", true),
            ("There is a van or truck.", "bus", false),
            ("Four people wear black.", "elephant", false),
            ("A carpet lies there.", "car", false),
            ("There is a traffic light.", "traffic light", true),
            ("", "dog", false),
        ];
        for (sentence, thing, due) in table {
            assert_eq!(names(sentence, thing), due, "{sentence:?} names {thing}");
        }
    }

    #[test]
    fn a_sentence_says_all_of_itself() {
        for sentence in [
            "Two women in white are sitting behind a table on the left, and a man is not looking at the two dogs.",
            "There are at least three boys under the red roof, next to 12 children.",
        ] {
            assert_eq!(missing(sentence, sentence), None, "{sentence}");
        }
    }
}
