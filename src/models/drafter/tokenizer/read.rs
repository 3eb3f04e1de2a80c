//! From a file's metadata to the tables of a tokenizer.
//!
//! candle's own reader falls back to GPT-2's splitting for pre-tokenizer `smollm` and so joins digits that the model
//! was trained to see one by one.

use std::collections::HashMap;

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::Replace;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;
use toktrie::{TokRxInfo, TokTrie, TokenId};

use super::Inner;
use crate::models::net::gguf::{Gguf, GgufError, Value};

/// GGUF's `token_type`: text, what a user defined, and a single byte. The others are names that text does not become.
const NORMAL: i64 = 1;
const USER: i64 = 4;
const BYTE: i64 = 6;
/// How SentencePiece writes a space.
const SPACE: &str = "\u{2581}";

/// How words are cut before pairs are joined (`llama_vocab` of llama.cpp).
const QWEN: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

pub(super) fn read(gguf: &Gguf<'_>) -> Result<Inner, String> {
    let says = |error: GgufError| error.to_string();
    let texts = gguf.texts("tokenizer.ggml.tokens").map_err(says)?;
    let types = types(gguf, &texts)?;
    let end = gguf.size("tokenizer.ggml.eos_token_id").map_err(says)?;
    if end >= texts.len() {
        return Err(format!("its end token {end} does not exist"));
    }
    let model = gguf.text("tokenizer.ggml.model").map_err(says)?;
    let pairs = match model {
        "gpt2" => byte_pairs(gguf, &texts)?,
        "llama" => pieces(gguf, &texts, &types)?,
        other => return Err(format!("its tokenizer {other:?} is not supported: gpt2 and llama are")),
    };
    let is_special = |id: usize| !matches!(types[id], NORMAL | BYTE);
    let special: HashMap<String, TokenId> =
        (0..texts.len()).filter(|id| is_special(*id)).map(|id| (texts[id].to_owned(), id as TokenId)).collect();
    let begins = matches!(gguf.value("tokenizer.ggml.add_bos_token"), Some(Value::Bool(true)));
    let begin = gguf.size("tokenizer.ggml.bos_token_id").ok().filter(|id| begins && *id < texts.len());
    let visible = (model == "gpt2").then(visible_bytes);
    let words: Vec<Vec<u8>> = (0..texts.len()).map(|id| bytes(texts[id], types[id], visible.as_ref())).collect();
    Ok(Inner {
        pairs,
        trie: TokTrie::from(&TokRxInfo::new(words.len() as u32, end as TokenId), &words),
        longest: special.keys().map(String::len).max().unwrap_or(0),
        special,
        begin: begin.map(|id| id as TokenId),
        end: end as TokenId,
    })
}

/// The type of every token; runs of spaces and lines that a user defined are text.
fn types(gguf: &Gguf<'_>, texts: &[&str]) -> Result<Vec<i64>, String> {
    let Some(Value::List(list)) = gguf.value("tokenizer.ggml.token_type") else {
        return Err("it does not say which tokens are special".to_owned());
    };
    let blank = |text: &str| text.chars().all(|c| c.is_whitespace() || SPACE.contains(c));
    let kind = |(value, text): (&Value, &&str)| match value {
        Value::Int(USER) if blank(text) => Some(NORMAL),
        Value::Int(kind) => Some(*kind),
        _ => None,
    };
    let types: Option<Vec<i64>> = list.iter().zip(texts).map(kind).collect();
    types.filter(|types| types.len() == texts.len()).ok_or_else(|| "it has not one type a token".to_owned())
}

