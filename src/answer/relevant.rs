//! Whether a claim answers a question. Pure.
//!
//! A verdict says whether a claim holds, not whether it answers: "The car is blue." may be proven, and says nothing about
//! the colour of the dog. What the question names is compared with what the claim names:
//!
//! | question | a claim answers it that |
//! |---|---|
//! | about a thing ("What is the man doing?", "Who …") | names the first thing, a kind of it, or what it is a kind of |
//! | "what colour", "how many", "where" | also names a colour, a number, a place |
//! | "what … wear" | also speaks of wearing |
//! | "what … do", "what happens to", "which … does" | also says more than the question does |
//! | "why", "how" | also says more, and names something else of the question: "There is a dog." says not why it barks |
//! | "when … do" | also names something else of the question; its time is the answer |
//! | that names nothing ("What happens?") | is any |
//!
//! A claim very similar to the question in other words is about it too; it must still say what is asked. A claim that
//! repeats what the question supposes ("The dog chases a ball.") says neither why nor how. It must not decide whether a
//! claim is true.

use super::time;
use crate::domain::words::{content, is_kind_of, stem, words};

/// From this cosine similarity on, a claim in other words is about the question.
const SAME: f32 = 0.7;
/// From this one on, a claim that names the thing explains what the question tells of it in other words.
const NEAR: f32 = 0.55;

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Focus {
    /// Stems of the first thing it names; empty if it names none ("What happens?"), and then every claim is about it.
    thing: Vec<String>,
    /// What the question supposes to be there, in its words, what it is about first: to tell that there was none.
    pub(super) supposes: Vec<String>,
    /// Stems of everything else it names.
    rest: Vec<String>,
    /// What is asked of the thing.
    wants: Wanted,
}

/// What is asked of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Anything that is true of it.
    Anything,
    Colour,
    Number,
    Place,
    Clothes,
    /// What it does or is like: more than the question says.
    Deed,
    /// What the question tells of it, explained: why, how.
    Explanation,
    /// When what the question tells of it happens.
    Time,
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
/// Words that say where something is, besides the kinds of places.
const PLACES: [&str; 22] = [
    "in", "on", "at", "near", "by", "behind", "beside", "under", "over", "inside", "outside", "between", "above",
    "below", "next", "front", "side", "corner", "top", "bottom", "here", "there's",
];
/// Words that say how many, besides numbers.
const NUMBERS: [&str; 14] = [
    "a", "an", "no", "nobody", "nothing", "none", "several", "many", "few", "single", "pair", "couple", "group",
    "crowd",
];

/// Whether a claim, if it holds, answers a question. `similarity` is the cosine between both.
pub fn answers(question: &str, claim: &str, similarity: f32) -> bool {
    focus(&time::read(question).topic).holds(claim, similarity)
}

/// A question without its time phrases: what the similarity is measured with.
pub fn topic(question: &str) -> String {
    time::read(question).topic
}

/// Reads what a question is about; `topic` is the question without its time phrases.
pub(super) fn focus(topic: &str) -> Focus {
    let all: Vec<String> = words(topic).map(str::to_lowercase).collect();
    let Named { thing, supposes } = named(&all);
    let rest: Vec<String> = content(topic).into_iter().filter(|stem| !thing.contains(stem)).collect();
    let is_told_of = all.first().is_some_and(|word| word == "which") && !rest.is_empty();
    let wants = match wanted(&all) {
        Wanted::Anything if is_told_of => Wanted::Deed,
        wants => wants,
    };
    Focus { thing, supposes, rest, wants }
}

/// What a question names.
struct Named {
    /// Stems of the first thing.
    thing: Vec<String>,
    /// The nouns of all things that are supposed to be there.
    supposes: Vec<String>,
}

fn named(all: &[String]) -> Named {
    let is_who = all.first().is_some_and(|word| matches!(word.as_str(), "who" | "whom" | "whose"));
    let mut named = Named { thing: Vec::new(), supposes: Vec::new() };
    if is_who {
        named = Named { thing: vec![stem("person")], supposes: vec!["person".to_owned()] };
    }
    for (at, word) in all.iter().enumerate().filter(|(_, word)| DETERMINERS.contains(&word.as_str())) {
        let phrase = phrase(all, at);
        let stems: Vec<String> = phrase.iter().flat_map(|word| content(word)).collect();
        // Of "which car drives" nobody knows here where the noun ends.
        let is_open = phrase.len() > 1 && matches!(word.as_str(), "what" | "which");
        let noun = phrase.last().filter(|_| !is_open).map(|word| (*word).clone());
        if named.thing.is_empty() && !stems.is_empty() {
            named.thing = stems;
            named.supposes.extend(noun.filter(|noun| is_thing(noun)));
        } else if ARTICLES.contains(&word.as_str()) {
            named.supposes.extend(noun.filter(|noun| is_thing(noun) && !named.supposes.contains(noun)));
        }
    }
    named
}

