//! The grammar that a draft cannot leave: a JSON array of `{timestamp, claim}`.
//!
//! Timestamps are the labels of the retrieved moments and nothing else. Claims are one sentence of words that the
//! captions or the question hold, joined by function words: a model of 135 M parameters invents objects freely, and
//! this is where it is stopped before any judge has to be asked.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::TokEnv;
use llguidance::{Matcher, ParserFactory};

use super::tokenizer::Tokenizer;
use crate::domain::words::words;

/// Words of a claim after its first; fewer than three more is no statement.
const MORE_WORDS: (usize, usize) = (3, 17);
/// A longer word is not copied.
const MAX_WORD: usize = 24;
/// More distinct words than this are not offered.
const MAX_WORDS: usize = 600;

/// What joins the captions' own words. No negation and no number: those must come from a caption or the question.
const JOINTS: &[&str] = &[
    "a", "an", "the", "is", "are", "was", "were", "has", "have", "there", "and", "or", "of", "in", "on", "at", "to",
    "with", "by", "near", "behind", "beside", "under", "over", "from", "into", "while", "who", "that", "it", "they",
    "its", "their", "his", "her", "he", "she", "one", "some", "both", "other", "another", "also", "being", "as",
];

/// Compiles grammars for one tokenizer.
pub(super) struct Grammar {
    factory: ParserFactory,
}

impl Grammar {
    /// The error is the library's.
    pub(super) fn new(tokenizer: &Tokenizer) -> Result<Self, String> {
        let tokens: TokEnv = Arc::new(tokenizer.clone());
        let mut factory = ParserFactory::new_simple(&tokens).map_err(|error| error.to_string())?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// Accepts one to `claims` claims on the `labels`, in words of `texts`.
    pub(super) fn matcher(&self, labels: &BTreeSet<String>, texts: &[&str], claims: usize) -> Result<Matcher, String> {
        let grammar = TopLevelGrammar::from_lark(lark(labels, &lexicon(texts), claims));
        let matcher = Matcher::new(self.factory.create_parser(grammar));
        matcher.get_error().map_or(Ok(matcher), Err)
    }
}

fn lark(labels: &BTreeSet<String>, lexicon: &[String], claims: usize) -> String {
    let quoted: Vec<String> = labels.iter().map(|label| format!("\"{label}\"")).collect();
    let first: BTreeSet<String> = lexicon.iter().map(|word| capital(word)).collect();
    let (first, later) = (first.into_iter().collect::<Vec<_>>().join("|"), lexicon.join("|"));
    let (least, most) = MORE_WORDS;
    // "{0,0}" is refused by the library.
    let more = if claims > 1 { format!("(\", \" item){{0,{}}} ", claims - 1) } else { String::new() };
    let mut grammar = format!("start: \"[\" item {more}\"]\"\n");
    grammar += "item: \"{\\\"timestamp\\\": \\\"\" LABEL \"\\\", \\\"claim\\\": \\\"\" CLAIM \"\\\"}\"\n";
    // Writing to a string cannot fail.
    let _ = writeln!(grammar, "LABEL: {}", quoted.join(" | "));
    let _ = writeln!(grammar, "CLAIM: /({first})(,? ({later})){{{least},{most}}}\\./");
    grammar
}

/// The words that a claim may use: letters, digits, inner apostrophes and hyphens, so nothing in them is special to a
/// regular expression or to JSON.
fn lexicon(texts: &[&str]) -> Vec<String> {
    let mut lexicon: BTreeSet<String> = JOINTS.iter().map(|word| (*word).to_owned()).collect();
    for word in texts.iter().flat_map(|text| words(text)) {
        if lexicon.len() < MAX_WORDS && word.chars().count() <= MAX_WORD {
            lexicon.insert(word.to_owned());
            lexicon.insert(word.to_lowercase());
        }
    }
    lexicon.into_iter().collect()
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_names_labels_and_words() {
        let grammar = lark(&BTreeSet::from(["t0".to_owned(), "t1".to_owned()]), &["a".to_owned(), "dog".to_owned()], 2);
        let expected = "start: \"[\" item (\", \" item){0,1} \"]\"\n\
            item: \"{\\\"timestamp\\\": \\\"\" LABEL \"\\\", \\\"claim\\\": \\\"\" CLAIM \"\\\"}\"\n\
            LABEL: \"t0\" | \"t1\"\nCLAIM: /(A|Dog)(,? (a|dog)){3,17}\\./\n";
        assert_eq!(grammar, expected);
        let one = lark(&BTreeSet::from(["t0".to_owned()]), &["a".to_owned()], 1);
        assert!(one.starts_with("start: \"[\" item \"]\"\n"), "{one}");
    }

    #[test]
    fn nothing_special_enters_the_lexicon() {
        let lexicon = lexicon(&["A \"dog\" (or/and\\[cat]) x{2}.* it's x-ray", &"y".repeat(99)]);
        let safe = |c: char| c.is_alphanumeric() || c == '\'' || c == '-';
        assert!(lexicon.iter().all(|word| word.chars().all(safe)), "{lexicon:?}");
        assert!(lexicon.contains(&"it's".to_owned()) && lexicon.contains(&"cat".to_owned()));
        assert!(!lexicon.contains(&"no".to_owned()) && lexicon.iter().all(|word| word.len() <= MAX_WORD));
    }
}
