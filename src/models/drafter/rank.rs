//! Which sentences of the retrieved captions answer a question: a pure function from texts to an order.
//!
//! Weighs shared content words (rare ones more), what kind of word the question asks for (a number, a colour, a
//! place, an animal …), how well the moment was retrieved, and whether the sentence stands on its own.

use std::collections::HashMap;

use crate::domain::words::{content, identity, is_kind_of, stem, words};

/// A sentence longer than this is a paragraph: nobody can judge it against one frame.
const MAX_SENTENCE: usize = 240;
/// A sentence counts as an answer from this share of the best one's weight on.
const RELEVANT: f32 = 0.45;
/// What a sentence gains for naming what the question asks for.
const ASKED: f32 = 0.8;
/// What the best-retrieved moment gains over one infinitely far down.
const RETRIEVED: f32 = 0.3;

/// A sentence chosen as an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    /// Which caption, in the order given.
    pub(super) caption: usize,
    /// A full sentence with its end mark.
    pub(super) sentence: String,
}

struct Candidate {
    ranked: Ranked,
    stems: Vec<String>,
    identity: Vec<String>,
    order: usize,
}

/// The best `limit` distinct sentences of `captions` (each a list of sentences, best-retrieved first), best first.
/// Without a word in common with the question, what each caption says first.
pub(super) fn rank(question: &str, captions: &[Vec<&str>], limit: usize) -> Vec<Ranked> {
    let candidates = candidates(captions);
    let asked = Asked::new(question, &candidates);
    let mut weighed: Vec<(f32, &Candidate)> = candidates.iter().map(|one| (asked.relevance(one), one)).collect();
    let best = weighed.iter().map(|(relevance, _)| *relevance).fold(0.0, f32::max);
    if best > 0.0 {
        weighed.retain(|(relevance, _)| *relevance >= RELEVANT * best);
    }
    for (weight, candidate) in &mut weighed {
        *weight += RETRIEVED / (1 + candidate.ranked.caption) as f32 - 0.01 * candidate.order as f32;
    }
    if best == 0.0 {
        // Nothing to go by: first sentences before second ones.
        weighed.sort_by_key(|(_, candidate)| (candidate.order, candidate.ranked.caption));
    } else {
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    let mut chosen: Vec<&Candidate> = Vec::new();
    for (_, candidate) in weighed {
        if chosen.len() < limit && chosen.iter().all(|other| other.identity != candidate.identity) {
            chosen.push(candidate);
        }
    }
    chosen.into_iter().map(|candidate| candidate.ranked.clone()).collect()
}

fn candidates(captions: &[Vec<&str>]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (caption, sentences) in captions.iter().enumerate() {
        for (order, sentence) in sentences.iter().enumerate() {
            let Some(sentence) = tidy(sentence) else { continue };
            let (stems, identity) = (content(&sentence), identity(&sentence));
            candidates.push(Candidate { ranked: Ranked { caption, sentence }, stems, identity, order });
        }
    }
    candidates
}

/// One line with single spaces, a capital and an end mark; `None` if there is no word in it or too many.
fn tidy(sentence: &str) -> Option<String> {
    let visible = sentence.split(|c: char| c.is_whitespace() || c.is_control());
    let line = visible.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let length = line.chars().count();
    if words(&line).count() < 2 || length > MAX_SENTENCE {
        return None;
    }
    let mut chars = line.chars();
    let first = chars.next()?.to_uppercase();
    let end = if line.ends_with(['.', '!', '?']) { "" } else { "." };
    Some(first.chain(chars).chain(end.chars()).collect())
}

/// The question as weights.
struct Asked {
    /// Content stems with their weight: rarer among the sentences, heavier.
    stems: Vec<(String, f32)>,
    /// Wider words that an answer should hold a member of.
    kinds: Vec<String>,
}

impl Asked {
    fn new(question: &str, candidates: &[Candidate]) -> Self {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for stem in candidates.iter().flat_map(|candidate| &candidate.stems) {
            *seen.entry(stem).or_default() += 1;
        }
        let total = candidates.len() as f32;
        let rarity = |stem: &str| seen.get(stem).map_or(1.0, |count| 1.0 + (total / *count as f32).ln() / 4.0);
        let stems =
            content(question).into_iter().map(|stem| (rarity(&stem), stem)).map(|(weight, stem)| (stem, weight));
        Self { stems: stems.collect(), kinds: kinds(question) }
    }

    fn relevance(&self, candidate: &Candidate) -> f32 {
        let holds = |stem: &str| candidate.stems.iter().any(|own| own == stem);
        let named: f32 = self.stems.iter().filter(|(stem, _)| holds(stem)).map(|(_, weight)| weight).sum();
        let member = |kind: &String| candidate.stems.iter().any(|own| is_kind_of(own, kind));
        let wider: f32 =
            self.stems.iter().filter(|(stem, _)| !holds(stem) && member(stem)).map(|(_, w)| w * ASKED).sum();
        // "How many people" is not answered by any number, but by a number of people.
        let about = self.stems.is_empty() || named + wider > 0.0;
        let asked = if about { self.kinds.iter().filter(|kind| member(kind)).count() as f32 * ASKED } else { 0.0 };
        let weight = named + wider + asked;
        if stands_alone(&candidate.ranked.sentence) { weight } else { weight * 0.6 }
    }
}

/// What the question word asks for.
fn kinds(question: &str) -> Vec<String> {
    let lower: Vec<String> = words(question).map(str::to_lowercase).collect();
    let pair = |a: &str, b: &str| lower.windows(2).any(|two| two[0] == a && two[1] == b);
    let mut kinds = Vec::new();
    if pair("how", "many") || lower.iter().any(|word| word == "count" || word == "number") {
        kinds.push(stem("number"));
    }
    if lower.iter().any(|word| word == "where") {
        kinds.push(stem("place"));
    }
    if lower.iter().any(|word| word == "who") {
        kinds.push(stem("person"));
    }
    kinds
}

/// A sentence that begins with "it" or "they" says nothing by itself.
fn stands_alone(sentence: &str) -> bool {
    let first = words(sentence).next().unwrap_or_default().to_lowercase();
    !matches!(first.as_str(), "it" | "they" | "he" | "she" | "this" | "these" | "its" | "their" | "his" | "her")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTIONS: &[&[&str]] = &[
        &[
            "There are about five people, a car and a van or truck.",
            "Three people are in the centre and two are on the right.",
            "Four people wear black.",
            "The car is blue.",
            "The car is on the right in the background.",
            "The van or truck is white.",
        ],
        &["There is a dog.", "The dog is on the left.", "It is brown."],
        &["No people or vehicles are clearly visible."],
    ];

    fn first(question: &str) -> Ranked {
        let captions: Vec<Vec<&str>> = CAPTIONS.iter().map(|caption| caption.to_vec()).collect();
        rank(question, &captions, 3).into_iter().next().expect("an answer")
    }

    #[test]
    fn the_sentence_that_answers_comes_first() {
        for (question, caption, sentence) in [
            ("What colour is the car?", 0, "The car is blue."),
            ("Where is the car?", 0, "The car is on the right in the background."),
            ("How many people are there?", 0, "There are about five people, a car and a van or truck."),
            ("What are the people wearing?", 0, "Four people wear black."),
            ("Was there a dog?", 1, "There is a dog."),
            ("Where is the dog?", 1, "The dog is on the left."),
            ("Is any animal visible?", 1, "There is a dog."),
            ("Which colour is the truck?", 0, "The van or truck is white."),
            ("What do you see?", 0, "There are about five people, a car and a van or truck."),
        ] {
            assert_eq!(first(question), Ranked { caption, sentence: sentence.to_owned() }, "{question}");
        }
    }

    #[test]
    fn the_same_sentence_is_taken_once_from_the_best_moment() {
        let captions = vec![vec!["There is a car."], vec!["there is a car"], vec!["There is a red car."]];
        let ranked = rank("Is there a car?", &captions, 5);
        let taken: Vec<(usize, &str)> = ranked.iter().map(|r| (r.caption, r.sentence.as_str())).collect();
        assert_eq!(taken, [(0, "There is a car."), (2, "There is a red car.")]);
    }

    #[test]
    fn without_a_hint_each_caption_speaks_once() {
        let captions = vec![vec!["A man waves.", "It rains."], vec!["A boat sails."]];
        let ranked = rank("What happens?", &captions, 2);
        assert_eq!(ranked.iter().map(|r| r.caption).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn sentences_are_made_whole_or_left_out() {
        assert_eq!(tidy("  a man\n  waves\u{7} "), Some("A man waves.".to_owned()));
        assert_eq!(tidy("Yes!"), None);
        assert_eq!(tidy(""), None);
        assert_eq!(tidy(&"word ".repeat(100)), None);
        assert_eq!(rank("x", &[], 3), []);
        assert_eq!(rank("x", &[vec!["A man waves."]], 0), []);
    }
}
