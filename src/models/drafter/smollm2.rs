//! SmolLM2 as a drafter: greedy decoding inside the grammar, so the same request gives the same claims.
//!
//! Owns the network, the memory of the constant prompt and nothing between requests. Where the model's claims are
//! all unfit, the extractive drafter answers instead: an empty draft would hide what the captions do say.

use std::collections::BTreeSet;
use std::path::Path;

use llguidance::Matcher;

use super::claims::{self, Drafted};
use super::extractive::{extract, sentences};
use super::grammar::Grammar;
use super::prompt::{Prompt, Prompts, label};
use super::rank::rank;
use super::{Gguf, Llama, Memory, Shape, Tokenizer};
use crate::domain::{Citation, Claim, Fingerprint};
use crate::models::weights;
use crate::seams::{DraftRequest, Drafter, ModelError};

const MODEL: &str = "drafter";
/// Positions the network remembers: bounds its memory to 70 MB.
const CONTEXT: usize = 1536;
/// Tokens a claim may take with its share of the JSON around it.
const CLAIM: usize = 56;
/// Sentences that the model is shown.
const LINES: usize = 10;
/// More claims than this are not asked of a model of this size.
const MAX_CLAIMS: usize = 8;
/// Divides the logits of words that earlier claims used.
const REPETITION: f32 = 1.15;

/// A language model held to a grammar.
pub struct SmolLm2 {
    network: Llama,
    tokenizer: Tokenizer,
    prompts: Prompts,
    grammar: Grammar,
    /// Holds the constant prompt, and during a draft what follows it.
    memory: Memory,
    prefix: usize,
    fingerprint: Fingerprint,
}

impl SmolLm2 {
    /// Reads `model.gguf` under `dir` and computes the constant prompt.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("model.gguf");
        let unusable = |reason: String| weights::unusable(MODEL, &path, reason);
        let bytes = weights::read(MODEL, &path)?;
        let gguf = Gguf::parse(&bytes).map_err(|error| unusable(error.to_string()))?;
        let shape = Shape::read(&gguf, CONTEXT).map_err(|error| unusable(error.to_string()))?;
        let network = Llama::load(&gguf, shape).map_err(|error| unusable(error.to_string()))?;
        let tokenizer = Tokenizer::from_gguf(&gguf).map_err(unusable)?;
        let prompts = Prompts::new(&tokenizer).map_err(unusable)?;
        let grammar = Grammar::new(&tokenizer).map_err(unusable)?;
        let mut memory = network.memory();
        let prefix = prompts.prefix();
        feed(&network, &mut memory, &prefix)?;
        let fingerprint = weights::fingerprint("smollm2-135m-instruct", &bytes);
        Ok(Self { network, tokenizer, prompts, grammar, memory, prefix: prefix.len(), fingerprint })
    }

    /// What the model writes for `request` before any of it is judged fit.
    fn write(&mut self, request: &DraftRequest, claims: usize) -> Result<Vec<Drafted>, ModelError> {
        let room = self.network.shape().context - self.prefix - claims * CLAIM;
        let lines = rank(&request.question, &sentences(request), LINES);
        let Prompt { tokens, lines } = self.prompts.prompt(&request.question, lines, room);
        let labels: BTreeSet<String> = lines.iter().map(|line| label(line.caption)).collect();
        let mut texts: Vec<&str> = lines.iter().map(|line| line.sentence.as_str()).collect();
        texts.push(&request.question);
        let mut matcher = self.grammar.matcher(&labels, &texts, claims).map_err(failed)?;
        self.network.truncate(&mut self.memory, self.prefix);
        let written = self.decode(&mut matcher, tokens, claims * CLAIM)?;
        Ok(claims::parse(&self.tokenizer.decode(&written)))
    }

    /// Continues `pending` (the prompt) until the grammar ends, a claim repeats, or `budget` tokens are written.
    fn decode(&mut self, matcher: &mut Matcher, mut pending: Vec<u32>, budget: usize) -> Result<Vec<u32>, ModelError> {
        let mut written: Vec<u32> = Vec::new();
        while written.len() < budget {
            let forced = matcher.consume_ff_tokens();
            written.extend(&forced);
            pending.extend(forced);
            if matcher.is_stopped() || self.repeats(&written) {
                break;
            }
            let allowed = matcher.compute_mask().map_err(|error| failed(error.to_string()))?.to_list();
            let next = match allowed[..] {
                [] => break,
                [only] => only,
                _ => {
                    let state = feed(&self.network, &mut self.memory, &pending)?;
                    pending.clear();
                    choose(&allowed, &self.network.logits(&state, &allowed), &written)
                }
            };
            matcher.consume_token(next).map_err(|error| failed(error.to_string()))?;
            written.push(next);
            pending.push(next);
        }
        Ok(written)
    }

    fn repeats(&self, written: &[u32]) -> bool {
        let text = self.tokenizer.decode(written);
        text.ends_with('}') && claims::repeats(&claims::parse(&text))
    }
}

impl Drafter for SmolLm2 {
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        let claims = request.max_claims.min(MAX_CLAIMS);
        // What the extractive drafter finds nothing in has nothing for a model either.
        if claims == 0 || extract(request, 1).is_empty() {
            return Ok(Vec::new());
        }
        let kept = claims::keep(self.write(request, claims)?, &sentences(request), claims);
        if kept.is_empty() {
            return Ok(extract(request, claims));
        }
        let claim = |Drafted { caption, text }| {
            let moment = &request.moments[caption];
            Claim { text, citation: Citation { stream: moment.stream.clone(), at: moment.at } }
        };
        Ok(kept.into_iter().map(claim).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

fn feed(network: &Llama, memory: &mut Memory, tokens: &[u32]) -> Result<super::State, ModelError> {
    let state = network.feed(memory, tokens).map_err(|error| failed(error.to_string()))?;
    state.ok_or_else(|| failed("the prompt is empty or longer than the context".to_owned()))
}

/// The likeliest of the `allowed` tokens after the penalty for those already `written`; the first of equals.
fn choose(allowed: &[u32], logits: &[f32], written: &[u32]) -> u32 {
    let mut best = (allowed[0], f32::NEG_INFINITY);
    for (token, logit) in allowed.iter().zip(logits) {
        let repeated = written.contains(token);
        let factor = if !repeated {
            1.0
        } else if *logit > 0.0 {
            REPETITION.recip()
        } else {
            REPETITION
        };
        if logit * factor > best.1 {
            best = (*token, logit * factor);
        }
    }
    best.0
}

fn failed(reason: String) -> ModelError {
    ModelError::Run { model: MODEL.to_owned(), reason }
}
