//! SmolLM2 as the judge of the design `caption-llm-judge`: how much likelier "Yes" is than "No" as the next word.
//!
//! Nothing is generated: one pass over the prompt, two logits, one probability. The model is the drafter's, with memories
//! of its own for the two constant prompts. It is there so that the paper's ablation can be run; 135 M parameters judge
//! badly, and the README says how badly.

use std::path::Path;

use super::{Gguf, Llama, Memory, Shape, Tokenizer};
use crate::domain::Fingerprint;
use crate::models::device;
use crate::models::weights::{self, Whose};
use crate::seams::{ChatJudge, ModelError, Pair, Strictness};

const MODEL: &str = "chat-judge";
/// Grows with every change of the prompts.
const PROMPT: &str = "chat-judge-1";
/// Positions: the constant prompt, a long caption, a long claim.
const CONTEXT: usize = 1024;
/// Tokens of a caption and of a claim; the rest is cut off.
const LONGEST: (usize, usize) = (512, 128);

const STRICT: &str = "You check claims about a picture. Answer Yes only if the caption explicitly states everything that \
    the claim states. If the caption does not mention something, answer No.";
const LENIENT: &str = "You check claims about a picture. Answer Yes if the caption supports the claim or makes it \
    likely. Answer No if the caption speaks against the claim or has nothing to do with it.";

/// Caption, claim, answer.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("There are two dogs and a man. The man wears a red coat.", "There is a man in a red coat.", "Yes"),
    ("There is a white van on the left.", "A dog is barking.", "No"),
    ("Three people stand at a table.", "There are three people.", "Yes"),
    ("There is a red car.", "There is a blue car.", "No"),
];

/// A constant prompt that was read once.
struct Primed {
    memory: Memory,
    length: usize,
}

/// A small language model that answers yes or no.
pub struct SmolLm2Judge {
    network: Llama,
    tokenizer: Tokenizer,
    strict: Primed,
    lenient: Primed,
    turn: [u32; 2],
    /// "Yes" and "No".
    answers: [u32; 2],
    fingerprint: Fingerprint,
}

impl SmolLm2Judge {
    /// Reads `model.gguf` under `dir` and computes the constant prompts.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("model.gguf");
        let unusable = |reason: String| weights::unusable(MODEL, &path, reason);
        let bytes = weights::read(Whose::Ours, MODEL, &path)?;
        let gguf = Gguf::parse(&bytes).map_err(|error| unusable(error.to_string()))?;
        let shape = Shape::read(&gguf, CONTEXT).map_err(|error| unusable(error.to_string()))?;
        device::announce(MODEL, 2 * bytes.len() as u64 + shape.memory_bytes())?;
        let network = Llama::load(&gguf, shape).map_err(|error| unusable(error.to_string()))?;
        let tokenizer = Tokenizer::from_gguf(&gguf).map_err(unusable)?;
        let special = |name: &str| tokenizer.special(name).ok_or_else(|| unusable(format!("it has no token {name}")));
        let turn = [special("<|im_start|>")?, special("<|im_end|>")?];
        let word = |word: &str| match tokenizer.encode(word)[..] {
            [token] => Ok(token),
            _ => Err(unusable(format!("{word} is not one of its tokens"))),
        };
        let answers = [word("Yes")?, word("No")?];
        let primed = |system| {
            let (mut memory, tokens) = (network.memory(), prefix(&tokenizer, turn, system));
            network.feed(&mut memory, &tokens).map_err(|error| weights::failed(MODEL, error))?;
            Ok::<_, ModelError>(Primed { memory, length: tokens.len() })
        };
        let (strict, lenient) = (primed(STRICT)?, primed(LENIENT)?);
        let weights = weights::fingerprint("smollm2-135m-instruct", &bytes);
        let fingerprint = Fingerprint::new(format!("{weights}/{PROMPT}"));
        Ok(Self { network, tokenizer, strict, lenient, turn, answers, fingerprint })
    }

    fn one(&mut self, pair: &Pair, strictness: Strictness) -> Result<f32, ModelError> {
        let clipped = |text: &str, limit: usize| {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut tokens = self.tokenizer.encode(&words.chars().take(limit * 12).collect::<String>());
            tokens.truncate(limit);
            tokens
        };
        let mut tokens = open(&self.tokenizer, self.turn, "user");
        tokens.extend(self.tokenizer.encode("Caption: "));
        tokens.extend(clipped(&pair.premise, LONGEST.0));
        tokens.extend(self.tokenizer.encode("\nClaim: "));
        tokens.extend(clipped(&pair.hypothesis, LONGEST.1));
        tokens.push(self.turn[1]);
        tokens.extend(self.tokenizer.encode("\n"));
        tokens.extend(open(&self.tokenizer, self.turn, "assistant"));
        let primed = match strictness {
            Strictness::Strict => &mut self.strict,
            Strictness::Lenient => &mut self.lenient,
        };
        self.network.truncate(&mut primed.memory, primed.length);
        let state = self.network.feed(&mut primed.memory, &tokens).map_err(|error| weights::failed(MODEL, error))?;
        let state = state.ok_or_else(|| weights::failed(MODEL, "the caption is longer than the context"))?;
        let logits = self.network.logits(&state, &self.answers);
        Ok((1.0 + (logits[1] - logits[0]).exp()).recip())
    }
}

impl ChatJudge for SmolLm2Judge {
    fn supports(&mut self, pairs: &[Pair], strictness: Strictness) -> Result<Vec<f32>, ModelError> {
        pairs.iter().map(|pair| self.one(pair, strictness)).collect()
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

fn open(tokenizer: &Tokenizer, turn: [u32; 2], role: &str) -> Vec<u32> {
    [vec![turn[0]], tokenizer.encode(&format!("{role}\n"))].concat()
}

fn prefix(tokenizer: &Tokenizer, turn: [u32; 2], system: &str) -> Vec<u32> {
    let said = |role: &str, text: &str| {
        let end = [vec![turn[1]], tokenizer.encode("\n")].concat();
        [open(tokenizer, turn, role), tokenizer.encode(text), end].concat()
    };
    let mut tokens = said("system", system);
    for (caption, claim, answer) in EXAMPLES {
        tokens.extend(said("user", &format!("Caption: {caption}\nClaim: {claim}")));
        tokens.extend(said("assistant", answer));
    }
    tokens
}
