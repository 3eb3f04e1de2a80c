//! Claims from captions: what a caption says, and what it does not. Pure; the same captions give the same claims.
//!
//! One word or phrase of a sentence is changed, and the change is only made where the changed word occurs neither in
//! the caption nor in any caption up to a second beyond the neighbours: what is fabricated must not hold nearby.

use std::collections::BTreeSet;

use super::words::{ADDITIONS, COLOURS, DENIALS, EMPTY, HEDGES, NUMBERS, SUBJECTS, THINGS, WIDER};
use super::{Half, TextClaim, Video};
use crate::domain::Caption;

/// A sentence of another time must be this many moments away.
const ELSEWHERE: usize = 3;

/// How claims are spread over a video.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// Captions from one moment to the next.
    pub every: usize,
    /// Moments of one video that claims are made about, at most.
    pub moments: usize,
    /// Words of a sentence of another time that must occur nowhere near the cited one.
    pub strange: usize,
}

/// All claims about all videos, in order.
pub fn claims(videos: &[Video], spread: Spread) -> Vec<TextClaim> {
    videos.iter().flat_map(|video| of_video(video, spread)).collect()
}

fn of_video(video: &Video, spread: Spread) -> Vec<TextClaim> {
    let mut random = fastrand::Rng::with_seed(seed(&video.video));
    let mut moments: Vec<usize> = (0..video.captions.len()).step_by(spread.every).collect();
    random.shuffle(&mut moments);
    moments.truncate(spread.moments);
    moments.sort_unstable();
    moments.into_iter().flat_map(|at| of_moment(video, at, spread, &mut random)).collect()
}

/// FNV-1a.
fn seed(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// At most one claim of each kind.
fn of_moment(video: &Video, at: usize, spread: Spread, random: &mut fastrand::Rng) -> Vec<TextClaim> {
    let near = Near::of(video, at, spread.every);
    let mut usable: Vec<String> = sentences(&video.captions[at]).collect();
    random.shuffle(&mut usable);
    let mut found = Vec::new();
    let mut add = |kind: &'static str, truth: bool, made: Option<(String, String)>| {
        let Some((text, from)) = made else { return };
        let (video, half) = (video.video.clone(), Half::of(&video.video));
        found.push(TextClaim { video, half, at, kind, truth, text, from, captions: near.captions.clone() });
    };
    let first = |make: &mut dyn FnMut(&str) -> Option<String>| {
        usable.iter().find_map(|sentence| Some((make(sentence)?, sentence.clone())))
    };
    add("own sentence", true, first(&mut |sentence| Some(sentence.to_owned())));
    add("said shorter", true, first(&mut shorter));
    add("said wider", true, first(&mut wider));
    add("subject alone", true, first(&mut alone));
    add("changed number", false, first(&mut |sentence| number(sentence, &near, random)));
    add("swapped subject", false, first(&mut |sentence| subject(sentence, &near)));
    add("changed colour", false, first(&mut |sentence| colour(sentence, &near, random)));
    add("changed side", false, first(&mut |sentence| side(sentence, &near)));
    add("negation", false, first(&mut denial));
    add("swapped roles", false, first(&mut roles));
    add("addition", false, first(&mut |sentence| addition(sentence, &near, random)));
    add("wrong time", false, elsewhere(video, at, spread, &near, random));
    found
}

/// What is said around a time.
struct Near {
    captions: Vec<Caption>,
    words: BTreeSet<String>,
}

impl Near {
    fn of(video: &Video, at: usize, every: usize) -> Self {
        let all = &video.captions;
        let neighbours = [Some(at), at.checked_sub(every), Some(at + every)];
        let captions = neighbours.into_iter().flatten().filter_map(|second| all.get(second)).map(Caption::new);
        let around = &all[at.saturating_sub(every + 1)..(at + every + 2).min(all.len())];
        let words = around.iter().flat_map(|caption| stems(caption)).collect();
        Self { captions: captions.collect(), words }
    }

