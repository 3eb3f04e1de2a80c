//! Words as drafting, searching and counting compare them: lower case, lightly stemmed, numbers as digits, function words left out.
//!
//! Pure functions on text. English only, as the captioners and the language model are.

/// Words that carry no content of their own.
const FUNCTION_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "below",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "down",
    "during",
    "each",
    "ever",
    "few",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "her",
    "here",
    "hers",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "like",
    "many",
    "may",
    "me",
    "more",
    "most",
    "much",
    "my",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "please",
    "see",
    "seen",
    "shall",
    "she",
    "should",
    "show",
    "so",
    "some",
    "such",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "us",
    "very",
    "video",
    "visible",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "clearly",
    "anything",
    "something",
    "happen",
    "happens",
    "happening",
    "happened",
    "frame",
    "picture",
    "image",
    "camera",
    "scene",
];

/// Irregular plurals, spellings, and words for the same thing in front of a camera.
const SAME: &[(&str, &str)] = &[
    ("people", "person"),
    ("persons", "person"),
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("kids", "child"),
    ("kid", "child"),
    ("someone", "person"),
    ("somebody", "person"),
    ("anyone", "person"),
    ("anybody", "person"),
    ("pedestrian", "person"),
    ("pedestrians", "person"),
    ("mice", "mouse"),
    ("feet", "foot"),
    ("buses", "bus"),
    ("bike", "bicycle"),
    ("bikes", "bicycle"),
    ("motorbike", "motorcycle"),
    ("motorbikes", "motorcycle"),
    ("automobile", "car"),
    ("lorry", "truck"),
    ("lorries", "truck"),
    ("color", "colour"),
    ("colors", "colour"),
    ("colours", "colour"),
    ("coloured", "colour"),
    ("grey", "gray"),
    ("center", "centre"),
    ("middle", "centre"),
    ("wearing", "wear"),
    ("wears", "wear"),
    ("wore", "wear"),
    ("dressed", "wear"),
    ("clothes", "wear"),
    ("clothing", "wear"),
    ("holding", "hold"),
    ("held", "hold"),
    ("sat", "sit"),
    ("stood", "stand"),
    ("ran", "run"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
];

/// What belongs to a wider word, however wide: a question about vehicles is answered by sentences about cars, and one
/// about people by sentences about cyclists. What may ground a claim is `answer::said`'s.
#[rustfmt::skip]
const KINDS: &[(&str, &[&str])] = &[
    (
        "vehicle",
        &[
            "car", "truck", "bus", "van", "motorcycle", "train", "taxi", "cab", "suv", "sedan", "jeep", "hatchback",
            "minivan", "pickup", "scooter", "tram", "ambulance", "tractor",
        ],
    ),
    ("car", &["taxi", "cab", "suv", "sedan", "jeep", "hatchback"]),
    (
        "animal",
        &[
            "dog", "cat", "bird", "horse", "sheep", "cow", "bear", "elephant", "zebra", "giraffe", "rabbit", "puppy",
            "kitten", "goat", "pig", "duck", "chicken", "deer", "fox", "squirrel", "monkey", "lion", "tiger", "pigeon",
            "seagull", "crow", "goose", "swan", "parrot", "pony", "calf", "lamb",
        ],
    ),
    ("dog", &["puppy"]),
    ("cat", &["kitten"]),
    ("bird", &["duck", "chicken", "pigeon", "seagull", "crow", "goose", "swan", "parrot"]),
    (
        "person",
        &[
            "man", "woman", "child", "boy", "girl", "baby", "lady", "adult", "teenager", "toddler", "infant", "guy",
            "gentleman", "cyclist", "biker", "rider", "motorcyclist", "driver", "passenger", "worker", "player", "runner",
            "jogger", "walker", "skater", "swimmer", "dancer", "singer", "musician", "officer", "policeman", "policewoman",
            "guard", "customer", "visitor", "student", "teacher", "crowd",
        ],
    ),
    ("man", &["guy", "gentleman", "policeman"]),
    ("woman", &["lady", "policewoman"]),
    ("child", &["boy", "girl", "baby", "toddler", "infant"]),
    ("colour", &["black", "white", "red", "blue", "green", "yellow", "brown", "orange", "purple", "pink", "gray"]),
    ("place", &["left", "right", "centre", "foreground", "background"]),
    ("number", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]),
];

/// The word runs of `text`, as written: letters, digits, apostrophes and hyphens inside.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| !(c.is_alphanumeric() || c == '\'' || c == '’' || c == '-');
    text.split(part).map(|word| word.trim_matches(['\'', '’', '-'])).filter(|word| !word.is_empty())
}

