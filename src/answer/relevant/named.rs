//! What a question names: the thing it is about, what it tells of it, and what it supposes to be there. Pure.
//!
//! The thing is the first noun phrase behind a determiner. A question without one is about its other words, less those
//! that only ask ("describe", "look"): of "dog" and of "asdf" alike, because what the rules do not know must be named
//! all the more. A place is no thing if it is only where something is asked for: "What can be seen on the street?"

use crate::domain::words::{content, is_kind_of, stem};

/// What a question names.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Stems of the first thing; empty if there is none.
    pub(super) thing: Vec<String>,
    /// The nouns of all things that are supposed to be there.
    pub(super) supposes: Vec<String>,
    /// Where in the picture something is asked for: stems such as "left".
    pub(super) sides: Vec<String>,
    /// Stems of the places where something is asked for.
    pub(super) places: Vec<String>,
}

/// How a question asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// Who does or is what the question tells.
    Who,
    /// Whether it is so.
    Whether,
    /// Anything else.
    Else,
}

/// Words that a noun phrase begins behind.
const DETERMINERS: [&str; 20] = [
    "the", "a", "an", "any", "some", "his", "her", "their", "its", "this", "that", "these", "those", "many", "much",
    "what", "which", "all", "every", "whose",
];
/// Words that a noun phrase ends before, besides verbs in "-ing".
const ENDS: [&str; 45] = [
    "is", "are", "was", "were", "be", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "in",
    "on", "at", "near", "by", "with", "behind", "beside", "under", "over", "from", "to", "of", "who", "and", "or",
    "there", "while", "when", "after", "before", "into", "around", "through", "not", "up", "down", "off", "out",
    "doing",
];
/// Those of them that suppose that there is what follows.
const ARTICLES: [&str; 9] = ["the", "a", "an", "any", "some", "his", "her", "their", "its"];
/// What is asked of a thing, and no thing itself.
const ATTRIBUTES: [&str; 18] = [
    "colour",
    "number",
    "place",
    "kind",
    "type",
    "sort",
    "time",
    "times",
    "way",
    "reason",
    "shape",
    "size",
    "count",
    "video",
    "clip",
    "end",
    "beginning",
    "position",
];
/// Words that only ask.
#[rustfmt::skip]
const GENERIC: [&str; 64] = [
    "describe", "description", "summary", "summarise", "summarize", "overview", "give", "list", "explain", "report",
    "mention", "say", "look", "watch", "view", "notice", "observe", "find", "search", "spot", "identify", "name", "let",
    "know", "want", "ask", "answer", "question", "go", "goes", "going", "take", "occur", "appear", "exist", "detect", "capture",
    "record", "recording", "shown", "present", "thing", "stuff", "event", "activity", "action", "situation", "detail",
    "brief", "briefly", "short", "content", "contain", "main", "whole", "entire", "everything", "footage", "stream",
    "film", "movie", "currently", "kindly", "exactly",
];
/// Words that say where something is, besides the kinds of places.
pub(super) const PLACES: [&str; 22] = [
    "in", "on", "at", "near", "by", "behind", "beside", "under", "over", "inside", "outside", "between", "above",
    "below", "next", "front", "side", "corner", "top", "bottom", "here", "there's",
];
/// What a place where one looks is said behind.
const WHERE: [&str; 7] = ["in", "on", "at", "inside", "within", "along", "across"];
/// Places that a camera looks at.
#[rustfmt::skip]
const SCENES: [&str; 40] = [
    "street", "road", "lane", "pavement", "sidewalk", "crossing", "intersection", "square", "plaza", "lot", "park",
    "yard", "garden", "field", "lawn", "beach", "forest", "room", "kitchen", "hall", "hallway", "corridor", "office",
    "shop", "store", "lobby", "entrance", "station", "platform", "garage", "warehouse", "house", "building", "stage",
    "area", "outdoors", "foyer", "court", "pitch", "courtyard",
];
/// Verbs that a question about whether something is so begins with.
const WHETHER: [&str; 18] = [
    "is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should",
    "shall", "may", "might",
];