    /// Whether a word, or a longer one that begins like it, occurs.
    fn has(&self, word: &str) -> bool {
        let stem = stem(word);
        self.words.iter().any(|other| other.starts_with(&stem))
    }
}

/// Sentences that a claim can be made from: one plain statement about something named.
fn sentences(caption: &str) -> impl Iterator<Item = String> {
    const STARTS: [&str; 10] = ["About ", "A ", "An ", "The ", "There ", "Two ", "Three ", "Four ", "Five ", "One "];
    let caption = Caption::new(caption);
    let all: Vec<String> = caption.sentences().map(str::to_owned).collect();
    all.into_iter().filter(|sentence| {
        let (length, low) = (sentence.split_whitespace().count(), sentence.to_lowercase());
        (4..=24).contains(&length)
            && sentence.ends_with('.')
            && !sentence.contains([':', ';', '"'])
            && STARTS.iter().any(|start| sentence.starts_with(start))
            && !HEDGES.iter().any(|hedge| low.contains(hedge))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Lower case, without the ending that plural and tense make.
fn stem(word: &str) -> String {
    let low = word.to_lowercase();
    let cut = |ending: &str| low.strip_suffix(ending).filter(|rest| rest.len() >= 3).map(str::to_owned);
    cut("ing").or_else(|| cut("es")).or_else(|| cut("ed")).or_else(|| cut("s")).unwrap_or(low)
}

fn stems(text: &str) -> BTreeSet<String> {
    words(text).filter(|word| !EMPTY.contains(&word.to_lowercase().as_str())).map(stem).collect()
}

/// `sentence` with its only `word` replaced; `None` if it has none or several.
fn swapped(sentence: &str, word: &str, other: &str) -> Option<String> {
    let low = sentence.to_lowercase();
    let is_edge = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    let mut at = low
        .match_indices(word)
        .filter(|(at, _)| is_edge(low[..*at].chars().next_back()) && is_edge(low[at + word.len()..].chars().next()));
    let ((at, _), None) = (at.next()?, at.next()) else { return None };
    // Lower case keeps the places of ASCII text; other text is left alone.
    let same =
        low.len() == sentence.len() && sentence.is_char_boundary(at) && sentence.is_char_boundary(at + word.len());
    let made = same.then(|| format!("{}{other}{}", &sentence[..at], &sentence[at + word.len()..]))?;
    let mut chars = made.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect())
}

fn number(sentence: &str, near: &Near, random: &mut fastrand::Rng) -> Option<String> {
    let old = *NUMBERS.iter().find(|number| swapped(sentence, number, "x").is_some())?;
    let free: Vec<&&str> = NUMBERS.iter().filter(|number| **number != old && !near.has(number)).collect();
    swapped(sentence, old, random.choice(&free)?)
}

fn subject(sentence: &str, near: &Near) -> Option<String> {
    let mut free = SUBJECTS.iter().filter(|(_, other)| !near.has(other));
    free.find_map(|(word, other)| swapped(sentence, word, other))
}

fn colour(sentence: &str, near: &Near, random: &mut fastrand::Rng) -> Option<String> {
    let old = *COLOURS.iter().find(|colour| swapped(sentence, colour, "x").is_some())?;
    let free: Vec<&&str> = COLOURS.iter().filter(|colour| **colour != old && !near.has(colour)).collect();
    swapped(sentence, old, random.choice(&free)?)
}

fn side(sentence: &str, near: &Near) -> Option<String> {
    let sides = [("left", "right"), ("right", "left"), ("foreground", "background"), ("background", "foreground")];
    let mut free = sides.iter().filter(|(_, other)| !near.captions.iter().any(|c| c.as_str().contains(other)));
    free.find_map(|(word, other)| swapped(sentence, word, other))
}

fn denial(sentence: &str) -> Option<String> {
    if sentence.contains(" not ") || sentence.contains(" no ") {
        return None;
    }
    let found = DENIALS.iter().find(|(phrase, _)| sentence.matches(phrase).count() == 1)?;
    Some(sentence.replacen(found.0, found.1, 1).replace(" no an ", " no ").replace(" no a ", " no "))
}

/// "A dog behind a chair." for "A chair behind a dog."; only where the first noun is the subject of all.
fn roles(sentence: &str) -> Option<String> {
    const RELATIONS: [&str; 6] = [" behind ", " in front of ", " on top of ", " under ", " above ", " holding "];
    let relation = *RELATIONS.iter().find(|relation| sentence.contains(*relation))?;
    let (before, after) = sentence.trim_end_matches('.').split_once(relation)?;
    let (subject, verb) =
        before.split_once(" is ").map(|(s, v)| (s, format!(" is {v}"))).unwrap_or((before, String::new()));
    let verb = if before.ends_with(" is") { " is".to_owned() } else { verb };
    let subject = subject.trim_end_matches(" is");
    let simple = |noun: &str| {
        let count = noun.split_whitespace().count();
        (2..=4).contains(&count)
            && ["A ", "An ", "The ", "a ", "an ", "the "].iter().any(|start| noun.starts_with(start))
    };
    if !simple(subject) || !simple(after) {
        return None;
    }
    let mut chars = after.chars();
    let first: String = chars.next().map(|c| c.to_uppercase().chain(chars).collect())?;
    let rest = format!("{}{}", subject[..1].to_lowercase(), &subject[1..]);
    Some(format!("{first}{verb}{relation}{rest}."))
}

fn addition(sentence: &str, near: &Near, random: &mut fastrand::Rng) -> Option<String> {
    let free: Vec<_> = ADDITIONS.iter().filter(|(_, word)| !near.has(word)).collect();
    let (phrase, _) = random.choice(&free)?;
    (sentence.split_whitespace().count() <= 16).then(|| format!("{} {phrase}.", sentence.trim_end_matches('.')))
}

/// A sentence of another time of the same video that says several things nobody says here.
fn elsewhere(
    video: &Video,
    at: usize,
    spread: Spread,
    near: &Near,
    random: &mut fastrand::Rng,
) -> Option<(String, String)> {
    let is_far = |other: &usize| other.abs_diff(at) >= ELSEWHERE * spread.every;
    let mut others: Vec<usize> = (0..video.captions.len()).filter(is_far).collect();
    random.shuffle(&mut others);
    let strange = |sentence: &String| stems(sentence).iter().filter(|word| !near.has(word)).count() >= spread.strange;
    let found = others.into_iter().flat_map(|second| sentences(&video.captions[second])).find(strange)?;
    Some((found.clone(), found))
}

/// What is left without its last phrase.
fn shorter(sentence: &str) -> Option<String> {
    const CUTS: [&str; 8] = [" in the ", " on the ", " with a ", " near ", " beside ", " behind ", " while ", ", "];
    let found = CUTS.iter().find_map(|cut| sentence.rsplit_once(cut).map(|(head, _)| head))?;
    let is_whole = [" is ", " are ", " sits ", " stands ", " lies ", " walks "].iter().any(|verb| found.contains(verb));
    (is_whole && found.split_whitespace().count() >= 4 && !found.ends_with(" and") && !found.contains(','))
        .then(|| format!("{}.", found.trim_end_matches([' ', ','])))
}

fn wider(sentence: &str) -> Option<String> {
    WIDER.iter().find_map(|(word, other)| swapped(sentence, word, other))
}

/// "There is a boy." for a sentence about one.
fn alone(sentence: &str) -> Option<String> {
    let first: Vec<String> = words(sentence).take(5).map(str::to_lowercase).collect();
    let is_single = first.first().is_some_and(|word| word == "a" || word == "an" || word == "the");
    let thing = first.iter().skip(1).find(|word| THINGS.contains(&word.as_str()))?;
    is_single.then(|| format!("There is a {thing}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: Spread = Spread { every: 5, moments: 3, strange: 2 };

    fn near(captions: &[&str]) -> Near {
        let all = captions.iter().map(|caption| (*caption).to_owned()).collect();
        Near::of(&Video { video: "v".into(), captions: all }, 0, 5)
    }

    #[test]
    fn true_claims_say_less() {
        assert_eq!(shorter("A boy is standing in the room."), Some("A boy is standing.".into()));
        assert_eq!(shorter("A boy in the room."), None);
        assert_eq!(wider("A boy is standing."), Some("A child is standing.".into()));
        assert_eq!(alone("The young boy is standing."), Some("There is a boy.".into()));
        assert_eq!(alone("Two boys stand by a table."), None);
    }

    #[test]
    fn a_change_is_made_only_where_it_is_false_nearby() {
        let mut random = fastrand::Rng::with_seed(1);
        let alone = near(&["Two boys wear red."]);
        let made = number("Two boys wear red.", &alone, &mut random).expect("changed");
        assert!(made.ends_with(" boys wear red.") && !made.starts_with("Two"), "{made}");
        assert_eq!(subject("A man sits.", &near(&["A man sits."])), Some("A woman sits.".into()));
        assert_eq!(subject("A man sits.", &near(&["A man sits beside a woman."])), None);
        let colours = COLOURS.join(" ");
        assert_eq!(colour("The car is red.", &near(&[&colours]), &mut random), None);
        assert_eq!(side("It is on the left.", &near(&["x"])), Some("It is on the right.".into()));
        let every = ADDITIONS.map(|(_, word)| word).join(" ");
        assert_eq!(addition("A man sits.", &near(&[&every]), &mut random), None);
        assert!(addition("A man sits.", &alone, &mut random).is_some_and(|text| text.starts_with("A man sits ")));
    }

    #[test]
    fn denials_and_roles() {
        assert_eq!(denial("A boy is holding a ball."), Some("A boy is not holding a ball.".into()));
        assert_eq!(denial("There is a car."), Some("There is no car.".into()));
        assert_eq!(denial("There is no car."), None);
        assert_eq!(roles("A dog is behind a chair."), Some("A chair is behind a dog.".into()));
        assert_eq!(roles("A dog is lying under the table."), Some("The table is lying under a dog.".into()));
        assert_eq!(roles("A dog barks."), None);
    }

    #[test]
    fn another_time_has_other_words() {
        let here = vec!["A boy is standing in the room.".to_owned(); 20];
        let there = vec!["The truck is parked beside the river.".to_owned(); 20];
        let video = Video { video: "v".into(), captions: here.iter().chain(&there).cloned().collect() };
        let mut random = fastrand::Rng::with_seed(1);
        let (text, _) = elsewhere(&video, 0, SPREAD, &Near::of(&video, 0, 5), &mut random).expect("another time");
        assert_eq!(text, there[0]);
        let same = Video { video: "v".into(), captions: here };
        assert_eq!(elsewhere(&same, 0, SPREAD, &Near::of(&same, 0, 5), &mut random), None);
    }

    #[test]
    fn the_same_captions_give_the_same_claims() {
        let captions = ["A young boy is holding a red ball in the room.", "Two women are sitting on the left."];
        let video =
            Video { video: "7".into(), captions: captions.iter().cycle().take(60).map(|c| (*c).into()).collect() };
        let made = claims(std::slice::from_ref(&video), SPREAD);
        assert_eq!(made, claims(&[video], SPREAD));
        let kinds: BTreeSet<_> = made.iter().map(|claim| (claim.kind, claim.truth)).collect();
        for kind in [("own sentence", true), ("negation", false), ("changed number", false), ("addition", false)] {
            assert!(kinds.contains(&kind), "{kind:?} is missing from {kinds:?}");
        }
        assert!(made.iter().all(|claim| claim.captions.len() >= 2));
    }
}
