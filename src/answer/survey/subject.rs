//! Which thing a question asks the presence, the absence or the number of times of. Pure.
//!
//! Understood, for a thing X (time phrases are gone before):
//!
//! | question | wants |
//! |---|---|
//! | `is/are/was/were there X`, `has there been X`, `did you see X`, `was X seen/there/visible` | presence |
//! | `is/was/did anybody/any X …` | presence |
//! | `is it empty`, `is the street deserted`, `was the room occupied` | emptiness: no person, vehicle or animal |
//! | `was there nobody`, `is no X there` | presence, told the other way round |
//! | `how many times/how often did X …` | number of times |
//! | `how long was X …` | duration |
//! | `when was (the first) X …`, `when did X first …` | when |
//!
//! Anything else is an ordinary question, and so is one about two things ("a car and a dog"): what its captions say is
//! told of each, and of each what was not there (`premise`). What follows X ("in the garden", "fall") is kept for the judge: a caption that
//! speaks of X and does not tell the rest leaves it unclear.

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
    /// Whether the heads alone decide: nothing else was said of them.
    pub(in crate::answer) is_simple: bool,
}

/// Reads a question whose time phrases are gone.
pub(in crate::answer) fn read(topic: &str) -> Option<Subject> {
    let all: Vec<String> = words(topic).map(str::to_lowercase).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let rules = [emptiness, times, duration, when, there, seen_by_you, described];
    rules.into_iter().find_map(|rule| rule(&all))
}

const BE: [&str; 4] = ["is", "are", "was", "were"];
const DO: [&str; 6] = ["did", "does", "do", "has", "have", "had"];
/// Where a noun phrase ends.
const BEYOND: [&str; 40] = [
    "in", "on", "at", "near", "by", "with", "without", "behind", "beside", "under", "over", "from", "to", "of", "that",
    "who", "which", "wearing", "holding", "riding", "standing", "sitting", "walking", "running", "going", "coming",
    "crossing", "leaving", "entering", "around", "outside", "inside", "through", "into", "between", "carrying",
    "doing", "playing", "towards", "past",
];
/// What says no more than that it was there.
const THERE: [&str; 16] = [
    "there", "here", "seen", "visible", "present", "around", "spotted", "shown", "detected", "appear", "appeared",
    "appears", "pass", "passed", "passes", "been",
];
/// What things do in front of cameras, as written after "did".
const VERBS: [&str; 44] = [
    "stop", "turn", "open", "close", "fall", "arrive", "leave", "enter", "move", "run", "walk", "jump", "sit", "stand",
    "drive", "ride", "cross", "come", "go", "wave", "park", "return", "touch", "look", "bark", "eat", "play", "dance",
    "take", "put", "pick", "throw", "kick", "cry", "smile", "laugh", "stay", "wait", "drop", "carry", "hold", "lie",
    "drink", "happen",
];
/// Of which things are told apart, and what leads to a noun.
const ARTICLES: [&str; 6] = ["a", "an", "the", "any", "some", "no"];
/// Say nothing of what is asked about.
const ADVERBS: [&str; 13] =
    ["ever", "else", "already", "still", "also", "again", "just", "really", "actually", "even", "now", "first", "last"];
/// What no noun phrase holds; where one does, it is not understood.
#[rustfmt::skip]
const NO_NOUNS: [&str; 30] = [
    "and", "but", "than", "then", "not", "what", "which", "who", "whom", "whose", "where", "when", "why", "how", "if",
    "whether", "is", "are", "was", "were", "be", "did", "does", "do", "has", "have", "you", "it", "they", "we",
];
/// No participles.
const NOUNS_IN_ING: [&str; 16] = [
    "building",
    "ceiling",
    "painting",
    "clothing",
    "parking",
    "wedding",
    "string",
    "spring",
    "earring",
    "evening",
    "morning",
    "railing",
    "awning",
    "drawing",
    "meeting",
    "something",
];
/// Of a whole scene.
const EMPTY: [&str; 6] = ["empty", "deserted", "vacant", "unoccupied", "occupied", "abandoned"];