/// How a question asks; all words in lower case.
pub(super) fn asks(all: &[String]) -> Asks {
    match all.first().map(String::as_str) {
        Some("who" | "whom" | "whose") => Asks::Who,
        Some(first) if WHETHER.contains(&first) => Asks::Whether,
        _ => Asks::Else,
    }
}

/// Reads what a question names behind determiners; all words in lower case.
pub(super) fn named(all: &[String], asks: Asks) -> Named {
    let mut named = Named::default();
    if asks == Asks::Who {
        named = Named { thing: vec![stem("person")], supposes: vec!["person".to_owned()], ..named };
    }
    for (at, word) in all.iter().enumerate().filter(|(_, word)| DETERMINERS.contains(&word.as_str())) {
        let phrase = phrase(all, at, asks);
        let stems: Vec<String> =
            phrase.iter().flat_map(|word| content(word)).filter(|stem| !is_generic(stem)).collect();
        // Of "which car drives" nobody knows here where the noun ends.
        let is_open = phrase.len() > 1 && matches!(word.as_str(), "what" | "which");
        let noun = phrase.last().filter(|_| !is_open).map(|word| (*word).clone());
        let only_where = is_where(all, at, asks, noun.as_deref());
        let supposed = noun.filter(|noun| is_thing(noun, asks));
        let is_first = !only_where && named.thing.is_empty() && !stems.is_empty();
        if only_where || is_first || ARTICLES.contains(&word.as_str()) {
            named.supposes.extend(supposed.filter(|noun| !named.supposes.contains(noun)));
        }
        if is_first {
            named.thing = stems;
        } else if only_where && asks != Asks::Whether {
            // Whether something is on the left is asked of the left; what is on the left is not.
            named.sides.extend(stems.iter().filter(|stem| is_of(stem, "place")).cloned());
            named.places.extend(stems);
        }
    }
    let is_list = asks == Asks::Whether && all.get(1).is_some_and(|word| word == "there");
    if is_list {
        // "Was there a car and a dog?", "Were there cars and dogs?" ask about both.
        let is_supposed = |noun: &&String| is_thing(noun, asks) && !is_attribute(noun);
        let nouns: Vec<&String> = all[2..].iter().filter(is_supposed).collect();
        if named.supposes.is_empty() {
            named.supposes = nouns.into_iter().cloned().collect();
        }
        let others: Vec<String> = named.supposes.iter().map(|noun| stem(noun)).collect();
        named.thing.extend(others.into_iter().filter(|noun| !named.thing.contains(noun)).collect::<Vec<_>>());
    }
    named
}

/// What a question without a noun phrase is about: its other words; of "Are people wearing hats?" the first.
pub(super) fn bare(all: &[String], asks: Asks, places: &[String]) -> Vec<String> {
    let stems = all.iter().filter(|word| !is_attribute(word)).flat_map(|word| content(word));
    let mut bare: Vec<String> = stems.filter(|stem| !is_generic(stem) && !places.contains(stem)).collect();
    if asks == Asks::Whether {
        bare.truncate(1);
    } else if !bare.is_empty() {
        bare.extend(places.iter().cloned());
    }
    bare
}

/// The words of the noun phrase behind the determiner at `at`.
fn phrase(all: &[String], at: usize, asks: Asks) -> Vec<&String> {
    let phrase = all[at + 1..].iter().take_while(|word| !ends(word));
    let mut phrase: Vec<&String> = phrase.filter(|word| !is_attribute(word)).collect();
    let verb = at.checked_sub(1).map(|before| all[before].as_str()).unwrap_or_default();
    let next = all.get(at + 1 + phrase.len()).map(String::as_str);
    // "does the airplane land": what ends the phrase is the verb.
    let asks_doing = matches!(verb, "do" | "does" | "did") && !matches!(next, Some("do" | "does"));
    // "is the car red", "is the car parked there", "has the bus left".
    let is_first = asks == Asks::Whether && at == 1;
    let says_how =
        is_first && (matches!(next, None | Some("or" | "and")) || phrase.last().is_some_and(|last| is_done(last)));
    if (asks_doing || says_how) && phrase.len() > 1 {
        phrase.pop();
    }
    phrase
}

