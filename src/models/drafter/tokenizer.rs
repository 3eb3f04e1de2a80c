//! The byte-pair tokenizer inside a GGUF file, as llama.cpp reads it, and the same tokens as a trie for grammars.
//!
//! candle's own reader falls back to GPT-2's splitting for pre-tokenizer `smollm` and so joins digits that the model
//! was trained to see one by one. Text never becomes a special token here, whatever it says: those are added by name.

use std::collections::HashMap;
use std::sync::Arc;

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use toktrie::{TokRxInfo, TokTrie, TokenId, TokenizerEnv};

use super::{Gguf, GgufError};
use crate::models::net::gguf::Value;

/// Ordinary tokens in GGUF's `token_type`; all others are special.
const NORMAL: Value = Value::Int(1);

/// Text to token ids and back. Cloning shares the tables.
#[derive(Clone)]
pub struct Tokenizer(Arc<Inner>);

struct Inner {
    pairs: tokenizers::Tokenizer,
    trie: TokTrie,
}

impl Tokenizer {
    /// Reads `tokenizer.ggml.*`; the error says what is missing or not supported.
    pub fn from_gguf(gguf: &Gguf<'_>) -> Result<Self, String> {
        let says = |error: GgufError| error.to_string();
        let kind = (gguf.text("tokenizer.ggml.model"), gguf.text("tokenizer.ggml.pre"));
        if kind != (Ok("gpt2"), Ok("smollm")) {
            return Err("its tokenizer is not gpt2/smollm, the only one supported".to_owned());
        }
        let texts = gguf.texts("tokenizer.ggml.tokens").map_err(says)?;
        let merges = gguf.texts("tokenizer.ggml.merges").map_err(says)?;
        let end = gguf.size("tokenizer.ggml.eos_token_id").map_err(says)?;
        if end >= texts.len() {
            return Err(format!("its end token {end} does not exist"));
        }
        let mut pairs = tokenizers::Tokenizer::new(pairs(&texts, &merges)?);
        // One digit at a time, then GPT-2's words; no normalisation, no added tokens.
        let split = Sequence::new(vec![Digits::new(true).into(), ByteLevel::new(false, false, true).into()]);
        pairs.with_pre_tokenizer(Some(split));
        let Some(Value::List(types)) = gguf.value("tokenizer.ggml.token_type") else {
            return Err("it does not say which tokens are special".to_owned());
        };
        let trie = trie(&texts, types, end as TokenId);
        Ok(Self(Arc::new(Inner { pairs, trie })))
    }

    /// The ids of `text`; never a special token.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        // Every byte is a token, so there is no text that fails; none of it is the harmless answer.
        self.0.pairs.encode_fast(text, false).map(|encoding| encoding.get_ids().to_vec()).unwrap_or_default()
    }

    /// The id of a special token such as `<|im_start|>`.
    pub fn special(&self, name: &str) -> Option<u32> {
        self.0.trie.get_special_token(name)
    }

    /// The text of `tokens` without special ones; halves of characters are replaced.
    pub fn decode(&self, tokens: &[u32]) -> String {
        String::from_utf8_lossy(&self.0.trie.decode_ext(tokens, false)).into_owned()
    }
}

impl TokenizerEnv for Tokenizer {
    fn tok_trie(&self) -> &TokTrie {
        &self.0.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.0.trie.tokenize_with_greedy_fallback(bytes, |text| self.encode(text))
    }
}

fn pairs(texts: &[&str], merges: &[&str]) -> Result<BPE, String> {
    let vocabulary: Vocab = texts.iter().zip(0u32..).map(|(text, id)| ((*text).to_owned(), id)).collect();
    let split = |merge: &&str| merge.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
    let merges: Option<Vec<_>> = merges.iter().map(split).collect();
    let merges = merges.ok_or("a merge of its tokenizer is not a pair")?;
    let bpe = BPE::builder().vocab_and_merges(vocabulary, merges).build();
    bpe.map_err(|error| format!("its merges do not fit its vocabulary: {error}"))
}

fn trie(texts: &[&str], types: &[Value], end: TokenId) -> TokTrie {
    let bytes = visible_bytes();
    let words: Vec<Vec<u8>> = texts
        .iter()
        .enumerate()
        .map(|(id, text)| {
            if types.get(id) == Some(&NORMAL) {
                text.chars().filter_map(|c| bytes.get(&c).copied()).collect()
            } else {
                [&[TokTrie::SPECIAL_TOKEN_MARKER], text.as_bytes()].concat()
            }
        })
        .collect();
    TokTrie::from(&TokRxInfo::new(words.len() as u32, end), &words)
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
