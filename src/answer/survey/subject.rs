//! Which thing a question asks the presence, the absence or the number of times of. Pure.
//!
//! Understood, for a thing X (time phrases are gone before):
//!
//! | question | wants |
//! |---|---|
//! | `is/are/was/were there X`, `has there been X`, `did you see X`, `was X seen/there/visible` | presence |
//! | `is/was/did anybody/any X …` | presence |
//! | `is it empty`, `is the street deserted`, `was the room occupied` | emptiness: no person, vehicle or animal |
//! | `was there nobody`, `was there never/always X`, `how long was there no X` | presence: the same count answers |
//! | `how many times/how often was X …` | number of times |
//! | `how long was X …` | duration |
//! | `when was (the first) X …`, `when did X first …` | when |
//!
//! Who asks what X does ("Did a car arrive?") is answered only by captions that say so in a form of that verb: a judge of
//! sentences takes many a deed for granted of what is there.
//!
//! Anything else is an ordinary question, and so is one about two things ("a car and a dog"): what its captions say is
//! told of each, and of each what was not there (`premise`). What follows X ("in the garden", "fall") is kept for the judge: a caption that
//! speaks of X and does not tell the rest leaves it unclear.

use super::wording::{
    BE, DO, Plain, VERBS, agreed, capitalised, deed, is_participle, is_plural, is_trait, one, plain, told,
};
use crate::domain::Wants;
use crate::domain::words::{content, is_kind_of, stem, words};

/// The thing asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::answer) struct Subject {
    /// What the question wants to know.
    pub(in crate::answer) wants: Wants,
    /// For a reader: "a red car".
    pub(in crate::answer) text: String,
    /// What a caption must entail: "There is a red car."
    pub(in crate::answer) hypothesis: String,
    /// Stems of the things themselves; a caption that speaks of none of them does not speak of the subject.
    pub(in crate::answer) heads: Vec<String>,
    /// Of "a dog or a cat" what is claimed of each, in the order of its heads.
    pub(in crate::answer) alternatives: Vec<String>,
    /// Whether the heads alone decide: nothing else was said of them.
    pub(in crate::answer) is_simple: bool,
    /// The stem of what it does, if that is asked.
    pub(super) deed: Option<String>,
}

impl Subject {
    /// Whether a sentence may say what is done: in a form of the question's own verb. Nothing else tells an arrival from
    /// a presence, a judge least of all: to it "There is a car." says that a car arrives.
    pub(super) fn may_be_told_by(&self, sentence: &str) -> bool {
        self.deed.as_ref().is_none_or(|deed| words(sentence).any(|word| stem(word) == *deed))
    }
}

/// Reads a question whose time phrases are gone.
pub(in crate::answer) fn read(topic: &str) -> Option<Subject> {
    let Plain { words, denies } = plain(topic);
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let rules = [emptiness, times, duration, when, there, seen_by_you, described];
    let subject = rules.into_iter().find_map(|rule| rule(&all))?;
    // How often there was nobody is not how often there was somebody.
    let is_counted = matches!(subject.wants, Wants::Times | Wants::Duration | Wants::When);
    Some(if denies && is_counted { Subject { wants: Wants::Presence, ..subject } } else { subject })
}

/// Where a noun phrase ends.
const BEYOND: [&str; 40] = [
    "in", "on", "at", "near", "by", "with", "without", "behind", "beside", "under", "over", "from", "to", "of", "that",
    "who", "which", "wearing", "holding", "riding", "standing", "sitting", "walking", "running", "going", "coming",
    "crossing", "leaving", "entering", "around", "outside", "inside", "through", "into", "between", "carrying",
    "doing", "playing", "towards", "past",
];
/// What says no more than that it was there.
const THERE: [&str; 13] = [
    "there", "here", "seen", "visible", "present", "around", "spotted", "shown", "detected", "appear", "appeared",
    "appears", "been",
];
/// Of which things are told apart, and what leads to a noun.
const ARTICLES: [&str; 6] = ["a", "an", "the", "any", "some", "no"];
/// Say nothing of what is asked about.
const ADVERBS: [&str; 13] =
    ["ever", "else", "already", "still", "also", "again", "just", "really", "actually", "even", "now", "first", "last"];