fn is_done(word: &str) -> bool {
    word.ends_with("ed") && word.len() > 4
}

/// Whether the noun behind the determiner at `at` only says where: any place of "Who is in the car?", one that a camera
/// looks at of "What is on the street?".
fn is_where(all: &[String], at: usize, asks: Asks, noun: Option<&str>) -> bool {
    let behind = at.checked_sub(1).is_some_and(|before| WHERE.contains(&all[before].as_str()));
    let is_place = |noun: &str| {
        let is_scene = SCENES.iter().any(|scene| stem(scene) == stem(noun));
        is_scene || is_of(&stem(noun), "place") || PLACES.contains(&noun) || content(noun).is_empty()
    };
    behind && noun.is_some_and(|noun| asks == Asks::Who || is_place(noun))
}

/// The noun of a clause such as "the man sits down": behind its article, and before its verb.
pub(super) fn actor(all: &[String]) -> Option<String> {
    const PAST: [&str; 24] = [
        "went", "came", "ran", "sat", "stood", "fell", "drove", "rode", "took", "threw", "got", "began", "ate", "lay",
        "held", "hit", "put", "flew", "gave", "made", "shook", "wore", "won", "lost",
    ];
    let at = all.iter().position(|word| ARTICLES.contains(&word.as_str()))?;
    let phrase: Vec<&String> = all[at + 1..].iter().take_while(|word| !ends(word)).collect();
    let verb_follows = all
        .get(at + 1 + phrase.len())
        .is_some_and(|next| matches!(next.as_str(), "is" | "are" | "was" | "were" | "has" | "have" | "had"));
    let nouns: Vec<&String> = phrase.iter().copied().filter(|word| is_thing(word, Asks::Else)).collect();
    let is_verb = |word: &&String| {
        PAST.contains(&word.as_str()) || is_done(word) || (word.ends_with('s') && !word.ends_with("ss"))
    };
    let verb = nouns.iter().skip(1).position(is_verb).map(|place| place + 1);
    // "the cars stop": the last word is the verb, unless it was left out as "left" is, or follows.
    let is_last = phrase.last() == nouns.last() && !verb_follows && nouns.len() > 1;
    let end = verb.unwrap_or(nouns.len() - usize::from(is_last));
    nouns[..end].last().map(|noun| (*noun).clone())
}

fn is_attribute(word: &str) -> bool {
    ATTRIBUTES.iter().any(|attribute| stem(attribute) == stem(word))
}

/// Whether a word only asks.
pub(super) fn is_generic(word: &str) -> bool {
    let word = stem(word);
    GENERIC.iter().any(|generic| stem(generic) == word)
}

/// Whether a stem is of a kind of words: "colour", "number", "place".
pub(super) fn is_of(word: &str, kind: &str) -> bool {
    is_kind_of(word, &stem(kind))
}

/// Whether a noun may be something that one sees, and no place, colour or number.
fn is_thing(noun: &str, asks: Asks) -> bool {
    let of_kind = |kind: &str| is_of(&stem(noun), kind);
    // "Who is the tallest?"
    let is_most = asks == Asks::Who && noun.ends_with("est") && noun.len() > 5;
    let is_place = PLACES.contains(&noun);
    !["place", "colour", "number"].into_iter().any(of_kind)
        && !is_place
        && !is_most
        && !is_generic(noun)
        && !content(noun).is_empty()
}

fn ends(word: &str) -> bool {
    ENDS.contains(&word) || DETERMINERS.contains(&word) || (word.ends_with("ing") && word.len() > 5)
}
