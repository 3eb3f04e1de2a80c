//! Whether a caption speaks of a thing. Pure.
//!
//! Sentence by sentence: one that holds a head of the subject, or a member of the kind it names, speaks of it. One that
//! names only a wider kind ("an animal" where a dog was asked for), or leaves it open ("a van or truck"), does not tell.
//! One that denies does not speak of it.

use super::subject::Subject;
use crate::domain::Caption;
use crate::domain::words::{content, is_kind_of, stem, words};

/// What a sentence says about a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::answer) enum Mention {
    /// Nothing.
    No,
    /// Perhaps it, perhaps something else.
    Open,
    /// It speaks of it.
    Yes,
}

/// What a sentence says about a subject.
pub(in crate::answer) fn mention(sentence: &str, heads: &[String]) -> Mention {
    if denies(sentence) {
        return Mention::No;
    }
    let stems: Vec<String> = words(sentence).map(stem).collect();
    let is_it = |word: &String| heads.iter().any(|head| word == head || is_kind_of(word, head));
    let may_be = |word: &String| heads.iter().any(|head| is_kind_of(head, word));
    let mut found = Mention::No;
    for (at, word) in stems.iter().enumerate() {
        let mention = if is_it(word) {
            let other = match (stems.get(at + 1), at.checked_sub(1).and_then(|before| stems.get(before))) {
                (Some(or), _) if or == "or" => stems.get(at + 2),
                (_, Some(or)) if or == "or" => at.checked_sub(2).and_then(|before| stems.get(before)),
                _ => None,
            };
            if other.is_none_or(is_it) { Mention::Yes } else { Mention::Open }
        } else if may_be(word) {
            Mention::Open
        } else {
            Mention::No
        };
        found = found.max(mention);
    }
    found
}

/// Whether a sentence says that something is not there.
pub(in crate::answer) fn denies(sentence: &str) -> bool {
    const DENIALS: [&str; 9] = ["no", "not", "nobody", "none", "without", "never", "nothing", "neither", "empty"];
    words(sentence).any(|word| DENIALS.contains(&word.to_lowercase().as_str()) || word.ends_with("n't"))
}

/// Whether a caption names nothing, so that it tells nothing about what is not named either: "Nothing is clear enough to
/// be named." But "No people are visible." tells.
pub(in crate::answer) fn is_silent(caption: &Caption) -> bool {
    const ABOUT_THE_PICTURE: [&str; 9] =
        ["nothing", "clear", "enough", "named", "dark", "blurred", "blurry", "picture", "unclear"];
    let stems = content(caption.as_str());
    stems.iter().all(|word| ABOUT_THE_PICTURE.iter().any(|about| stem(about) == *word))
}

/// Whether a captioner that only ever names the `vocabulary` can name a head of the subject, one of its members, or what
/// it is a member of. `None` may name everything. A kind of which it names members too ("an animal" where it is no dog for
/// certain) is no name for the others: who never says "a rabbit" does not say "an animal" of one.
pub(in crate::answer) fn can_name(subject: &Subject, vocabulary: Option<&[String]>) -> bool {
    let Some(vocabulary) = vocabulary else { return true };
    let stems: Vec<String> = vocabulary.iter().flat_map(|name| content(name)).collect();
    let is_hedge = |known: &String| stems.iter().any(|other| other != known && is_kind_of(other, known));
    let stands_for = |known: &String, head: &String| is_kind_of(head, known) && !is_hedge(known);
    let named =
        |head: &String| stems.iter().any(|known| known == head || is_kind_of(known, head) || stands_for(known, head));
    subject.heads.iter().all(named)
}

#[cfg(test)]
mod tests {
    use super::super::subject;
    use super::*;

    #[test]
    fn sentences_speak_of_things_or_do_not() {
        use Mention::{No, Open, Yes};
        let table = [
            ("Was there a dog?", "There is a dog.", Yes),
            ("Was there a dog?", "There are two dogs and a man.", Yes),
            ("Was there a dog?", "There is an animal.", Open),
            ("Was there a dog?", "There is a cat.", No),
            ("Was there a dog?", "There is no dog.", No),
            ("Was there a vehicle?", "There is a car.", Yes),
            ("Was there a vehicle?", "There is a van or truck.", Yes),
            ("Was there a truck?", "There is a van or truck.", Open),
            ("Was there a truck?", "The van or truck is white.", Open),
            ("Was there a truck or a van?", "There is a van or truck.", Yes),
            ("Was there a bike?", "There is a bicycle or motorcycle.", Open),
            ("Was there a woman?", "There are four people.", Open),
            ("Was anybody there?", "Four people wear black.", Yes),
            ("Was anybody there?", "A woman walks.", Yes),
            ("Was anybody there?", "No people or vehicles are clearly visible.", No),
            ("Is it empty?", "There is a car.", Yes),
            ("Is it empty?", "There is a chair.", No),
            ("Is it empty?", "No people or vehicles are clearly visible.", No),
        ];
        for (question, sentence, due) in table {
            let subject = subject::read(question).expect("a thing");
            assert_eq!(mention(sentence, &subject.heads), due, "{question} {sentence}");
        }
    }

    #[test]
    fn doubt_is_silence_and_denial_is_not() {
        for silent in
            ["", "Nothing is clear enough to be named.", "Nothing is clear enough to be named. The picture is dark."]
        {
            assert!(is_silent(&Caption::new(silent)), "{silent:?}");
        }
        for telling in ["No people or vehicles are clearly visible.", "There is a car.", "The street is dark."] {
            assert!(!is_silent(&Caption::new(telling)), "{telling:?}");
        }
    }

    #[test]
    fn a_vocabulary_limits_what_an_absence_can_be_of() {
        let known: Vec<String> = ["person", "car", "van or truck", "dog", "animal"].map(str::to_owned).to_vec();
        for (question, due) in [
            ("Was there a dog?", true),
            ("Was there a truck?", true),
            ("Was there a vehicle?", true),
            ("Was there a woman?", true),
            ("Was there a wheelbarrow?", false),
            ("Was there an animal?", true),
            ("Was there a rabbit?", false),
            ("Was there a fox?", false),
            ("Was there a dog or a wheelbarrow?", false),
        ] {
            let subject = subject::read(question).expect("a thing");
            assert_eq!(can_name(&subject, Some(&known)), due, "{question}");
            assert!(can_name(&subject, None), "{question}");
        }
    }
}
