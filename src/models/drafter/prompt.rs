//! What the language model reads: a constant beginning with worked examples, then sentences and the question.
//!
//! The constant part is computed once and its memory kept. Of the captions only the sentences that bear on the
//! question are shown, each after the label of its moment: a small model answers better from five lines than from
//! fifty, and sooner. The turns are those of the model's own chat template. Sentences and questions are quoted as plain
//! text: the tokenizer cannot turn them into control tokens, and what they say has no bearing on the grammar.

use super::rank::Ranked;
use super::template::{Role, Template};
use super::tokenizer::Tokenizer;

/// Tokens that a sentence may take; the rest is cut off after a whole word.
const SENTENCE: usize = 64;
/// Tokens that the question may take.
const QUESTION: usize = 128;

const SYSTEM: &str = "You answer a question about a video with short facts. Each fact repeats what one line says and \
    names its line.";

/// Lines with a question, and what a good drafter answers.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "t2: There are two dogs, a man and a white van.\n\
         t0: There is a dog.\n\
         Question: How many dogs are there?",
        r#"[{"timestamp": "t2", "claim": "There are two dogs."}, {"timestamp": "t0", "claim": "There is a dog."}]"#,
    ),
    (
        "t1: A woman in a blue coat is sitting on a bench.\n\
         t1: A child runs towards the woman.\n\
         t3: The bench is empty.\n\
         Question: What is the woman doing?",
        r#"[{"timestamp": "t1", "claim": "A woman is sitting on a bench."}]"#,
    ),
    (
        "t0: Two men wear green and one wears white.\n\
         t4: The bus is on the left in the background.\n\
         Question: What colour are the clothes and where is the bus?",
        r#"[{"timestamp": "t0", "claim": "Two men wear green and one wears white."}, {"timestamp": "t4", "claim": "The bus is on the left in the background."}]"#,
    ),
];

/// Turns requests into tokens.
pub(super) struct Prompts {
    tokenizer: Tokenizer,
    /// System text, examples, and the beginning of the turn that asks.
    prefix: Vec<u32>,
    /// The end of that turn, and the beginning of the answer.
    tail: Vec<u32>,
}

/// The part of a prompt that changes, and the lines it holds, best first.
pub(super) struct Prompt {
    pub(super) tokens: Vec<u32>,
    pub(super) lines: Vec<Ranked>,
}

impl Prompts {
    /// Lays the constant messages out as `template` says; the error says what it does to them.
    pub(super) fn new(tokenizer: &Tokenizer, template: &Template) -> Result<Self, String> {
        let examples =
            EXAMPLES.iter().flat_map(|(user, assistant)| [(Role::User, *user), (Role::Assistant, *assistant)]);
        let constant: Vec<(Role, &str)> = std::iter::once((Role::System, SYSTEM)).chain(examples).collect();
        let roles: Vec<Role> = constant.iter().map(|(role, _)| *role).chain([Role::User]).collect();
        let mut around = template.around(&roles)?;
        let tail = around.pop().map_or(Vec::new(), |end| tokenizer.encode_marked(&end));
        let mut prefix = Vec::new();
        let contents = constant.iter().map(|(_, text)| *text).chain([""]);
        for (before, content) in around.iter().zip(contents) {
            prefix.extend(tokenizer.encode_marked(before));
            prefix.extend(tokenizer.encode(content));
        }
        if let Some(begin) = tokenizer.begin().filter(|begin| prefix.first() != Some(begin)) {
            prefix.insert(0, begin);
        }
        Ok(Self { tokenizer: tokenizer.clone(), prefix, tail })
    }

    /// What is the same for every request.
    pub(super) fn prefix(&self) -> &[u32] {
        &self.prefix
    }

    /// As many of the `lines`, best first, as fit into `room` tokens, then the question and the beginning of the answer.
    pub(super) fn prompt(&self, question: &str, lines: Vec<Ranked>, room: usize) -> Prompt {
        let mut tail = self.clipped(&format!("Question: {}", one_line(question)), QUESTION);
        tail.extend(&self.tail);
        let mut tokens = Vec::new();
        let mut shown = Vec::new();
        for line in lines {
            let sentence = self.clipped(&format!("{}: {}", label(line.caption), line.sentence), SENTENCE);
            let sentence = [sentence, self.tokenizer.encode("\n")].concat();
            if tokens.len() + sentence.len() + tail.len() > room {
                break;
            }
            tokens.extend(sentence);
            shown.push(line);
        }
        tokens.extend(tail);
        Prompt { tokens, lines: shown }
    }

    /// The longest beginning of `text` in whole words that takes at most `limit` tokens.
    fn clipped(&self, text: &str, limit: usize) -> Vec<u32> {
        // A token is at least one byte: no need to look at more text than could ever fit.
        let mut tokens = self.tokenizer.encode(&text.chars().take(limit * 12).collect::<String>());
        let starts_word = |token: &u32| self.tokenizer.decode(&[*token]).starts_with(' ');
        if tokens.len() > limit {
            let cut = tokens[..=limit].iter().rposition(starts_word).filter(|cut| *cut > limit / 2).unwrap_or(limit);
            tokens.truncate(cut);
        }
        tokens
    }
}

/// The name of the moment at `index` of a request.
pub(super) fn label(index: usize) -> String {
    format!("t{index}")
}

fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
