//! A language model as a drafter: greedy decoding inside the grammar, so the same request gives the same claims. Which
//! model is what the GGUF file says: architecture, tokenizer and chat template are all inside.
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
use super::template::Template;
use super::{Gguf, Llama, Memory, Shape, Tokenizer};
use crate::domain::{Citation, Claim, Fingerprint};
use crate::models::device;
use crate::models::weights::{self, Whose};
use crate::seams::{DraftRequest, Drafter, ModelError};

const MODEL: &str = "drafter";
/// Positions the network remembers: bounds its memory, to 70 MB for SmolLM2.
const CONTEXT: usize = 1536;
/// Tokens a claim may take with its share of the JSON around it.
const CLAIM: usize = 56;
/// Tokens of a prompt that are read between two pauses: long enough for whole matrix products.
const SLICE: usize = 128;
/// Sentences that the model is shown.
const LINES: usize = 10;
/// Positions that must be left for a question and its answer.
const LEAST: usize = MAX_CLAIMS * CLAIM + 256;
/// More claims than this are not asked of a model of this size.
const MAX_CLAIMS: usize = 8;
/// Divides the logits of words that earlier claims used.
const REPETITION: f32 = 1.15;

/// A language model held to a grammar.
pub struct LanguageModel {
    network: Llama,
    tokenizer: Tokenizer,
    prompts: Prompts,
    grammar: Grammar,
    /// Holds the constant prompt, and during a draft what follows it.
    memory: Memory,
    prefix: usize,
    fingerprint: Fingerprint,
}

impl LanguageModel {
    /// SmolLM2 of the profile `edge`: `model.gguf` under `dir`.
    pub fn smollm2(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("model.gguf");
        let unusable = |reason: String| weights::unusable(MODEL, &path, reason);
        Self::read(&weights::read(Whose::Ours, MODEL, &path)?, Some("smollm2-135m-instruct")).map_err(unusable)?
    }

    /// Any model of the supported architectures: the GGUF file at `path`.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let refused = |reason: String| ModelError::Load {
            model: MODEL.to_owned(),
            reason: format!("{}: {reason}", path.display()),
        };
        let bytes = weights::read(Whose::Theirs, MODEL, path)?;
        Self::read(&bytes, None).map_err(refused)?
    }

    /// From the bytes of a GGUF file; the first error says what is wrong with them. Computes the constant prompt.
    fn read(bytes: &[u8], name: Option<&str>) -> Result<Result<Self, ModelError>, String> {
        let says = |error: super::GgufError| error.to_string();
        let gguf = Gguf::parse(bytes).map_err(says)?;
        let shape = Shape::read(&gguf, CONTEXT).map_err(says)?;
        let name = name.map_or_else(|| named(gguf.text("general.name").unwrap_or("drafter")), str::to_owned);
        // The file as read, its weights, and the memory of a full context.
        if let Err(error) = device::announce(&name, 2 * bytes.len() as u64 + shape.memory_bytes()) {
            return Ok(Err(error));
        }
        let network = Llama::load(&gguf, shape).map_err(says)?;
        let tokenizer = Tokenizer::from_gguf(&gguf)?;
        let template = gguf.text("tokenizer.chat_template").map_err(says)?;
        let begin = gguf.size("tokenizer.ggml.bos_token_id").map_or("", |id| tokenizer.name(id as u32));
        let template = Template::new(template, begin, tokenizer.name(tokenizer.end()))?;
        let prompts = Prompts::new(&tokenizer, &template)?;
        let grammar = Grammar::new(&tokenizer)?;
        let (mut memory, prefix) = (network.memory(), prompts.prefix().len());
        if prefix + LEAST > network.shape().context {
            return Err(format!("its context of {} tokens is too short", network.shape().context));
        }
        let fed = feed(&network, &mut memory, prompts.prefix());
        let fingerprint = weights::fingerprint(&name, bytes);
        Ok(fed.map(|_| Self { network, tokenizer, prompts, grammar, memory, prefix, fingerprint }))
    }

    /// What the model writes for `request` before any of it is judged fit.
    fn write(
        &mut self,
        request: &DraftRequest,
        claims: usize,
        pause: &mut dyn FnMut(),
    ) -> Result<Vec<Drafted>, ModelError> {
        let room = self.network.shape().context - self.prefix - claims * CLAIM;
        let lines = rank(&request.question, &sentences(request), LINES);
        let Prompt { tokens, lines } = self.prompts.prompt(&request.question, lines, room);
        let labels: BTreeSet<String> = lines.iter().map(|line| label(line.caption)).collect();
        let mut texts: Vec<&str> = lines.iter().map(|line| line.sentence.as_str()).collect();
        texts.push(&request.question);
        let mut matcher = self.grammar.matcher(&labels, &texts, claims).map_err(failed)?;
        self.network.truncate(&mut self.memory, self.prefix);
        let written = self.decode(&mut matcher, tokens, claims * CLAIM, pause)?;
        Ok(claims::parse(&self.tokenizer.decode(&written)))
    }

    /// Continues `pending` (the prompt) until the grammar ends, a claim repeats, or `budget` tokens are written.
    fn decode(
        &mut self,
        matcher: &mut Matcher,
        mut pending: Vec<u32>,
        budget: usize,
        pause: &mut dyn FnMut(),
    ) -> Result<Vec<u32>, ModelError> {
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
                    let state = feed_in_slices(&self.network, &mut self.memory, &pending, pause)?;
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

impl Drafter for LanguageModel {
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        self.draft_with_pauses(request, &mut || ())
    }

    fn draft_with_pauses(&mut self, request: &DraftRequest, pause: &mut dyn FnMut()) -> Result<Vec<Claim>, ModelError> {
        let claims = request.max_claims.min(MAX_CLAIMS);
        // What the extractive drafter finds nothing in has nothing for a model either.
        if claims == 0 || extract(request, 1).is_empty() {
            return Ok(Vec::new());
        }
        let kept = claims::keep(self.write(request, claims, pause)?, &sentences(request), claims);
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

/// Reads `tokens` and pauses behind every slice, so that a long prompt holds nobody up.
fn feed_in_slices(
    network: &Llama,
    memory: &mut Memory,
    tokens: &[u32],
    pause: &mut dyn FnMut(),
) -> Result<super::State, ModelError> {
    let slices = tokens.len().div_ceil(SLICE).max(1);
    let (last, others) = (tokens.chunks(SLICE).next_back().unwrap_or(&[]), tokens.chunks(SLICE).take(slices - 1));
    for slice in others {
        feed(network, memory, slice)?;
        pause();
    }
    let state = feed(network, memory, last)?;
    pause();
    Ok(state)
}

/// What a file calls its model, in the characters of a fingerprint.
fn named(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(plain).take(64).collect()
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