fn byte_pairs(gguf: &Gguf<'_>, texts: &[&str]) -> Result<tokenizers::Tokenizer, String> {
    let merges = gguf.texts("tokenizer.ggml.merges").map_err(|error| error.to_string())?;
    let split = |merge: &&str| merge.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
    let merges: Option<Vec<_>> = merges.iter().map(split).collect();
    let merges = merges.ok_or("a merge of its tokenizer is not a pair")?;
    let pre = gguf.text("tokenizer.ggml.pre").map_err(|error| error.to_string())?;
    // Llama 3 takes a word that is a token as it is, whatever its merges say.
    let bpe = BPE::builder().vocab_and_merges(vocabulary(texts), merges).ignore_merges(pre == "llama-bpe").build();
    let bpe = bpe.map_err(|error| format!("its merges do not fit its vocabulary: {error}"))?;
    let mut pairs = tokenizers::Tokenizer::new(bpe);
    let cut = |pattern: &str| -> Result<Sequence, String> {
        let split = Split::new(SplitPattern::Regex(pattern.to_owned()), SplitDelimiterBehavior::Isolated, false);
        let split = split.map_err(|error| error.to_string())?;
        Ok(Sequence::new(vec![split.into(), ByteLevel::new(false, false, false).into()]))
    };
    let words = match pre {
        // One digit at a time, then GPT-2's words.
        "smollm" => Sequence::new(vec![Digits::new(true).into(), ByteLevel::new(false, false, true).into()]),
        "gpt-2" => Sequence::new(vec![ByteLevel::new(false, false, true).into()]),
        "qwen2" => cut(QWEN)?,
        "llama-bpe" => cut(LLAMA3)?,
        other => return Err(format!("its splitting {other:?} is not supported: smollm, gpt-2, qwen2, llama-bpe are")),
    };
    // No normalisation, no added tokens.
    pairs.with_pre_tokenizer(Some(words));
    Ok(pairs)
}

/// SentencePiece joins the neighbours that make the piece with the highest score: merges in the order of scores.
fn pieces(gguf: &Gguf<'_>, texts: &[&str], types: &[i64]) -> Result<tokenizers::Tokenizer, String> {
    if !matches!(gguf.value("tokenizer.ggml.add_space_prefix"), Some(Value::Bool(false))) {
        return Err("its tokenizer puts a space before every text, which is not supported".to_owned());
    }
    let Some(Value::List(scores)) = gguf.value("tokenizer.ggml.scores") else {
        return Err("its tokenizer has no scores".to_owned());
    };
    let known: HashMap<&str, usize> =
        (0..texts.len()).filter(|id| types[*id] == NORMAL).map(|id| (texts[id], id)).collect();
    let mut merges: Vec<(f64, (String, String))> = Vec::new();
    for (text, id) in &known {
        let Some(Value::Float(score)) = scores.get(*id) else { return Err("its tokenizer lacks a score".to_owned()) };
        let cuts = text.char_indices().skip(1).map(|(at, _)| text.split_at(at));
        let both = cuts.filter(|(a, b)| known.contains_key(a) && known.contains_key(b));
        merges.extend(both.map(|(a, b)| (*score, (a.to_owned(), b.to_owned()))));
    }
    merges.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    let merges = merges.into_iter().map(|(_, merge)| merge).collect();
    let unknown = (0..texts.len()).find(|id| types[*id] == 2).map(|id| texts[id].to_owned());
    let mut builder = BPE::builder().vocab_and_merges(vocabulary(texts), merges).byte_fallback(true).fuse_unk(true);
    if let Some(unknown) = unknown {
        builder = builder.unk_token(unknown);
    }
    let bpe = builder.build().map_err(|error| format!("its pieces cannot be used: {error}"))?;
    let mut pairs = tokenizers::Tokenizer::new(bpe);
    let spaces = Replace::new(" ", SPACE).map_err(|error| error.to_string())?;
    pairs.with_normalizer(Some(spaces)).map_err(|error| error.to_string())?;
    Ok(pairs)
}

fn vocabulary(texts: &[&str]) -> Vocab {
    texts.iter().zip(0u32..).map(|(text, id)| ((*text).to_owned(), id)).collect()
}

/// What a token stands for; special ones carry their name behind a mark.
fn bytes(text: &str, kind: i64, visible: Option<&HashMap<char, u8>>) -> Vec<u8> {
    match (kind, visible) {
        (NORMAL, Some(visible)) => text.chars().filter_map(|c| visible.get(&c).copied()).collect(),
        (NORMAL, None) => text.replace(SPACE, " ").into_bytes(),
        (BYTE, _) => {
            let digits = text.trim_start_matches("<0x").trim_end_matches('>');
            u8::from_str_radix(digits, 16).map_or_else(|_| text.as_bytes().to_vec(), |byte| vec![byte])
        }
        _ => [&[TokTrie::SPECIAL_TOKEN_MARKER], text.as_bytes()].concat(),
    }
}

/// GPT-2's printable stand-in for each byte (`bytes_to_unicode`), reversed.
fn visible_bytes() -> HashMap<char, u8> {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut hidden = 0x100u32..;
    let stand_in = |byte: u8| {
        let code = if printable(byte) { Some(u32::from(byte)) } else { hidden.next() };
        code.and_then(char::from_u32).map(|c| (c, byte))
    };
    (0..=u8::MAX).filter_map(stand_in).collect()
}
