//! What the language model reads: a constant beginning with worked examples, then sentences and the question.
//!
//! The constant part is computed once and its memory kept. Of the captions only the sentences that bear on the
//! question are shown, each after the label of its moment: a small model answers better from five lines than from
//! fifty, and sooner. Sentences and questions are quoted as plain text: the tokenizer cannot turn them into control
//! tokens, and what they say has no bearing on the grammar.

use super::rank::Ranked;
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
    start: u32,
    end: u32,
}

/// The part of a prompt that changes, and the lines it holds, best first.
pub(super) struct Prompt {
    pub(super) tokens: Vec<u32>,
    pub(super) lines: Vec<Ranked>,
}

impl Prompts {
    /// The error names the token that is missing.
    pub(super) fn new(tokenizer: &Tokenizer) -> Result<Self, String> {
        let special = |name: &str| tokenizer.special(name).ok_or_else(|| format!("it has no token {name}"));
        let (start, end) = (special("<|im_start|>")?, special("<|im_end|>")?);
        Ok(Self { tokenizer: tokenizer.clone(), start, end })
    }

    /// System text and examples, the same for every request.
    pub(super) fn prefix(&self) -> Vec<u32> {
        let mut tokens = self.turn("system", SYSTEM);
        for (user, assistant) in EXAMPLES {
            tokens.extend(self.turn("user", user));
            tokens.extend(self.turn("assistant", assistant));
        }
        tokens
    }

    /// As many of the `lines`, best first, as fit into `room` tokens, then the question and the beginning of the answer.
    pub(super) fn prompt(&self, question: &str, lines: Vec<Ranked>, room: usize) -> Prompt {
        let mut tail = self.clipped(&format!("Question: {}", one_line(question)), QUESTION);
        tail.push(self.end);
        tail.extend(self.tokenizer.encode("\n"));
        tail.extend(self.open("assistant"));
        let mut tokens = self.open("user");
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

    fn turn(&self, role: &str, text: &str) -> Vec<u32> {
        let mut tokens = self.open(role);
        tokens.extend(self.tokenizer.encode(text));
        tokens.push(self.end);
        tokens.extend(self.tokenizer.encode("\n"));
        tokens
    }

    fn open(&self, role: &str) -> Vec<u32> {
        [vec![self.start], self.tokenizer.encode(&format!("{role}\n"))].concat()
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
