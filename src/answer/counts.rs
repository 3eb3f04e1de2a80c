//! How many there are of what: read out of plain sentences, and compared with what a claim counts. Pure.
//!
//! Only whole sentences of the simplest forms are read: "There are about seven people, a car and a van or truck.",
//! "Six people wear black and one wears red.", "Three people are visible." Everything else is left to the judge.
//!
//! # Decisions
//! - *A list is several statements* (2026-11-30). An entailment model calls "There is a car." contradicted by "There are
//!   two cars." with 0.99. What follows by counting is spelt out as sentences of its own, which the judge reads well.
//! - *A total is a total* (2026-11-30). "There are six people." claims that six can be counted. If the caption counts
//!   eight it is contradicted, whatever "Six people wear black." entails, and no neighbouring frame can rescue it. If
//!   the caption counts four the claim is not known, because a captioner misses things and its counts are lower bounds.

use super::numerals::{self, Amount, Bound};
use super::said::tokens;

/// So many of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counted {
    /// Singular.
    noun: String,
    amount: Amount,
    /// Without a number or article: "people", "cars".
    is_bare: bool,
}

/// What a caption's counts make of a claim's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// So many are counted.
    Holds,
    /// More are counted.
    More(u64),
    /// Fewer are counted, which says nothing.
    Fewer(u64),
}

/// Words that a sentence about what is there may end with.
const THERE: [&[&str]; 16] = [
    &["visible"],
    &["clearly", "visible"],
    &["present"],
    &["there"],
    &["here"],
    &["seen"],
    &["in", "the", "scene"],
    &["in", "the", "picture"],
    &["in", "the", "frame"],
    &["in", "the", "image"],
    &["in", "view"],
    &["can", "be", "seen"],
    &["be", "seen"],
    &["in", "sight"],
    &["shown"],
    &["in", "total"],
];

const IRREGULAR: [(&str, &str); 12] = [
    ("people", "person"),
    ("persons", "person"),
    ("individuals", "person"),
    ("individual", "person"),
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("buses", "bus"),
    ("trucks", "truck"),
    ("sheep", "sheep"),
    ("vans or trucks", "van or truck"),
    ("bicycles or motorcycles", "bicycle or motorcycle"),
];

/// Kinds, and the wider kind they count for.
const VEHICLES: [&str; 7] = ["car", "bus", "truck", "van", "van or truck", "vehicle", "train"];

/// What follows from a sentence by counting, each as a sentence of its own; empty if nothing new does.
pub(super) fn spelt_out(sentence: &str) -> Vec<String> {
    let words = tokens(sentence);
    let mut out = Vec::new();
    if let Some(items) = list(&words) {
        let one = |counted: &Counted| format!("There is {}.", with_article(&counted.noun));
        for counted in &items {
            if items.len() > 1 {
                out.push(format!("There {}.", amount_of(counted)));
            }
            if counted.amount.value > 1 {
                out.push(one(counted));
            }
        }
    }
    for (counted, verb, rest) in shares(&words) {
        let singular = match verb.as_str() {
            "are" => "is",
            "wear" => "wears",
            other => other,
        };
        if counted.amount.value > 1 {
            let plural = if singular == "is" { "are" } else { "wear" };
            out.push(format!("{} {plural} {rest}.", capitalised(&quantity(&counted))));
        }
        out.push(format!("{} {singular} {rest}.", capitalised(&with_article(&counted.noun))));
    }
    out.retain(|made| !made.eq_ignore_ascii_case(sentence.trim()));
    out
}

/// The one thing whose presence is all that a claim states, in the singular: "There is a car.", "Dogs are visible."
pub(super) fn only_thing(claim: &str) -> Option<String> {
    total(&tokens(claim)).map(|counted| counted.noun)
}

/// A total of about so many that the caption bears out, said in the claim's own number: about seven are about eight, and
/// an entailment model knows nothing of that. `None` if the caption does not, or the claim is exact.
pub(super) fn restated<'a>(sentences: impl Iterator<Item = &'a str>, claim: &str) -> Option<String> {
    let claimed = total(&tokens(claim)).filter(|claimed| claimed.amount.bound == Bound::About)?;
    matches!(compare(sentences, claim), Some((Count::Holds, _))).then(|| format!("There {}.", amount_of(&claimed)))
}