/// `is it empty`, `was the parking lot deserted`, `how long was the room empty`.
fn emptiness(all: &[&str]) -> Option<Subject> {
    let wants = match all {
        [first, ..] if BE.contains(first) => Wants::Emptiness,
        _ => return None,
    };
    let last = all.iter().position(|word| EMPTY.contains(word))?;
    // "Is there an empty chair?" asks for a chair.
    let attribute = all.get(last + 1).is_some_and(|next| !BEYOND.contains(next) && *next != "or");
    if attribute || all.get(1) == Some(&"there") && last != 2 {
        return None;
    }
    let heads = ["person", "vehicle", "animal", "bicycle"].map(stem).to_vec();
    let text = "a person, vehicle or animal".to_owned();
    Some(Subject { wants, hypothesis: "Something is there.".to_owned(), text, heads, is_simple: true })
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
    let first = *rest.first()?;
    if let "anybody" | "anyone" | "somebody" | "someone" | "nobody" | "noone" | "one" | "body" = first {
        return subject(&["person"], &rest[1..], wants, then);
    }
    if let "anything" | "something" | "nothing" | "it" | "he" | "she" | "they" | "this" | "that" | "you" | "we" = first
    {
        return None;
    }
    let ends = |word: &&str| BEYOND.contains(word) || THERE.contains(word) || matches!(*word, "first" | "last");
    let is_end = |at: usize| rest.get(at).is_none_or(|word| ends(word) || ARTICLES.contains(word));
    let is_said = |(at, word): (usize, &&str)| {
        ends(word) || then == Then::Verb && VERBS.contains(word) || at > 0 && is_participle(word) && is_end(at + 1)
    };
    let end = rest.iter().enumerate().position(is_said);
    // "did a dog swim", "was the street wet": the last word is no noun.
    let is_last_said = then != Then::Nothing && rest.len() > 1;
    let end = end.unwrap_or(rest.len() - usize::from(is_last_said));
    let (nouns, said) = rest.split_at(end);
    subject(nouns, said, wants, then)
}

/// "parked", "dancing"; but not "red", nor "building".
fn is_participle(word: &str) -> bool {
    let is_done = word.ends_with("ed") && word.len() > 4;
    is_done || word.ends_with("ing") && word.len() > 5 && !NOUNS_IN_ING.contains(&word)
}

/// `None` if the words are no noun phrase: of two things joined by "and" each is asked about on its own.
fn subject(nouns: &[&str], said: &[&str], wants: Wants, then: Then) -> Option<Subject> {
    let nouns: Vec<&str> = nouns.iter().copied().filter(|word| !ADVERBS.contains(word)).collect();
    let colour = |word: &&str| is_kind_of(&stem(word), &stem("colour"));
    // "a black and white dog" is one.
    let colours = |at: usize| nouns[..at].iter().chain(nouns.get(at + 1)).all(colour);
    let is_no_noun = |(at, word): (usize, &&str)| NO_NOUNS.contains(word) && !(*word == "and" && colours(at));
    let joins = said.windows(2).any(|pair| pair[0] == "and" && ARTICLES.contains(&pair[1]));
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
    let thing = things.join(" or ");
    let is_simple = alternatives.iter().all(|part| part.len() == 1) && content(&said.join(" ")).is_empty();
    let (text, hypothesis) = match said.split_first() {
        None => (thing.clone(), format!("There is {thing}.")),
        Some((state, _)) if then == Then::State && !BEYOND.contains(state) => {
            let said = said.join(" ");
            (format!("{thing} that is {said}"), format!("{} is {said}.", capitalised(&thing)))
        }
        Some((verb, rest)) if then == Then::Verb && !BEYOND.contains(verb) => {
            let verb = if is_participle(verb) { (*verb).to_owned() } else { third_person(verb) };
            let said = [&[verb.as_str()], rest].concat().join(" ");
            (format!("{thing} that {said}"), format!("{} {said}.", capitalised(&thing)))
        }
        Some(_) => {
            let text = format!("{thing} {}", said.join(" "));
            (text.clone(), format!("There is {text}."))
        }
    };
    (!heads.is_empty()).then_some(Subject { wants, text, hypothesis, heads, is_simple })
}