/// What no noun phrase holds; where one does, it is not understood.
#[rustfmt::skip]
const NO_NOUNS: [&str; 35] = [
    "only", "twice", "fewer", "less", "except",
    "and", "but", "than", "then", "not", "what", "which", "who", "whom", "whose", "where", "when", "why", "how", "if",
    "whether", "is", "are", "was", "were", "be", "did", "does", "do", "has", "have", "you", "it", "they", "we",
];
/// Of a whole scene.
const EMPTY: [&str; 6] = ["empty", "deserted", "vacant", "unoccupied", "occupied", "abandoned"];

/// `is it empty`, `was the parking lot deserted`, `how long was the room empty`.
fn emptiness(all: &[&str]) -> Option<Subject> {
    let (["how", "many", "times", all @ ..]
    | ["for", "how", "long", all @ ..]
    | ["how", "much", "time", all @ ..]
    | ["how", "often" | "long", all @ ..]
    | ["when", all @ ..]
    | all) = all;
    if !all.first().is_some_and(|first| BE.contains(first)) {
        return None;
    }
    let last = all.iter().position(|word| EMPTY.contains(word))?;
    // "Is there an empty chair?" asks for a chair.
    let attribute = all.get(last + 1).is_some_and(|next| !BEYOND.contains(next) && *next != "or");
    if attribute || all.get(1) == Some(&"there") && last != 2 {
        return None;
    }
    let heads = ["person", "vehicle", "animal", "bicycle"].map(stem).to_vec();
    let text = "a person, vehicle or animal".to_owned();
    let hypothesis = "Something is there.".to_owned();
    let (wants, alternatives) = (Wants::Emptiness, Vec::new());
    Some(Subject { wants, text, hypothesis, heads, alternatives, is_simple: true, deed: None })
}

/// `how many times did a car pass`, `how often was a dog seen`.
fn times(all: &[&str]) -> Option<Subject> {
    let (["how", "many", "times", rest @ ..] | ["how", "often", rest @ ..]) = all else { return None };
    clause(rest, Wants::Times)
}

/// `how long was the car there`, `for how long did a man stand`.
fn duration(all: &[&str]) -> Option<Subject> {
    let (["how", "long", rest @ ..] | ["for", "how", "long", rest @ ..] | ["how", "much", "time", rest @ ..]) = all
    else {
        return None;
    };
    clause(rest, Wants::Duration)
}

/// `when was the first car seen`, `when did a dog first appear`, `when was the last time that a car passed`.
fn when(all: &[&str]) -> Option<Subject> {
    let rest = match all {
        ["when" | "since", rest @ ..] => rest,
        ["at" | "what", "what" | "time", rest @ ..] => rest.strip_prefix(&["time"]).unwrap_or(rest),
        _ => return None,
    };
    let rest = match rest {
        [be, "the", "first" | "last", "time", "that", rest @ ..] | [be, "the", "first" | "last", "time", rest @ ..]
            if BE.contains(be) =>
        {
            return noun_clause(rest);
        }
        _ => rest,
    };
    clause(rest, Wants::When)
}

/// `a car was seen`, `a person was on the left`: the same without its verb.
fn noun_clause(rest: &[&str]) -> Option<Subject> {
    let verb = rest.iter().position(|word| BE.contains(word));
    let words: Vec<&str> = rest.iter().enumerate().filter(|(at, _)| Some(*at) != verb).map(|(_, word)| *word).collect();
    thing(&words, Wants::When, if verb.is_some() { Then::State } else { Then::Verb })
}