/// The words of the noun phrase behind the determiner at `at`.
fn phrase(all: &[String], at: usize) -> Vec<&String> {
    let is_attribute = |word: &String| ATTRIBUTES.iter().any(|attribute| stem(attribute) == stem(word));
    let phrase = all[at + 1..].iter().take_while(|word| !ends(word));
    let mut phrase: Vec<&String> = phrase.filter(|word| !is_attribute(word)).collect();
    // "does the airplane land": what ends the phrase is the verb.
    let asks_doing = at > 0 && matches!(all[at - 1].as_str(), "do" | "does" | "did");
    let verb_follows = all.get(at + 1 + phrase.len()).is_some_and(|next| matches!(next.as_str(), "do" | "does"));
    if asks_doing && !verb_follows && phrase.len() > 1 {
        phrase.pop();
    }
    phrase
}

/// Whether a noun may be something that one sees, and no place, colour or number.
fn is_thing(noun: &str) -> bool {
    let of_kind = |kind: &str| is_kind_of(&stem(noun), &stem(kind));
    !["place", "colour", "number"].into_iter().any(of_kind) && !PLACES.contains(&noun) && !content(noun).is_empty()
}

fn ends(word: &str) -> bool {
    ENDS.contains(&word) || DETERMINERS.contains(&word) || (word.ends_with("ing") && word.len() > 5)
}

fn wanted(all: &[String]) -> Wanted {
    let has = |wanted: &str| all.iter().any(|word| stem(word) == stem(wanted));
    match all.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["how", "many", ..] => Wanted::Number,
        ["where", ..] => Wanted::Place,
        ["why" | "how", ..] => Wanted::Explanation,
        ["when", ..] => Wanted::Time,
        ["what" | "which", ..] if has("colour") => Wanted::Colour,
        ["what" | "which" | "who" | "whose", ..] if has("wear") => Wanted::Clothes,
        ["what", "is" | "are" | "was" | "were", .., "doing"] | ["what", "do" | "does" | "did", .., "do"] => {
            Wanted::Deed
        }
        ["what", "happens" | "happened", "to", ..] => Wanted::Deed,
        _ => Wanted::Anything,
    }
}

impl Focus {
    /// Whether a claim answers. `similarity` is the cosine between question and claim.
    pub(super) fn holds(&self, claim: &str, similarity: f32) -> bool {
        let said: Vec<String> = words(claim).map(stem).collect();
        let is_about = similarity >= SAME || self.names_thing(&said);
        is_about && self.says_what_is_wanted(claim, &said, similarity)
    }

    fn names_thing(&self, said: &[String]) -> bool {
        // "There is nobody." answers "Who is there?".
        let nobody = self.thing.contains(&stem("person")) && said.contains(&stem("nobody"));
        self.thing.is_empty() || nobody || self.thing.iter().any(|thing| names(said, thing))
    }

    /// Whether something else is named that the question names.
    fn names_rest(&self, said: &[String]) -> bool {
        self.rest.is_empty() || self.rest.iter().any(|other| names(said, other))
    }

    /// Whether a claim says more than the question does: something besides what it names, and how many there are.
    fn adds(&self, claim: &str) -> bool {
        let known = |stem: &String| self.thing.iter().chain(&self.rest).any(|it| names(std::slice::from_ref(stem), it));
        content(claim).iter().any(|it| !known(it) && !is_kind_of(it, &stem("number")))
    }

    fn says_what_is_wanted(&self, claim: &str, said: &[String], similarity: f32) -> bool {
        let of_kind = |kind: &str| said.iter().any(|word| is_kind_of(word, &stem(kind)));
        let any = |listed: &[&str]| words(claim).any(|word| listed.contains(&word.to_lowercase().as_str()));
        match self.wants {
            Wanted::Anything => true,
            Wanted::Colour => of_kind("colour"),
            Wanted::Number => of_kind("number") || any(&NUMBERS),
            Wanted::Place => of_kind("place") || any(&PLACES),
            Wanted::Clothes => said.contains(&stem("wear")),
            Wanted::Deed => self.thing.is_empty() || self.adds(claim),
            Wanted::Explanation => self.adds(claim) && (similarity >= NEAR || self.names_rest(said)),
            Wanted::Time => similarity >= NEAR || self.names_rest(said),
        }
    }
}

/// Whether a claim speaks of a thing, in its word, a wider or a narrower one.
pub(super) fn speaks_of(claim: &str, noun: &str) -> bool {
    let said: Vec<String> = words(claim).map(stem).collect();
    names(&said, &stem(noun))
}