/// What a sentence denies that denies a list ("No people or vehicles are clearly visible."), each as a sentence of its
/// own, also of the kind that `claim` denies if it is one of them. Nothing if `claim` denies nothing.
pub(super) fn denied(sentence: &str, claim: &str) -> Vec<String> {
    let (said, stated) = (tokens(sentence), tokens(claim));
    let is_denial = stated.iter().any(|word| matches!(word.as_str(), "no" | "nobody" | "not" | "none"));
    let verb = said.iter().position(|word| matches!(word.as_str(), "is" | "are"));
    let (Some("no"), Some(verb), true) = (said.first().map(String::as_str), verb, is_denial) else { return Vec::new() };
    let rest: Vec<&str> = said[verb + 1..].iter().map(String::as_str).collect();
    let nouns: Option<Vec<String>> = said[1..verb].split(|word| word == "or").map(singular).collect();
    let Some(nouns) = nouns.filter(|_| THERE.contains(&rest.as_slice())) else { return Vec::new() };
    let mut out = Vec::new();
    for noun in &nouns {
        out.push(format!("There are no {}.", plural(noun)));
        if noun == "person" {
            out.push("Nobody is there.".to_owned());
        }
    }
    let is_stated = |kind: &&&str| stated.iter().any(|word| word == **kind || *word == plural(kind));
    let kind = VEHICLES.iter().filter(|_| nouns.iter().any(|noun| noun == "vehicle")).find(is_stated);
    out.extend(kind.filter(|kind| **kind != "vehicle").map(|kind| format!("There is no {kind}.")));
    out
}

/// Whether a sentence says several things with numbers and `claim` only one: its parts then speak, each for itself, since
/// as a whole it seems to say "one person is on the left" as soon as one is in the centre and six are on the left.
pub(super) fn is_in_parts(sentence: &str, claim: &str) -> bool {
    shares(&tokens(sentence)).len() > 1 && numerals::amounts(&tokens(claim)).len() < 2
}

/// What the sentences of a caption count of what `claim` counts, with the sentence; `None` if one of them does not count.
pub(super) fn compare<'a>(sentences: impl Iterator<Item = &'a str>, claim: &str) -> Option<(Count, usize)> {
    let claimed = total(&tokens(claim))?;
    let mut found = sentences.enumerate().filter_map(|(at, sentence)| {
        let items = list(&tokens(sentence))?;
        Some((count(&claimed, &items)?, at))
    });
    let mut best = found.next()?;
    for other in found {
        if other.0 == Count::Holds {
            best = other;
        }
    }
    Some(best)
}

/// What one list makes of one claim; `None` if it does not count that kind.
fn count(claimed: &Counted, items: &[Counted]) -> Option<Count> {
    let of_kind = items.iter().filter(|item| item.noun == claimed.noun || is_wider(&claimed.noun, &item.noun));
    let (said, kinds) = of_kind.fold((0, 0), |(sum, kinds), item| (sum + item.amount.value, kinds + 1));
    if kinds == 0 {
        return None;
    }
    match claimed.amount.admits(said) {
        true => Some(Count::Holds),
        // "There are cars." names no number that could be wrong.
        false if claimed.is_bare => None,
        false if said > claimed.amount.value => Some(Count::More(said)),
        false => Some(Count::Fewer(said)),
    }
}

fn is_wider(wide: &str, narrow: &str) -> bool {
    wide == "vehicle" && VEHICLES.contains(&narrow)
}

/// A claim that counts one kind and says nothing else.
fn total(words: &[String]) -> Option<Counted> {
    let items = list(words).or_else(|| {
        // "Three people are visible."
        let verb = words.iter().position(|word| matches!(word.as_str(), "is" | "are" | "can"))?;
        let rest: Vec<&str> =
            words[verb..].iter().map(String::as_str).skip_while(|w| matches!(*w, "is" | "are")).collect();
        THERE.contains(&rest.as_slice()).then(|| items(&words[..verb])).flatten()
    })?;
    <[Counted; 1]>::try_from(items).ok().map(|[only]| only)
}

