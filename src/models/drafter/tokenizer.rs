//! The tokenizer inside a GGUF file, as llama.cpp reads it, and the same tokens as a trie for grammars.
//!
//! Byte pairs with the splitting of GPT-2, SmolLM, Llama 3 and Qwen, and SentencePiece by scores (Gemma). Text never
//! becomes a special token here, whatever it says: those stand only in what [`Tokenizer::encode_marked`] is given, which
//! is the model's own chat template.

mod read;

use std::collections::HashMap;
use std::sync::Arc;

use toktrie::{TokTrie, TokenId, TokenizerEnv};

use super::Gguf;

/// Text to token ids and back. Cloning shares the tables.
#[derive(Clone)]
pub struct Tokenizer(Arc<Inner>);

struct Inner {
    pairs: tokenizers::Tokenizer,
    trie: TokTrie,
    /// Every token that text does not become, by what it is called.
    special: HashMap<String, TokenId>,
    /// Length of the longest such name, in bytes.
    longest: usize,
    begin: Option<TokenId>,
    end: TokenId,
}

impl Tokenizer {
    /// Reads `tokenizer.ggml.*`; the error says what is missing or not supported.
    pub fn from_gguf(gguf: &Gguf<'_>) -> Result<Self, String> {
        read::read(gguf).map(|inner| Self(Arc::new(inner)))
    }

    /// The ids of `text`; never a special token.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        // Every byte is a token, so there is no text that fails; none of it is the harmless answer.
        self.0.pairs.encode_fast(text, false).map(|encoding| encoding.get_ids().to_vec()).unwrap_or_default()
    }

    /// The ids of text of our own, in which the names of special tokens are these tokens.
    pub fn encode_marked(&self, text: &str) -> Vec<u32> {
        let (mut ids, mut plain, mut at) = (Vec::new(), 0, 0);
        while at < text.len() {
            let Some((len, id)) = self.special_at(&text[at..]) else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            ids.extend(self.encode(&text[plain..at]));
            ids.push(id);
            at += len;
            plain = at;
        }
        ids.extend(self.encode(&text[plain..]));
        ids
    }

    /// The longest name of a special token that `text` begins with.
    fn special_at(&self, text: &str) -> Option<(usize, TokenId)> {
        let ends = (1..=self.0.longest.min(text.len())).rev().filter(|end| text.is_char_boundary(*end));
        ends.into_iter().find_map(|end| Some((end, *self.0.special.get(&text[..end])?)))
    }

    /// The id of a special token such as `<|im_start|>`.
    pub fn special(&self, name: &str) -> Option<u32> {
        self.0.special.get(name).copied()
    }

    /// What every text begins with, if the model wants that.
    pub fn begin(&self) -> Option<u32> {
        self.0.begin
    }

    /// What a text ends with.
    pub fn end(&self) -> u32 {
        self.0.end
    }

    /// What the special token `id` is called; empty if it is none.
    pub fn name(&self, id: u32) -> &str {
        self.0.special.iter().find(|(_, own)| **own == id).map_or("", |(name, _)| name)
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