/// Whether one of these stems is the thing, of its kind, or what it is a kind of.
fn names(said: &[String], thing: &str) -> bool {
    said.iter().any(|word| word == thing || is_kind_of(word, thing) || is_kind_of(thing, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_about_the_question_or_beside_the_point() {
        let table = [
            ("What colour is the dog?", "The car is blue.", false),
            ("What colour is the dog?", "The dog is brown.", true),
            ("What colour is the dog?", "There is a brown animal.", true),
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
            ("What does the man do?", "There is a person.", false),
            ("What does the man do?", "The man waves.", true),
            ("Who is there?", "There is nobody.", true),
            ("What animal is there?", "There is a rabbit.", true),
            ("Which car drives over the rabbit?", "There is a car.", false),
            ("Which car drives over the rabbit?", "The car is red.", true),
            ("Which cars are there?", "There is a car.", true),
            ("What is the cat on the seat doing?", "A cat sleeps on the seat.", true),
            ("What is the cat doing?", "There are two cats.", false),
            ("What happens?", "There is a car.", true),
            ("What is there?", "There is a car.", true),
            ("What do you see?", "There is a car.", true),
            ("", "There is a car.", true),
            ("What colour is the dog?", "The dog is on the left.", false),
            ("Where is the car?", "There is a car.", false),
            ("How many cars are there?", "There is a car.", true),
            ("How many cars are there?", "The car is red.", false),
            ("What do the people wear?", "There are three people.", false),
            ("Why does the cyclist feed the elephant?", "There is a cyclist.", false),
            // What the question supposes, repeated, answers neither why nor how, nor which.
            ("Why does the cyclist feed the elephant?", "The cyclist feeds an elephant.", false),
            ("Why does the cyclist feed the elephant?", "A cyclist feeds two elephants.", false),
            ("Why does the cyclist feed the elephant?", "The cyclist feeds a hungry elephant.", true),
            ("Why is the dog chasing the ball?", "The dog is chasing the ball.", false),
            ("Why is the dog chasing the ball?", "A person throws a ball for the dog.", true),
            ("How does the man hold the child?", "A man holds a child.", false),
            ("What is the cat on the seat doing?", "A cat is on the seat.", false),
            ("Which car drives over the rabbit?", "A car drives over the rabbit.", false),
            ("When does the airplane land on the street?", "An airplane lands on the street.", true),
            // Nor does it answer what colour, how many or where.
            ("What colour is the bus that hits the cyclist?", "A bus hits a cyclist.", false),
            ("What colour is the bus that hits the cyclist?", "The bus is red.", true),
            ("How many dogs chase the ball?", "Dogs chase the ball.", false),
            ("Where does the dog chase the ball?", "The dog chases the ball.", false),
            ("When does the airplane land?", "The airplane lands.", true),
            ("When does the airplane land?", "There is land.", false),
            ("How does the man hold the child?", "A man holds a child in his arms.", true),
            ("Why is the man running?", "There is a man.", false),
            ("What did the white dog do?", "A dog sniffs a cushion.", true),
            ("What did the boy pick up?", "The boy has a toy.", true),
        ];
        for (question, claim, due) in table {
            assert_eq!(focus(question).holds(claim, 0.3), due, "{question} {claim}");
        }
        let why = focus("Why did the boy fall?");
        assert!(why.holds("A boy trips over a stone.", 0.6) && !why.holds("A boy trips over a stone.", 0.4));
        assert!(!why.holds("A girl trips over a stone.", 0.6));
        assert!(focus("What colour is the dog?").holds("The puppy is brown.", 0.75), "other words for the same");
        assert!(!focus("What colour is the dog?").holds("There is a puppy.", 0.75), "what is asked must be said");
        assert!(!focus("Why is the dog chasing the ball?").holds("The dog is chasing the ball.", 0.9));
    }

    #[test]
    fn a_question_supposes_things() {
        let table: [(&str, &[&str]); 16] = [
            ("What colour is the dog?", &["dog"]),
            ("Why is the dog chasing the ball?", &["dog", "ball"]),
            ("What colour is the bus that hits the cyclist?", &["bus", "cyclist"]),
            ("Why did the police arrest the man in the yellow coat?", &["police", "man", "coat"]),
            ("When does the airplane land on the street?", &["airplane", "street"]),
            ("Why does the cyclist feed the elephant?", &["cyclist", "elephant"]),
            ("What is the cat on the seat doing?", &["cat", "seat"]),
            ("Which car drives over the rabbit?", &["rabbit"]),
            ("Who is in the car?", &["person", "car"]),
            ("Who is on the left?", &["person"]),
            ("Who rides the horse?", &["person", "horse"]),
            ("How many people are there?", &["people"]),
            ("What is the colour of the car?", &["car"]),
            ("What is in the foreground?", &[]),
            ("What happens?", &[]),
            ("", &[]),
        ];
        for (question, due) in table {
            assert_eq!(focus(question).supposes, due, "{question}");
        }
        assert!(speaks_of("There is a brown animal.", "dog") && speaks_of("Two dogs run.", "dog"));
        assert!(!speaks_of("There is a car.", "dog"));
    }
}
