//! Sentences that say that nothing can be said. Pure.

use super::words::words;

/// What such sentences are made of.
const ABOUT_SEEING: [&str; 44] = [
    "nothing",
    "anything",
    "is",
    "are",
    "was",
    "there",
    "it",
    "clear",
    "clearly",
    "enough",
    "to",
    "be",
    "named",
    "seen",
    "see",
    "tell",
    "told",
    "identify",
    "identified",
    "recognised",
    "recognized",
    "make",
    "made",
    "out",
    "visible",
    "distinguishable",
    "in",
    "on",
    "the",
    "this",
    "a",
    "an",
    "too",
    "dark",
    "blurred",
    "blurry",
    "unclear",
    "picture",
    "image",
    "frame",
    "photo",
    "can",
    "cannot",
    "that",
];

/// Whether a sentence only says that nothing can be told of the picture: "Nothing is clear enough to be named." What is
/// not there ("There are no people.") or how the picture is ("The picture is dark.") is something.
pub fn is_silent(sentence: &str) -> bool {
    let said: Vec<String> = words(sentence).map(str::to_lowercase).collect();
    let is_about_seeing = said.iter().all(|word| ABOUT_SEEING.contains(&word.as_str()));
    is_about_seeing && said.iter().any(|word| matches!(word.as_str(), "nothing" | "anything" | "unclear"))
}

/// Whether two sentences say the same in the same words, up to capitals and marks.
pub fn says_the_same(a: &str, b: &str) -> bool {
    let letters = |text: &str| words(text).map(str::to_lowercase).collect::<Vec<_>>();
    letters(a) == letters(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_tells_nothing_is_silent() {
        for sentence in [
            "Nothing is clear enough to be named.",
            "There is nothing.",
            "Nothing can be seen in this picture.",
            "The image is too dark to see anything.",
            "Nothing is visible.",
            "The picture is unclear.",
        ] {
            assert!(is_silent(sentence), "{sentence}");
        }
        for sentence in [
            "",
            "The picture is dark.",
            "No people or vehicles are clearly visible.",
            "There is a dog.",
            "Nothing is on the table.",
            "Nobody is there.",
            "A man sees nothing.",
            "The street is empty.",
        ] {
            assert!(!is_silent(sentence), "{sentence}");
        }
    }

    #[test]
    fn the_same_is_the_same_in_other_capitals() {
        assert!(says_the_same("There is nothing.", "there is nothing"));
        assert!(says_the_same("There is a car.", "There is a car"));
        assert!(!says_the_same("Nothing is clear enough to be named.", "There is nothing."));
        assert!(!says_the_same("There is a car.", "There is a dog."));
    }
}
