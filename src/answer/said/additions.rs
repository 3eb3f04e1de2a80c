//! What a claim adds that a judge of sentences lets pass: that it happens again, that they are together, what somebody's
//! skin or origin is. Pure.
//!
//! "A person wears black." was taken for "A dark-skinned person is there.", and "There are three people." for "There are
//! people again.". Such words must be said as they are.

/// Must be said where they are claimed.
#[rustfmt::skip]
const ADDITIONS: [&str; 66] = [
    // How often, how long.
    "again", "still", "already", "always", "often", "usually", "twice", "repeatedly", "constantly", "forever",
    "suddenly", "another",
    // Who is with whom.
    "together", "alone", "apart", "separately", "each",
    // What somebody looks like, "dark-skinned", "grey-haired", "middle-aged".
    "skinned", "haired", "aged", "eyed", "faced", "looking", "bearded", "bald", "blond", "blonde", "tall", "short", "fat",
    "thin", "old", "elderly", "young", "pregnant", "disabled",
    // Where somebody is from, or what somebody believes or lives like: no picture shows it.
    "asian", "african", "european", "american", "arab", "indian", "chinese", "japanese", "mexican", "hispanic", "latino",
    "caucasian", "foreign", "foreigner", "foreigners", "immigrant", "immigrants", "muslim", "jewish", "christian",
    "hindu", "gay", "lesbian", "homeless", "poor", "rich", "drunk", "armed", "guilty", "suspicious",
];
/// Of clothes as well as of skin.
const SKINS: [&str; 5] = ["black", "white", "brown", "yellow", "red"];
const PEOPLE: [&str; 17] = [
    "person", "people", "persons", "man", "men", "woman", "women", "boy", "boys", "girl", "girls", "child", "children",
    "guy", "guys", "lady", "ladies",
];

/// The first word that a claim adds to a sentence.
pub(super) fn added(said: &[String], stated: &[String]) -> Option<String> {
    let is_said = |word: &str| said.iter().any(|other| other == word);
    let word = stated.iter().find(|word| ADDITIONS.contains(&word.as_str()) && !is_said(word));
    word.cloned().or_else(|| skin(stated).filter(|[colour, _]| !has_skin(said, colour)).map(|pair| pair.join(" ")))
}

/// "Black man": a colour right before a person is no colour of clothes.
fn skin(words: &[String]) -> Option<[String; 2]> {
    let is_skin = |pair: &&[String]| SKINS.contains(&pair[0].as_str()) && PEOPLE.contains(&pair[1].as_str());
    words.windows(2).find(is_skin).map(|pair| [pair[0].clone(), pair[1].clone()])
}

fn has_skin(words: &[String], colour: &str) -> bool {
    words.windows(2).any(|pair| pair[0] == colour && PEOPLE.contains(&pair[1].as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::tokens;
    use super::*;

    #[test]
    fn what_is_added_must_be_said() {
        let table = [
            ("A person wears black.", "A dark-skinned person is there.", Some("skinned")),
            ("A person wears black.", "A black person is there.", Some("black person")),
            ("There is a person.", "There is an Asian person.", Some("asian")),
            ("There are three people.", "There are people again.", Some("again")),
            ("There are about six people.", "People are together.", Some("together")),
            ("There is a car.", "There is another car.", Some("another")),
            ("There is a person.", "An old man is there.", Some("old")),
            ("A black man stands there.", "A black man is there.", None),
            ("An old man stands there.", "An old man is there.", None),
            ("Two men sit together.", "Men sit together.", None),
            ("A person wears black.", "A person wears black.", None),
            ("A person wears black.", "People in black are there.", None),
            ("A black car is there.", "The car is black.", None),
        ];
        for (sentence, claim, due) in table {
            assert_eq!(added(&tokens(sentence), &tokens(claim)).as_deref(), due, "{sentence:?} => {claim:?}");
        }
    }
}