/// The items of "There are about seven people, a car and a van or truck."
fn list(words: &[String]) -> Option<Vec<Counted>> {
    let rest = match words {
        [there, verb, rest @ ..] if there == "there" && matches!(verb.as_str(), "is" | "are") => rest,
        _ => return None,
    };
    let ending = THERE.iter().find(|ending| rest.len() > ending.len() && rest.ends_with(&owned(ending)));
    items(&rest[..rest.len() - ending.map_or(0, |ending| ending.len())])
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Each item is a number or article and a noun of at most three words.
fn items(words: &[String]) -> Option<Vec<Counted>> {
    let starts: Vec<usize> = (0..words.len()).filter(|at| begins(words, *at)).collect();
    if starts.first() != Some(&0) {
        return bare(words).map(|item| vec![item]);
    }
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    starts.iter().zip(ends).map(|(start, end)| item(&words[*start..end])).collect()
}

fn begins(words: &[String], at: usize) -> bool {
    let is_article = |at: usize| matches!(words[at].as_str(), "a" | "an");
    // "A single person" begins once.
    let is_amount = || numerals::amounts(words).iter().any(|amount| amount.from == at);
    is_article(at) || is_amount() && !at.checked_sub(1).is_some_and(is_article)
}

fn item(words: &[String]) -> Option<Counted> {
    let (amount, noun) = match words.first()?.as_str() {
        "a" | "an" if words.get(1).is_none_or(|word| word != "single" && word != "couple" && word != "pair") => {
            (Amount { value: 1, bound: Bound::AtLeast, next: 1, from: 0 }, &words[1..])
        }
        _ => {
            let amount = *numerals::amounts(words).first()?;
            (amount, &words[amount.next..])
        }
    };
    let noun = noun.strip_suffix(&["and".to_owned()]).unwrap_or(noun);
    Some(Counted { noun: singular(noun)?, amount, is_bare: false })
}

/// "people", "cars": two or more.
fn bare(words: &[String]) -> Option<Counted> {
    let noun = singular(words)?;
    let is_plural = words.join(" ") != noun || noun == "sheep";
    is_plural.then_some(Counted {
        noun,
        amount: Amount { value: 2, bound: Bound::AtLeast, next: 0, from: 0 },
        is_bare: true,
    })
}

/// The singular of a plain noun; `None` of anything longer or with other words in it.
fn singular(words: &[String]) -> Option<String> {
    const OTHERS: [&str; 20] = [
        "and", "of", "in", "on", "at", "with", "to", "is", "are", "no", "not", "who", "the", "several", "many", "some",
        "near", "behind", "there", "these",
    ];
    let noun = words.join(" ");
    let is_plain = (1..=3).contains(&words.len())
        && words.iter().all(|word| !OTHERS.contains(&word.as_str()) && !word.ends_with("ing") && word.len() > 1);
    let known = IRREGULAR.iter().find(|(plural, _)| *plural == noun).map(|(_, singular)| (*singular).to_owned());
    let regular = || match noun.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && noun != "bus" => stem.to_owned(),
        _ => noun.clone(),
    };
    is_plain.then(|| known.unwrap_or_else(regular))
}

/// "Six people wear black and one wears red." as its parts: who, the verb, and the rest.
fn shares(words: &[String]) -> Vec<(Counted, String, String)> {
    let is_verb = |word: &String| matches!(word.as_str(), "is" | "are" | "wear" | "wears");
    let starts: Vec<usize> =
        (0..words.len()).filter(|at| begins(words, *at) && !matches!(words[*at].as_str(), "a" | "an")).collect();
    if starts.first() != Some(&0) {
        return Vec::new();
    }
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    let mut noun: Option<String> = None;
    let mut found = Vec::new();
    for (start, end) in starts.iter().zip(ends) {
        let part = &words[*start..end];
        let part = part.strip_suffix(&["and".to_owned()]).unwrap_or(part);
        let (Some(verb), Some(amount)) = (part.iter().position(is_verb), numerals::amounts(part).first().copied())
        else {
            return Vec::new();
        };
        if amount.next < verb {
            noun = singular(&part[amount.next..verb]);
        }
        let rest = part[verb + 1..].join(" ");
        let Some(noun) = noun.clone().filter(|_| !rest.is_empty() && part.len() - verb <= 5) else { return Vec::new() };
        found.push((Counted { noun, amount, is_bare: false }, part[verb].clone(), rest));
    }
    found
}

fn amount_of(counted: &Counted) -> String {
    if counted.amount.value == 1 {
        format!("is {}", with_article(&counted.noun))
    } else {
        format!("are {}", quantity(counted))
    }
}

/// "about seven people".
fn quantity(counted: &Counted) -> String {
    let about = if counted.amount.bound == Bound::About { "about " } else { "" };
    format!("{about}{} {}", numerals::name(counted.amount.value), plural(&counted.noun))
}

fn plural(noun: &str) -> String {
    let known = IRREGULAR.iter().find(|(_, singular)| *singular == noun).map(|(plural, _)| (*plural).to_owned());
    known.unwrap_or_else(|| format!("{noun}s"))
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