/// `was/did X …` and `was there X …`.
fn clause(rest: &[&str], wants: Wants) -> Option<Subject> {
    let (verb, rest) = rest.split_first()?;
    if !BE.contains(verb) && !DO.contains(verb) {
        return None;
    }
    let then = if DO.contains(verb) { Then::Verb } else { Then::State };
    let (rest, then) = rest.strip_prefix(&["there"]).map_or((rest, then), |rest| (rest, Then::Nothing));
    let rest = rest.strip_prefix(&["been"]).unwrap_or(rest);
    thing(rest, wants, then)
}

/// `is there X`, `has there been X`, `are there any X`.
fn there(all: &[&str]) -> Option<Subject> {
    match all {
        [be, "there", rest @ ..] if BE.contains(be) => thing(rest, Wants::Presence, Then::Nothing),
        ["has" | "have" | "had", "there", "been", rest @ ..] => thing(rest, Wants::Presence, Then::Nothing),
        _ => None,
    }
}

/// `did you see X`, `can you see X`, `does the camera see X`.
fn seen_by_you(all: &[&str]) -> Option<Subject> {
    let [verb, rest @ ..] = all else { return None };
    if !DO.contains(verb) && !["can", "could"].contains(verb) {
        return None;
    }
    let (["you" | "we" | "it" | "i", rest @ ..] | ["the", "camera" | "video", rest @ ..]) = rest else { return None };
    let rest = rest.strip_prefix(&["ever"]).unwrap_or(rest);
    match rest {
        ["see" | "seen" | "spot" | "notice" | "show" | "find", rest @ ..] => {
            thing(rest, Wants::Presence, Then::Nothing)
        }
        _ => None,
    }
}

/// `was a dog seen`, `is anybody there`, `did any truck pass`, `was anyone in the room`.
fn described(all: &[&str]) -> Option<Subject> {
    let [verb, rest @ ..] = all else { return None };
    if !BE.contains(verb) && !DO.contains(verb) {
        return None;
    }
    let any = matches!(
        rest.first(),
        Some(&("anybody" | "anyone" | "somebody" | "someone" | "nobody" | "any" | "a" | "an" | "some" | "no"))
    );
    // "Is a dog an animal?" and "Was the man tall?" ask something else.
    let says_there = rest.last().is_some_and(|last| THERE.contains(last));
    let indefinite = any && !rest.iter().skip(1).any(|word| matches!(*word, "a" | "an"));
    let then = if DO.contains(verb) { Then::Verb } else { Then::State };
    (says_there || indefinite).then(|| thing(rest, Wants::Presence, then)).flatten()
}

/// What may follow the noun that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Where it is: "was there a dog in the garden".
    Nothing,
    /// What it does: "did a dog bark".
    Verb,
    /// What it is: "was the street wet".
    State,
}

/// The noun phrase at the beginning of `rest`, and what is said of it.
fn thing(rest: &[&str], wants: Wants, then: Then) -> Option<Subject> {
    let rest = match rest {
        ["any" | "some" | "no" | "a" | "an" | "the" | "ever", rest @ ..] => rest,
        _ => rest,
    };
    let rest = match rest {
        ["first" | "last" | "earliest" | "final" | "more" | "other", rest @ ..] => rest,
        _ => rest,
    };
    // "A single person", "even one person": one is enough.
    let rest = match rest {
        ["single" | "lone" | "one", rest @ ..] | ["even", "one" | "a", rest @ ..] if !rest.is_empty() => rest,
        _ => rest,
    };
    let first = *rest.first()?;
    if let "anybody" | "anyone" | "somebody" | "someone" | "nobody" | "noone" = first {
        return subject(&["person"], &rest[1..], wants, then);
    }
    if let "anything" | "something" | "nothing" | "it" | "he" | "she" | "they" | "this" | "that" | "you" | "we" = first
    {
        return None;
    }
    let skip = if rest.starts_with(&["at", "least"]) { 2 } else { 0 };
    let (nouns, said) = rest.split_at(skip + nouns(&rest[skip..], then)?);
    subject(nouns, said, wants, then)
}

