//! The words of a question without what says nothing of its thing: tags, adverbs of time, denials. And how a thing is
//! worded again: articles, singular, verbs. Pure.
//!
//! "Was there never a dog?", "Was there always a dog?" and "Was there a dog?" are answered by the same count of the same
//! captions, told as it was counted. So `never` and `always` are no part of the thing.

use crate::domain::words::{is_kind_of, stem, words};

/// A question in lower case, without what says nothing of its thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) words: Vec<String>,
    /// Whether it asks for what is not there: "How many times was there nobody?".
    pub(super) denies: bool,
}

pub(super) const BE: [&str; 4] = ["is", "are", "was", "were"];
pub(super) const DO: [&str; 6] = ["did", "does", "do", "has", "have", "had"];
/// How often, of whatever is there.
const HOW_OFTEN: [&str; 8] =
    ["never", "ever", "always", "constantly", "permanently", "continuously", "continually", "still"];
/// Deny what follows.
const DENIALS: [&str; 7] = ["no", "nobody", "noone", "none", "not", "never", "neither"];
/// What tags end in: "isn't there", "didn't they".
const TAGGED: [&str; 7] = ["there", "it", "they", "he", "she", "you", "not"];
/// What things do in front of cameras, as written after "did".
#[rustfmt::skip]
pub(super) const VERBS: [&str; 104] = [
    "stop", "turn", "open", "close", "fall", "arrive", "leave", "enter", "move", "run", "walk", "jump", "sit", "stand",
    "drive", "ride", "cross", "come", "go", "wave", "park", "return", "touch", "look", "bark", "eat", "play", "dance",
    "take", "put", "pick", "throw", "kick", "cry", "smile", "laugh", "stay", "wait", "drop", "carry", "hold", "lie",
    "drink", "happen", "pass", "wear", "show", "use", "make", "hit", "bring", "climb", "approach", "chase", "follow",
    "push", "pull", "talk", "speak", "read", "write", "cook", "swim", "fly", "fight", "shake", "point", "step", "slip",
    "crash", "slow", "reverse", "board", "exit", "disappear", "vanish", "deliver", "steal", "load", "unload", "knock",
    "ring", "clap", "sing", "sleep", "break", "catch", "change", "lift", "work", "clean", "wash", "honk", "spin",
    "hide", "feed", "hug", "smoke", "overtake", "collide", "get", "give", "start", "begin",
];
/// Irregular pasts and what they are the past of.
#[rustfmt::skip]
const PASTS: [(&str, &str); 26] = [
    ("left", "leave"), ("came", "come"), ("come", "come"), ("went", "go"), ("gone", "go"), ("drove", "drive"),
    ("driven", "drive"), ("ran", "run"), ("fell", "fall"), ("fallen", "fall"), ("stood", "stand"), ("sat", "sit"),
    ("rode", "ride"), ("ridden", "ride"), ("took", "take"), ("taken", "take"), ("threw", "throw"), ("thrown", "throw"),
    ("held", "hold"), ("ate", "eat"), ("drank", "drink"), ("wore", "wear"), ("worn", "wear"), ("broke", "break"),
    ("stole", "steal"), ("stolen", "steal"),
];
/// No participles.
#[rustfmt::skip]
const NOUNS_IN_ING: [&str; 16] = [
    "building", "ceiling", "painting", "clothing", "parking", "wedding", "string", "spring", "earring", "evening",
    "morning", "railing", "awning", "drawing", "meeting", "something",
];

/// Reads the words of a question.
pub(super) fn plain(topic: &str) -> Plain {
    let lower = topic.to_lowercase().replace('\u{2019}', "'");
    let all: Vec<&str> = words(without_tag(&lower)).collect();
    let is_neither = all.contains(&"neither");
    let mut denies = false;
    let mut words: Vec<String> = Vec::with_capacity(all.len());
    for (at, word) in all.iter().copied().enumerate() {
        let bare = word.strip_suffix("n't").filter(|bare| BE.contains(bare) || DO.contains(bare));
        // "Isn't there a car?" supposes one.
        denies |= bare.is_some() && at > 0 || DENIALS.contains(&word);
        let before = words.last().map_or("", String::as_str);
        let is_not = word == "not" && (BE.contains(&before) || DO.contains(&before) || before == "there");
        match (bare, word) {
            (Some(bare), _) => words.push(bare.to_owned()),
            (None, "neither" | "either") => {}
            (None, "of") if matches!(before, "couple" | "pair") => {
                words.pop();
                if matches!(words.last().map(String::as_str), Some("a")) {
                    words.pop();
                }
                words.push("two".to_owned());
            }
            (None, "nor") if is_neither => words.push("or".to_owned()),
            (None, "one") if before == "no" => {
                words.pop();
                words.push("nobody".to_owned());
            }
            (None, word) if is_not || HOW_OFTEN.contains(&word) => {}
            (None, word) => words.push(word.to_owned()),
        }
    }
    Plain { words, denies }
}