/// The stem that the spellings of a word share, lower case.
pub fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    let lower = lower.trim_end_matches("'s").trim_end_matches("’s");
    let same = |word: &str| SAME.iter().find(|(from, _)| *from == word).map(|(_, to)| (*to).to_owned());
    let stem = same(lower).unwrap_or_else(|| {
        let stem = strip(lower);
        same(&stem).unwrap_or(stem)
    });
    // "ride" and "rid" (of riding) meet without the e.
    stem.strip_suffix('e').filter(|short| short.len() > 2).map_or(stem.clone(), str::to_owned)
}

fn strip(word: &str) -> String {
    let long = |stem: &str, least: usize| stem.chars().count() >= least && stem.is_ascii();
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| long(stem, 2)) {
        return format!("{stem}y");
    }
    for end in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(end) {
            return word[..word.len() - 2].to_owned();
        }
    }
    if let Some(stem) = word.strip_suffix('s').filter(|stem| long(stem, 2) && !stem.ends_with(['s', 'u', 'i'])) {
        return stem.to_owned();
    }
    for end in ["ing", "ed"] {
        if let Some(stem) =
            word.strip_suffix(end).filter(|stem| long(stem, 3) && stem.contains(['a', 'e', 'i', 'o', 'u']))
        {
            return undouble(stem);
        }
    }
    word.to_owned()
}

/// `runn` to `run`, `stopp` to `stop`; `fall` stays.
fn undouble(stem: &str) -> String {
    let mut back = stem.bytes().rev();
    let doubled = back.next() == back.next();
    let end = if doubled && !stem.ends_with(['l', 's', 'z', 'e', 'o']) { stem.len() - 1 } else { stem.len() };
    stem[..end].to_owned()
}

/// Whether a word carries no content.
pub fn is_function(word: &str) -> bool {
    FUNCTION_WORDS.contains(&word)
}

/// The stems of the content words of `text`, in order, each once.
pub fn content(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = Vec::new();
    for word in words(text) {
        let stem = stem(word);
        if !is_function(&word.to_lowercase()) && !is_function(&stem) && !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems
}

/// Whether `stem` is of the kind that the stem `wider` names.
pub fn is_kind_of(stem: &str, wider: &str) -> bool {
    let kind = KINDS.iter().find(|(kind, _)| self::stem(kind) == wider);
    kind.is_some_and(|(_, members)| members.iter().any(|member| self::stem(member) == stem))
}

/// What makes two claims the same: the stems of all their words.
pub fn identity(text: &str) -> Vec<String> {
    words(text).map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_meet() {
        for (a, b) in [
            ("people", "person"),
            ("cars", "car"),
            ("Car's", "car"),
            ("buses", "bus"),
            ("riding", "ride"),
            ("horses", "horse"),
            ("running", "run"),
            ("runs", "run"),
            ("wearing", "wears"),
            ("two", "2"),
            ("grey", "gray"),
            ("boxes", "box"),
            ("ladies", "lady"),
            ("stopped", "stops"),
            ("falls", "falling"),
            ("watches", "watch"),
            ("bikes", "bicycle"),
            ("Colors", "colour"),
            ("middle", "center"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} and {b}");
        }
        for (a, b) in [("bus", "bu"), ("glass", "glas"), ("this", "thi"), ("red", "r"), ("left", "right")] {
            assert_ne!(stem(a), stem(b), "{a} and {b}");
        }
    }

    #[test]
    fn content_words_only() {
        assert_eq!(content("How many people are there in the video?"), ["person"]);
        assert_eq!(content("What colour is the car on the left?"), ["colour", "car", "left"]);
        assert_eq!(content("What do you see?"), Vec::<String>::new());
        assert_eq!(content("日本 — “Straße” 3.5 m"), ["日本", "straß", "3", "5", "m"]);
    }

    #[test]
    fn kinds_have_members() {
        assert!(
            is_kind_of("truck", &stem("vehicles"))
                && is_kind_of("red", "colour")
                && is_kind_of(&stem("horse"), "animal")
                && !is_kind_of("car", "animal")
                && is_kind_of(&stem("boys"), &stem("children"))
                && is_kind_of(&stem("players"), &stem("people"))
                && !is_kind_of(&stem("man"), &stem("child"))
        );
    }

    #[test]
    fn members_of_a_kind_are_members_of_what_it_is_a_kind_of() {
        for (kind, members) in KINDS {
            let wider = KINDS.iter().filter(|(_, members)| members.contains(kind));
            for (wider, all) in wider {
                let left: Vec<_> = members.iter().filter(|member| !all.contains(member)).collect();
                assert!(left.is_empty(), "{left:?} are of the kind {kind} and not of the kind {wider}");
            }
        }
    }

    #[test]
    fn odd_text_is_harmless() {
        for text in ["", "'", "--", "ß's", "s", "ing", "ed", "ies", "ʼn", "\0\u{fffd}", "ééés", "日s"] {
            let _ = (content(text), identity(text));
        }
    }
}
