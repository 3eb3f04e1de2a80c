//! From what the language model wrote to claims that deserve checking: pure functions.
//!
//! Cut-off text yields its complete claims. A claim stays if it is a whole sentence that shortens one sentence of a
//! retrieved caption: a model of 135 M parameters that goes beyond that is making things up. It cites the moment it
//! names if that one's caption says so, otherwise the best-retrieved one whose caption does. What is said twice counts
//! once.

use serde::Deserialize;

use crate::domain::words::{content, identity, stem, words};

/// A claim as drafted: which caption, and what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drafted {
    /// Index of the cited caption.
    pub(super) caption: usize,
    /// One sentence.
    pub(super) text: String,
}

#[derive(Deserialize)]
struct Item {
    timestamp: String,
    claim: String,
}

/// The complete items of a JSON array that may break off anywhere.
pub(super) fn parse(text: &str) -> Vec<Drafted> {
    let complete = text.rfind('}').map_or(String::new(), |end| format!("{}]", &text[..=end]));
    let items: Vec<Item> = serde_json::from_str(&complete).unwrap_or_default();
    let drafted = |Item { timestamp, claim }| {
        let caption = timestamp.strip_prefix('t')?.parse().ok()?;
        Some(Drafted { caption, text: claim })
    };
    items.into_iter().filter_map(drafted).collect()
}

/// Whether the last claim says again what an earlier one says.
pub(super) fn repeats(claims: &[Drafted]) -> bool {
    let Some((last, earlier)) = claims.split_last() else { return false };
    earlier.iter().any(|claim| identity(&claim.text) == identity(&last.text))
}

/// The claims worth checking, in order, at most `limit`, each on a caption that says so.
pub(super) fn keep(claims: Vec<Drafted>, captions: &[Vec<&str>], limit: usize) -> Vec<Drafted> {
    let mut kept: Vec<Drafted> = Vec::new();
    for claim in claims {
        let known = kept.iter().any(|other| identity(&other.text) == identity(&claim.text));
        if kept.len() < limit && !known && is_sentence(&claim.text) {
            kept.extend(cite(claim, captions));
        }
    }
    kept
}

/// The claim on the caption it names or on the first other one that says the same.
fn cite(claim: Drafted, captions: &[Vec<&str>]) -> Option<Drafted> {
    let says = |caption: &usize| captions[*caption].iter().any(|sentence| shortens(&claim.text, sentence));
    let named = Some(claim.caption).filter(|caption| *caption < captions.len()).filter(says);
    let caption = named.or_else(|| (0..captions.len()).find(says))?;
    Some(Drafted { caption, ..claim })
}

/// Whether all content words of `claim`, and there are some, stand in `sentence` in the same order.
fn shortens(claim: &str, sentence: &str) -> bool {
    let mut source = content(sentence).into_iter();
    let says = content(claim);
    !says.is_empty() && says.iter().all(|word| source.any(|own| own == *word))
}

/// Verbs that make a sentence of a list of words, as stems of what they look like.
const VERBS: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "wear", "stand", "sit", "walk", "run", "hold", "look", "ride", "drive",
    "play", "talk", "carry", "lie", "eat", "drink", "jump", "dance", "move", "go", "come", "stop", "turn", "open",
    "close", "wave", "smile", "push", "pull", "pick", "put", "take", "give", "show", "appear", "leave", "enter",
    "fall",
];

/// Whether there is a verb and the end is not a loose one.
fn is_sentence(text: &str) -> bool {
    let all: Vec<String> = words(text).map(str::to_lowercase).collect();
    let verb = |word: &String| VERBS.contains(&word.as_str()) || VERBS.iter().any(|verb| stem(verb) == stem(word));
    let loose = |word: &String| LOOSE_ENDS.contains(&word.as_str());
    all.len() >= 3 && all.iter().any(verb) && !all.last().is_some_and(loose)
}

/// Words that no sentence ends with.
const LOOSE_ENDS: &[&str] = &[
    "a", "an", "the", "and", "or", "of", "in", "at", "to", "with", "by", "from", "into", "who", "that", "is", "are",
    "was", "were", "has", "have", "their", "its", "his", "while", "as", "about", "near", "behind", "beside", "wears",
    "wear", "one", "some", "another", "being", "also", "very", "no",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn drafted(caption: usize, text: &str) -> Drafted {
        Drafted { caption, text: text.to_owned() }
    }

    #[test]
    fn complete_items_survive_a_break_anywhere() {
        let whole = r#"[{"timestamp": "t0", "claim": "A."}, {"timestamp": "t1", "claim": "B."}]"#;
        let second = whole.rfind('}').expect("two items");
        let first = whole.find('}').expect("one item");
        for at in 0..=whole.len() {
            let expected = usize::from(at > first) + usize::from(at > second);
            assert_eq!(parse(&whole[..at]).len(), expected, "{}", &whole[..at]);
        }
    }

    #[test]
    fn what_is_no_label_is_dropped() {
        for label in ["t-1", "t", "x0", "t99999999999999999999", ""] {
            let text = format!(r#"[{{"timestamp": "{label}", "claim": "A dog runs."}}]"#);
            assert_eq!(parse(&text), [], "{label}");
        }
    }

    #[test]
    fn only_claims_worth_checking_are_kept() {
        let captions =
            [vec!["There is a cat."], vec!["There are two people and a red car.", "The car is on the left."]];
        for (claim, kept) in [
            ("There are two people.", true),
            ("The car is on the left.", true),
            ("There is a red car.", true),
            ("The people are red.", true),
            ("A car and two people are there.", false),
            ("The red car is on the left.", false),
            ("A red car.", false),
            ("There are three people.", false),
            ("The dog is asleep.", false),
            ("The car is on the.", false),
            ("The car is on the left and.", false),
            ("There are about.", false),
        ] {
            let expected = if kept { vec![drafted(1, claim)] } else { vec![] };
            for named in [0, 1, 7] {
                assert_eq!(keep(vec![drafted(named, claim)], &captions, 9), expected, "{claim}");
            }
        }
    }

    #[test]
    fn what_is_said_twice_counts_once() {
        let captions = [vec!["There is a car."], vec!["There is a car."]];
        let claims = vec![drafted(0, "There is a car."), drafted(1, "there is a car")];
        assert!(repeats(&claims) && !repeats(&claims[..1]) && !repeats(&[]));
        assert_eq!(keep(claims[1..].to_vec(), &captions, 9), claims[1..]);
        assert_eq!(keep(claims.clone(), &captions, 9), claims[..1]);
        assert_eq!(keep(claims, &captions, 0), []);
    }
}