/// How many words are the noun phrase; `None` if it cannot be told from the verb.
fn nouns(rest: &[&str], then: Then) -> Option<usize> {
    let ends = |word: &&str| BEYOND.contains(word) || THERE.contains(word) || matches!(*word, "first" | "last");
    let is_end = |at: usize| rest.get(at).is_none_or(|word| ends(word) || ARTICLES.contains(word));
    let is_said = |(at, word): (usize, &&str)| ends(word) || at > 0 && is_participle(word) && is_end(at + 1);
    let end = rest.iter().enumerate().position(is_said);
    let is_told = end.is_some_and(|end| !BEYOND.contains(&rest[end]) || is_participle(rest[end]));
    let end = end.unwrap_or(rest.len());
    match then {
        Then::Nothing => Some(end),
        // "was the street wet": the last word is no noun.
        Then::State => Some(end - usize::from(end == rest.len() && end > 1)),
        Then::Verb => match rest[..end].iter().skip(1).position(|word| VERBS.contains(word)) {
            Some(verb) => Some(verb + 1),
            None if is_told => Some(end),
            // "did a black dog gallop": a verb that is not known, where nothing else can be one.
            None => {
                let (noun, before) = rest[..end.checked_sub(1)?].split_last()?;
                (!ARTICLES.contains(noun) && before.iter().all(|word| is_trait(word))).then_some(end - 1)
            }
        },
    }
}

/// `None` if the words are no noun phrase: of two things joined by "and" each is asked about on its own.
fn subject(nouns: &[&str], said: &[&str], wants: Wants, then: Then) -> Option<Subject> {
    let nouns: Vec<&str> = nouns.iter().copied().filter(|word| !ADVERBS.contains(word)).collect();
    let colour = |word: &&str| is_kind_of(&stem(word), &stem("colour"));
    // "a black and white dog" is one.
    let colours = |at: usize| nouns[..at].iter().chain(nouns.get(at + 1)).all(colour);
    let is_no_noun = |(at, word): (usize, &&str)| NO_NOUNS.contains(word) && !(*word == "and" && colours(at));
    let is_repeated = said.iter().any(|word| matches!(*word, "twice" | "thrice" | "repeatedly" | "again"));
    let joins = is_repeated || said.windows(2).any(|pair| pair[0] == "and" && ARTICLES.contains(&pair[1]));
    if nouns.iter().enumerate().any(is_no_noun) || joins {
        return None;
    }
    let said: Vec<&str> =
        said.iter().copied().filter(|word| !THERE.contains(word) && !ADVERBS.contains(word)).collect();
    // "a dog or a cat": each alternative ends in its noun.
    let alternatives: Vec<Vec<&str>> = nouns
        .split(|word| matches!(*word, "or"))
        .map(|part| part.iter().copied().filter(|word| !matches!(*word, "a" | "an" | "any" | "the")).collect())
        .filter(|part: &Vec<&str>| !part.is_empty())
        .collect();
    let heads: Vec<String> = alternatives.iter().filter_map(|part| part.last()).map(|head| stem(head)).collect();
    let things: Vec<String> = alternatives.iter().map(|part| one(part)).collect();
    let is_simple = alternatives.iter().all(|part| part.len() == 1) && content(&said.join(" ")).is_empty();
    let (text, hypothesis) = phrased(&things.join(" or "), &said, then);
    let alternatives = if things.len() > 1 { things } else { Vec::new() };
    let alternatives = alternatives.iter().map(|thing| phrased(thing, &said, then).1).collect();
    let deed = said.iter().enumerate().find(|(at, word)| is_deed(*at, word, then)).and_then(|(_, word)| deed(word));
    (!heads.is_empty()).then_some(Subject { wants, text, hypothesis, heads, alternatives, is_simple, deed })
}

/// Whether a word of what is said of a thing tells what it does.
fn is_deed(at: usize, word: &str, then: Then) -> bool {
    is_participle(word) || at == 0 && then == Then::Verb && !BEYOND.contains(&word)
}

