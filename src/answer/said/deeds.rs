//! What is done, where a sentence tells only what is there. Pure.
//!
//! "There is a car." says nothing of what the car does, yet an entailment model takes "A car arrives." for it: presence is
//! the gist of both. A sentence that only tells what is there, where, or in what ([`is_still`]) therefore grounds no claim
//! of a deed. What a sentence with a verb of its own entails stays the judge's.

use crate::domain::words::stem;

/// Verbs of deeds and postures, in the present; those that are as often nouns ("park", "watch") are left out.
#[rustfmt::skip]
const DEEDS: [&str; 112] = [
    "arrive", "come", "enter", "approach", "emerge", "return", "leave", "depart", "exit", "vanish", "disappear", "move",
    "go", "get", "run", "jog", "sprint", "rush", "hurry", "walk", "stroll", "wander", "march", "step", "drive", "ride",
    "cycle", "travel", "roll", "speed", "slow", "pass", "cross", "overtake", "reverse", "turn", "stop", "start", "halt",
    "fly", "land", "swim", "dive", "float", "sail", "fall", "trip", "slip", "stumble", "crash", "collide", "hit", "jump",
    "hop", "leap", "climb", "crawl", "dance", "skate", "ski", "surf", "stand", "sit", "lie", "kneel", "lean", "bend",
    "sleep", "rest", "wait", "gather", "meet", "queue", "talk", "speak", "sing", "shout", "laugh", "smile", "cry", "wave",
    "point", "look", "stare", "read", "write", "eat", "drink", "cook", "work", "play", "fight", "hug", "kiss", "push",
    "pull", "carry", "hold", "throw", "catch", "kick", "lift", "drop", "pick", "put", "give", "take", "open", "close",
    "chase", "follow", "bark",
];
/// Their past, where that is another word. "Left" is a side here.
const PAST: [&str; 18] = [
    "came", "went", "got", "drove", "rode", "flew", "swam", "fell", "lay", "slept", "met", "spoke", "sang", "ate",
    "drank", "threw", "gave", "took",
];
/// Phrases that tell a deed without a verb of it.
const PHRASES: [[&str; 2]; 2] = [["in", "motion"], ["shows", "up"]];
/// Verbs that only tell what is there, and how it looks.
const STILL: [&str; 11] = ["is", "are", "was", "were", "has", "have", "had", "wear", "wears", "wore", "wearing"];
/// End like a verb, and are none.
const NOUNS: [&str; 16] = [
    "building",
    "clothing",
    "ceiling",
    "crossing",
    "morning",
    "evening",
    "something",
    "anything",
    "nothing",
    "everything",
    "painting",
    "railing",
    "string",
    "ring",
    "wing",
    "king",
];

/// The first deed that a claim states of which a still sentence says nothing.
pub(super) fn undone(said: &[String], stated: &[String]) -> Option<String> {
    if !is_still(said) {
        return None;
    }
    let is_said = |word: &String| said.iter().any(|other| stem(other) == stem(word));
    let deed = stated.iter().find(|word| is_deed(word) && !is_said(word));
    deed.cloned().or_else(|| has_phrase(stated).then(|| "motion".to_owned()))
}

/// Whether a sentence tells only what is there, where it is, and what it has on.
pub(in crate::answer) fn is_still(said: &[String]) -> bool {
    said.iter().any(|word| STILL.contains(&word.as_str()))
        && !said.iter().any(|word| is_deed(word))
        && !has_phrase(said)
}

pub(in crate::answer) fn is_deed(word: &str) -> bool {
    let is_participle = word.len() > 4 && word.ends_with("ing") && !NOUNS.contains(&word);
    let is_known = || PAST.contains(&word) || DEEDS.iter().any(|deed| stem(deed) == stem(word));
    !STILL.contains(&word) && (is_participle || is_known())
}

fn has_phrase(words: &[String]) -> bool {
    words.windows(2).any(|pair| PHRASES.iter().any(|[first, second]| pair[0] == *first && pair[1] == *second))
}

#[cfg(test)]
mod tests {
    use super::super::tokens;
    use super::*;

    #[test]
    fn a_still_sentence_says_nothing_of_deeds() {
        let table = [
            ("There is a car.", "A car arrives.", Some("arrives")),
            ("There is a car.", "A car has arrived.", Some("arrived")),
            ("There is a car.", "A car comes into view.", Some("comes")),
            ("There is a car.", "A car came.", Some("came")),
            ("There is a car.", "A car is in motion.", Some("motion")),
            ("There is a car.", "A car shows up.", Some("motion")),
            ("There is a car.", "The car is moving.", Some("moving")),
            ("The car is on the right.", "The car is honking.", Some("honking")),
            ("There are about five people.", "People gather.", Some("gather")),
            ("There are about five people.", "People are standing.", Some("standing")),
            ("Four people wear black.", "People in black walk.", Some("walk")),
            // What is there, where and in what may still be said in other words.
            ("There is a car.", "A car is visible.", None),
            ("There is a car.", "A car can be seen.", None),
            ("One person wears black.", "A person is wearing black.", None),
            ("The car is on the left.", "A car is on the left.", None),
            ("There is a building.", "There is a building.", None),
            ("A person has a bag.", "There is a person.", None),
            // A sentence with a verb of its own is for the judge.
            ("A car drives past.", "A car is moving.", None),
            ("A man is strolling.", "A man walks.", None),
            ("A car stands there and is red.", "A car waits.", None),
            ("There is a bus stop.", "The bus stop is there.", None),
            ("A boy.", "A boy runs.", None),
            ("", "A boy runs.", None),
        ];
        for (sentence, claim, due) in table {
            assert_eq!(undone(&tokens(sentence), &tokens(claim)).as_deref(), due, "{sentence:?} => {claim:?}");
        }
    }

    #[test]
    fn every_deed_is_one_word_in_the_present() {
        for deed in DEEDS {
            assert!(is_deed(deed) && !PAST.contains(&deed), "{deed}");
            assert_eq!(DEEDS.iter().filter(|other| **other == deed).count(), 1, "{deed} is listed twice");
        }
    }
}