/// `red cars` as `a red car`; `two dogs` stays.
fn one(words: &[&str]) -> String {
    let (last, before) = words.split_last().unwrap_or((&"", &[]));
    let counted = before.iter().any(|word| stem(word).bytes().all(|c| c.is_ascii_digit()) || *word == "many");
    if counted {
        return words.join(" ");
    }
    let text = before.iter().copied().chain([singular(last).as_str()]).collect::<Vec<_>>().join(" ");
    let article = if text.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {text}")
}

fn third_person(verb: &str) -> String {
    match verb {
        "carry" | "cry" => format!("{}ies", &verb[..verb.len() - 1]),
        "go" => "goes".to_owned(),
        _ if verb.ends_with(['s', 'x', 'h']) => format!("{verb}es"),
        _ => format!("{verb}s"),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The singular of a noun, as far as its ending tells.
fn singular(noun: &str) -> String {
    match noun {
        "people" | "persons" => return "person".to_owned(),
        "men" => return "man".to_owned(),
        "women" => return "woman".to_owned(),
        "children" => return "child".to_owned(),
        "bus" | "glass" | "grass" | "dress" => return noun.to_owned(),
        _ => {}
    }
    let ends = |ending: &str| noun.strip_suffix(ending).filter(|stem| stem.len() > 1);
    if let Some(stem) = ends("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "ses", "xes", "ches", "shes"] {
        if noun.ends_with(ending) {
            return noun[..noun.len() - 2].to_owned();
        }
    }
    ends("s").filter(|stem| !stem.ends_with(['s', 'u', 'i'])).unwrap_or(noun).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_its_thing() {
        use Wants::{Duration, Presence, Times, When};
        #[rustfmt::skip]
        let table: [(&str, Option<(Wants, &str, &[&str], bool)>); 74] = [
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
            ("Did any truck pass?", Some((Presence, "a truck", &["truck"], true))),
            ("Is there a man wearing a hat?", Some((Presence, "a man wearing a hat", &["man"], false))),
            ("How many times did a car pass?", Some((Times, "a car", &["car"], true))),
            ("How many times was a dog seen?", Some((Times, "a dog", &["dog"], true))),
            ("How often was there a bus?", Some((Times, "a bus", &["bus"], true))),
            ("How many times did the bus stop?", Some((Times, "a bus that stops", &["bus"], false))),
            ("How long was the car there?", Some((Duration, "a car", &["car"], true))),
            ("For how long was a person visible?", Some((Duration, "a person", &["person"], true))),
            ("When was the first car seen?", Some((When, "a car", &["car"], true))),
            ("When was the first time that a car was seen?", Some((When, "a car", &["car"], true))),
            ("When was the last time a person was there?", Some((When, "a person", &["person"], true))),
            ("When did a dog first appear?", Some((When, "a dog", &["dog"], true))),
            ("When was the last time that a car passed?", Some((When, "a car", &["car"], true))),
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
        for (question, due) in table {
            let found = read(question);
            let got = found.as_ref().map(|s| (s.wants, s.text.as_str(), s.heads.clone(), s.is_simple));
            let due = due.map(|(wants, text, heads, simple)| {
                (wants, text, heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>(), simple)
            });
            assert_eq!(got, due, "{question:?}");
        }
        let hypothesis = |question: &str| read(question).expect("a thing").hypothesis;
        assert_eq!(hypothesis("Was there a dog?"), "There is a dog.");
        assert_eq!(hypothesis("Did a red car cross the street?"), "A red car crosses the street.");
    }

    #[test]
    fn emptiness_is_the_absence_of_people_vehicles_and_animals() {
        for question in
            ["Is it empty?", "Was the street empty?", "Is the parking lot deserted", "Was the room occupied?"]
        {
            let found = read(question).unwrap_or_else(|| panic!("{question:?} is not read"));
            assert_eq!((found.wants, found.heads.len()), (Wants::Emptiness, 4), "{question:?}");
        }
        let chair = read("Is there an empty chair?").expect("a thing");
        assert_eq!((chair.wants, chair.heads), (Wants::Presence, vec![stem("chair")]));
    }
}