/// A thing with what is said of it, for a reader and for the judge.
fn phrased(thing: &str, said: &[&str], then: Then) -> (String, String) {
    let is = agreed(thing, "is", "are");
    match said.split_first() {
        None => (thing.to_owned(), format!("There {is} {thing}.")),
        Some((state, _)) if then == Then::State && !BEYOND.contains(state) => {
            let said = said.join(" ");
            (format!("{thing} that {is} {said}"), format!("{} {is} {said}.", capitalised(thing)))
        }
        Some((verb, rest)) if then == Then::Verb && !BEYOND.contains(verb) => {
            let said = [&[told(verb, is_plural(thing)).as_str()], rest].concat().join(" ");
            (format!("{thing} that {said}"), format!("{} {said}.", capitalised(thing)))
        }
        Some(_) => {
            let text = format!("{thing} {}", said.join(" "));
            let hypothesis = format!("There {is} {text}.");
            (text, hypothesis)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Wants::{Duration, Presence, Times, When};

    #[rustfmt::skip]
    const QUESTIONS: &[(&str, Option<(Wants, &str, &[&str], bool)>)] = &[
        ("Was there a dog?", Some((Presence, "a dog", &["dog"], true))),
        ("Is there a car", Some((Presence, "a car", &["car"], true))),
        ("Are there any people?", Some((Presence, "a person", &["person"], true))),
        ("Are there any people on the street?", Some((Presence, "a person on the street", &["person"], false))),
        ("Were there buses?", Some((Presence, "a bus", &["bus"], true))),
        ("Is there a red car?", Some((Presence, "a red car", &["car"], false))),
        ("Are there two dogs?", Some((Presence, "two dogs", &["dog"], false))),
        ("Is there an elephant?", Some((Presence, "an elephant", &["elephant"], true))),
        ("Was there ever a dog or a cat?", Some((Presence, "a dog or a cat", &["dog", "cat"], true))),
        ("Has there been a truck?", Some((Presence, "a truck", &["truck"], true))),
        ("Is there anybody?", Some((Presence, "a person", &["person"], true))),
        ("Is anybody there?", Some((Presence, "a person", &["person"], true))),
        ("Was anyone in the room?", Some((Presence, "a person in the room", &["person"], false))),
        ("Was nobody there?", Some((Presence, "a person", &["person"], true))),
        ("Was there no one?", Some((Presence, "a person", &["person"], true))),
        ("Did anybody fall?", Some((Presence, "a person that falls", &["person"], false))),
        ("Did you see a bicycle?", Some((Presence, "a bicycle", &["bicycl"], true))),
        ("Can you see any bikes?", Some((Presence, "a bike", &["bicycl"], true))),
        ("Does the camera see a cat", Some((Presence, "a cat", &["cat"], true))),
        ("Was a dog seen?", Some((Presence, "a dog", &["dog"], true))),
        ("Was a dog there", Some((Presence, "a dog", &["dog"], true))),
        ("Was the dog there?", Some((Presence, "a dog", &["dog"], true))),
        ("Have any trucks been seen?", Some((Presence, "a truck", &["truck"], true))),
        ("Did any truck pass?", Some((Presence, "a truck that passes", &["truck"], false))),
        ("How many times was there nobody?", Some((Presence, "a person", &["person"], true))),
        ("How long was there no car?", Some((Presence, "a car", &["car"], true))),
        ("How often was no dog seen?", Some((Presence, "a dog", &["dog"], true))),
        ("When was there nobody?", Some((Presence, "a person", &["person"], true))),
        ("Was there never a dog?", Some((Presence, "a dog", &["dog"], true))),
        ("Was a dog never seen?", Some((Presence, "a dog", &["dog"], true))),
        ("Was there always a person?", Some((Presence, "a person", &["person"], true))),
        ("Was somebody constantly there?", Some((Presence, "a person", &["person"], true))),
        ("Were there always at least three people?", Some((Presence, "at least three people", &["person"], false))),
        ("Were there neither dogs nor cats?", Some((Presence, "a dog or a cat", &["dog", "cat"], true))),
        ("Is there a car, isn't there?", Some((Presence, "a car", &["car"], true))),
        ("Isn’t there a car?", Some((Presence, "a car", &["car"], true))),
        ("Is there one car?", Some((Presence, "a car", &["car"], true))),
        ("Was there a single person?", Some((Presence, "a person", &["person"], true))),
        ("Was there even one person?", Some((Presence, "a person", &["person"], true))),
        ("Is there only one person?", None),
        ("Did a person appear twice?", None),
        ("Was there another car?", Some((Presence, "another car", &["car"], false))),
        ("Was there either a dog or a car?", Some((Presence, "a dog or a car", &["dog", "car"], true))),
        ("Was there a couple of cars?", Some((Presence, "two cars", &["car"], false))),
        ("Did a car leave?", Some((Presence, "a car that leaves", &["car"], false))),
        ("Did a car arrive?", Some((Presence, "a car that arrives", &["car"], false))),
        ("How many times did a car enter?", Some((Times, "a car that enters", &["car"], false))),
        ("When did the first car arrive?", Some((When, "a car that arrives", &["car"], false))),
        ("When was the last time a car left?", Some((When, "a car that left", &["car"], false))),
        ("How many times did a person wear red?", Some((Times, "a person that wears red", &["person"], false))),
        ("Did two dogs bark?", None),
        ("Did any zebra gallop?", Some((Presence, "a zebra that gallops", &["zebra"], false))),
        ("Did a zebra gallop fast?", None),
        ("Did a zebra gallop in the street?", Some((Presence, "a zebra that gallops in the street", &["zebra"], false))),
        ("Is there a man wearing a hat?", Some((Presence, "a man wearing a hat", &["man"], false))),
        ("How many times did a car pass?", Some((Times, "a car that passes", &["car"], false))),
        ("How many times was a dog seen?", Some((Times, "a dog", &["dog"], true))),
        ("How often was there a bus?", Some((Times, "a bus", &["bus"], true))),
        ("How many times did the bus stop?", Some((Times, "a bus that stops", &["bus"], false))),
        ("How long was the car there?", Some((Duration, "a car", &["car"], true))),
        ("For how long was a person visible?", Some((Duration, "a person", &["person"], true))),
        ("When was the first car seen?", Some((When, "a car", &["car"], true))),
        ("When was the first time that a car was seen?", Some((When, "a car", &["car"], true))),
        ("When was the last time a person was there?", Some((When, "a person", &["person"], true))),
        ("When did a dog first appear?", Some((When, "a dog", &["dog"], true))),
        ("When was the last time that a car passed?", Some((When, "a car that passed", &["car"], false))),
        ("When was there a bus?", Some((When, "a bus", &["bus"], true))),
        ("At what time was a dog seen?", Some((When, "a dog", &["dog"], true))),
        ("What time was a dog seen?", Some((When, "a dog", &["dog"], true))),
        ("When did a car first appear?", Some((When, "a car", &["car"], true))),
        ("When did a car appear first?", Some((When, "a car", &["car"], true))),
        ("When did the first car appear?", Some((When, "a car", &["car"], true))),
        ("When did a car first drive by?", Some((When, "a car that drives by", &["car"], false))),
        ("When did a car last honk?", Some((When, "a car that honks", &["car"], false))),
        ("When was a car first parked there?", Some((When, "a car that is parked", &["car"], false))),
        ("Did any dog swim?", Some((Presence, "a dog that swims", &["dog"], false))),
        ("Has a dog barked?", Some((Presence, "a dog that barked", &["dog"], false))),
        ("Was there a man dancing?", Some((Presence, "a man dancing", &["man"], false))),
        ("Was there a red building?", Some((Presence, "a red building", &["build"], false))),
        ("Is there still a car?", Some((Presence, "a car", &["car"], true))),
        ("How long was the car parked?", Some((Duration, "a car that is parked", &["car"], false))),
        ("Is there a black and white dog?", Some((Presence, "a black and white dog", &["dog"], false))),
        ("When was the street wet?", Some((When, "a street that is wet", &["street"], false))),
        ("Was anybody hurt?", Some((Presence, "a person that is hurt", &["person"], false))),
        ("Was there a car and a dog?", None),
        ("Were there cars and dogs?", None),
        ("Was there a car on the left and a dog?", None),
        ("Were there more than three people?", None),
        ("Can you see what the man holds?", None),
        ("Did you see if it was raining?", None),
        ("How many people are there?", None),
        ("What colour is the dog?", None),
        ("Where is the car?", None),
        ("Who is there?", None),
        ("Is the man tall?", None),
        ("Is a dog an animal?", None),
        ("Is it raining?", None),
        ("Why is the dog chasing the ball?", None),
        ("What is there?", None),
        ("Is there something?", None),
        ("Is it true: There is a car.", None),
        ("Was there?", None),
        ("How many times?", None),
        ("", None),
    ];

    #[test]
    fn a_question_names_its_thing() {
        for (question, due) in QUESTIONS {
            let found = read(question);
            let got = found.as_ref().map(|s| (s.wants, s.text.as_str(), s.heads.clone(), s.is_simple));
            let due = (*due).map(|(wants, text, heads, simple)| {
                (wants, text, heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>(), simple)
            });
            assert_eq!(got, due, "{question:?}");
        }
        let hypothesis = |question: &str| read(question).expect("a thing").hypothesis;
        assert_eq!(hypothesis("Was there a dog?"), "There is a dog.");
        assert_eq!(hypothesis("Did a red car cross the street?"), "A red car crosses the street.");
        assert_eq!(hypothesis("Are there eight people?"), "There are eight people.");
        let either = read("Was there a cat or two people?").expect("a thing");
        assert_eq!(either.alternatives, ["There is a cat.", "There are two people."]);
        assert_eq!(read("Was there a cat?").expect("a thing").alternatives, Vec::<String>::new());
    }

    #[test]
    fn what_is_done_must_be_in_the_captions_words() {
        for (question, sentence, due) in [
            ("Did a car arrive?", "There is a car.", false),
            ("Did a car arrive?", "A car is arriving.", true),
            ("Did a car leave?", "There is a car.", false),
            ("Did a car leave?", "A car leaves.", true),
            ("How many times did a car pass?", "There is a car.", false),
            ("When did the first car come?", "There is a car.", false),
            ("When was the last time a car left?", "A car leaves.", true),
            ("Is there a man dancing?", "There is a man.", false),
            ("Is there a man dancing?", "A man dances.", true),
            ("How long was the car parked?", "There is a car.", false),
            ("How long was the car parked?", "There is a parked car.", true),
            ("How many times did a person wear red?", "A man in a red shirt sits.", true),
            ("Is there a man wearing a hat?", "There is a man in a hat.", true),
            ("Was there a car?", "There is a car.", true),
            ("Was there a car on the left?", "There is a car.", true),
            ("When did a dog first appear?", "There is a dog.", true),
        ] {
            let subject = read(question).expect("a thing");
            assert_eq!(subject.may_be_told_by(sentence), due, "{question} {sentence}");
        }
    }

    #[test]
    fn emptiness_is_the_absence_of_people_vehicles_and_animals() {
        for question in [
            "Is it empty?",
            "Was the street empty?",
            "Is the parking lot deserted",
            "Was the room occupied?",
            "How many times was the street empty?",
            "How long was it empty?",
            "When was the street deserted?",
        ] {
            let found = read(question).unwrap_or_else(|| panic!("{question:?} is not read"));
            assert_eq!((found.wants, found.heads.len()), (Wants::Emptiness, 4), "{question:?}");
        }
        let chair = read("Is there an empty chair?").expect("a thing");
        assert_eq!((chair.wants, chair.heads), (Wants::Presence, vec![stem("chair")]));
    }
}