/// "is there a car, isn't there?" without its tag.
fn without_tag(question: &str) -> &str {
    let Some((before, tag)) = question.rsplit_once(',') else { return question };
    let tag: Vec<&str> = words(tag).collect();
    let is_tag = match tag[..] {
        ["right" | "correct" | "no" | "yes" | "please" | "ok" | "okay"] => true,
        [verb, of] => {
            let verb = verb.strip_suffix("n't").unwrap_or(verb);
            (BE.contains(&verb) || DO.contains(&verb) || verb == "or") && TAGGED.contains(&of)
        }
        _ => false,
    };
    if is_tag { before } else { question }
}

/// "parked", "dancing"; but not "red", nor "building".
pub(super) fn is_participle(word: &str) -> bool {
    let is_done = word.ends_with("ed") && word.len() > 4;
    is_done || word.ends_with("ing") && word.len() > 5 && !NOUNS_IN_ING.contains(&word)
}

/// The stem of what is done, for a word that tells a deed; `None` of clothes, which are worn without doing anything.
pub(super) fn deed(verb: &str) -> Option<String> {
    let base = PASTS.iter().find(|(past, _)| *past == verb).map_or(verb, |(_, base)| base);
    Some(stem(base)).filter(|it| *it != stem("wear"))
}

/// "leave" as "leaves" of one, "leave" of several; "left" and "barked" as they are.
pub(super) fn told(verb: &str, is_plural: bool) -> String {
    let is_past = verb != "come" && PASTS.iter().any(|(past, _)| *past == verb);
    if is_plural || is_past || is_participle(verb) { verb.to_owned() } else { third_person(verb) }
}

fn third_person(verb: &str) -> String {
    match verb {
        "carry" | "cry" | "fly" => format!("{}ies", &verb[..verb.len() - 1]),
        "go" => "goes".to_owned(),
        _ if verb.ends_with(['s', 'x', 'h']) => format!("{verb}es"),
        _ => format!("{verb}s"),
    }
}

/// Whether a thing as it is told is several: "two dogs", "at least three people"; not "a dog or a cat".
pub(super) fn is_plural(thing: &str) -> bool {
    let thing = thing.strip_prefix("at least ").unwrap_or(thing);
    let first = thing.split(' ').next().unwrap_or_default();
    matches!(first, "many" | "several" | "few") || stem(first).parse().is_ok_and(|count: u64| count > 1)
}

/// "is" or "are", "was" or "were".
pub(super) fn agreed(thing: &str, one: &'static str, several: &'static str) -> &'static str {
    if is_plural(thing) { several } else { one }
}

/// `red cars` as `a red car`; `two dogs` stays.
pub(super) fn one(words: &[&str]) -> String {
    let (last, before) = words.split_last().unwrap_or((&"", &[]));
    let counted = before.iter().any(|word| is_number(word) || matches!(*word, "many" | "several" | "few"));
    if counted {
        return words.join(" ");
    }
    let text = before.iter().copied().chain([singular(last).as_str()]).collect::<Vec<_>>().join(" ");
    if before.first() == Some(&"another") {
        return text;
    }
    let article = if text.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {text}")
}

fn is_number(word: &str) -> bool {
    stem(word).bytes().all(|c| c.is_ascii_digit())
}

/// Whether a word only counts or colours the noun that it stands before.
pub(super) fn is_trait(word: &str) -> bool {
    is_number(word) || is_kind_of(&stem(word), &stem("colour"))
}

pub(super) fn capitalised(text: &str) -> String {
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
    fn what_says_nothing_of_the_thing_goes() {
        let table = [
            ("Was there never a dog?", "was there a dog", true),
            ("Was there always a person?", "was there a person", false),
            ("Were there neither dogs nor cats?", "were there dogs or cats", true),
            ("Is there a car, isn't there?", "is there a car", false),
            ("There is a car, right?", "there is a car", false),
            ("Isn't there a car?", "is there a car", false),
            ("How long wasn't there a car?", "how long was there a car", true),
            ("Was there not a car?", "was there a car", true),
            ("Was there no one?", "was there nobody", true),
            ("Is there one car?", "is there one car", false),
            ("Was there a car, or a dog?", "was there a car or a dog", false),
            ("", "", false),
        ];
        for (question, due, denies) in table {
            let Plain { words, denies: found } = plain(question);
            assert_eq!((words.join(" ").as_str(), found), (due, denies), "{question:?}");
        }
    }

    #[test]
    fn several_are_told_as_several() {
        for (thing, due) in [
            ("two dogs", true),
            ("at least three people", true),
            ("several cars", true),
            ("one car", false),
            ("a dog", false),
            ("a dog or a cat", false),
        ] {
            assert_eq!(is_plural(thing), due, "{thing}");
        }
        let verbs =
            [("leave", "leaves"), ("pass", "passes"), ("left", "left"), ("barked", "barked"), ("come", "comes")];
        for (verb, due) in verbs {
            assert_eq!(told(verb, false), due);
        }
        assert_eq!((told("bark", true).as_str(), deed("left"), deed("wear")), ("bark", Some(stem("leaving")), None));
    }
}
