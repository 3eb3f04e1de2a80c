//! Whether a claim is about what a question asks for. Pure.
//!
//! A verdict says whether a claim holds, not whether it answers: "The car is blue." may be proven, and says nothing about
//! the colour of the dog. Here the things that a question names are compared with those that a claim names. Only the
//! first thing decides, because it is what the question is about; the others say where or how.

use crate::domain::words::{content, is_kind_of, stem, words};

/// From this cosine similarity on, a claim in other words is about the question.
const SAME: f32 = 0.7;

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Focus {
    /// Stems of the first thing it names; empty if it names none ("What happens?"), and then every claim is about it.
    thing: Vec<String>,
    /// The same in words, to tell that there was none.
    pub(super) noun: Option<String>,
}

/// Words that a noun phrase begins behind.
const DETERMINERS: [&str; 20] = [
    "the", "a", "an", "any", "some", "his", "her", "their", "its", "this", "that", "these", "those", "many", "much",
    "what", "which", "all", "every", "whose",
];
/// Words that a noun phrase ends before, besides verbs in "-ing".
const ENDS: [&str; 40] = [
    "is", "are", "was", "were", "be", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "in",
    "on", "at", "near", "by", "with", "behind", "beside", "under", "over", "from", "to", "of", "who", "and", "or",
    "there", "while", "when", "after", "before", "into", "around", "through", "not",
];
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

/// Reads what a question is about; `topic` is the question without its time phrases.
pub(super) fn focus(topic: &str) -> Focus {
    let all: Vec<String> = words(topic).map(str::to_lowercase).collect();
    if all.first().is_some_and(|word| matches!(word.as_str(), "who" | "whom" | "whose")) {
        return Focus { thing: vec![stem("person")], noun: Some("person".to_owned()) };
    }
    let attributes: Vec<String> = ATTRIBUTES.iter().map(|word| stem(word)).collect();
    for (at, word) in all.iter().enumerate() {
        if !DETERMINERS.contains(&word.as_str()) {
            continue;
        }
        let phrase = all[at + 1..].iter().take_while(|word| !ends(word));
        let phrase: Vec<&String> = phrase.filter(|word| !attributes.contains(&stem(word))).collect();
        let thing: Vec<String> = phrase.iter().flat_map(|word| content(word)).collect();
        if !thing.is_empty() {
            return Focus { thing, noun: phrase.last().map(|word| (*word).clone()) };
        }
    }
    Focus { thing: Vec::new(), noun: None }
}

fn ends(word: &str) -> bool {
    ENDS.contains(&word) || DETERMINERS.contains(&word) || (word.ends_with("ing") && word.len() > 5)
}

impl Focus {
    /// Whether a claim is about it. `similarity` is the cosine between question and claim.
    pub(super) fn holds(&self, claim: &str, similarity: f32) -> bool {
        let said: Vec<String> = words(claim).map(stem).collect();
        let same = |thing: &String, said: &String| thing == said || is_kind_of(said, thing) || is_kind_of(thing, said);
        let named = self.thing.iter().any(|thing| said.iter().any(|word| same(thing, word)));
        self.thing.is_empty() || named || similarity >= SAME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_about_the_question_or_beside_the_point() {
        let table = [
            ("What colour is the dog?", "The car is blue.", false),
            ("What colour is the dog?", "The dog is brown.", true),
            ("What colour is the dog?", "There is an animal.", true),
            ("Why is the dog chasing the ball?", "There are five people.", false),
            ("Why is the dog chasing the ball?", "A man holds a ball.", false),
            ("Where is the car?", "The car is on the left.", true),
            ("Where is the red car?", "A car is on the left.", true),
            ("How many people are there?", "There are about five people.", true),
            ("How many people are there?", "The van is white.", false),
            ("What are the people wearing?", "Four people wear black.", true),
            ("What vehicles can be seen on the street?", "There is a car.", true),
            ("What vehicles can be seen on the street?", "There are four people.", false),
            ("Who is there?", "A woman stands.", true),
            ("Who is there?", "There is a car.", false),
            ("What does the man do?", "There is a person.", true),
            ("What happens?", "There is a car.", true),
            ("What is there?", "There is a car.", true),
            ("What do you see?", "There is a car.", true),
            ("", "There is a car.", true),
        ];
        for (question, claim, due) in table {
            assert_eq!(focus(question).holds(claim, 0.3), due, "{question} {claim}");
        }
        assert!(focus("What colour is the dog?").holds("The puppy is brown.", 0.75), "other words for the same");
        assert_eq!(focus("What colour is the dog?").noun.as_deref(), Some("dog"));
    }
}
