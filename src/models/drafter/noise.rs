//! A GGUF file of a llama of given sizes whose weights are noise: it says nothing, as fast as a trained one would. For
//! measurements, on machines that have no weights.

use super::Gguf;
use super::GgufError;
use crate::models::net::gguf::Value;

/// GGUF's tags of values and tensors.
const INT: u32 = 4;
const FLOAT: u32 = 6;
const TEXT: u32 = 8;
const LIST: u32 = 9;
const SIGNED: u32 = 5;
const F32: u32 = 0;
const Q4_1: u32 = 3;
const Q8_0: u32 = 8;
/// Every tensor begins at a multiple of it.
const ALIGNMENT: usize = 32;
/// A token that is text.
const NORMAL: i32 = 1;

/// Sizes of a llama.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// Layers.
    pub layers: usize,
    /// Numbers a position.
    pub width: usize,
    /// Numbers inside the feed-forward part.
    pub inner: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Tokens; those that the tokenizer lacks are made up.
    pub vocabulary: usize,
}

impl Size {
    /// SmolLM2-135M.
    pub const SMOLLM2_135M: Self =
        Self { layers: 30, width: 576, inner: 1536, heads: 9, kv_heads: 3, vocabulary: 49152 };
}

/// The bytes of such a file, in the forms of the SmolLM2 that is shipped (Q4_1, embeddings in Q8_0), with the tokenizer
/// and the chat template of the file `like`.
pub fn noise(like: &[u8], size: &Size) -> Result<Vec<u8>, GgufError> {
    let like = Gguf::parse(like)?;
    let mut out = Writer { random: fastrand::Rng::with_seed(7), ..Writer::default() };
    out.describe(size);
    out.tokenizer(&like, size.vocabulary)?;
    let head = size.width / size.heads;
    out.eight_bits("token_embd.weight", size.vocabulary, size.width);
    out.ones("output_norm.weight", size.width);
    for layer in 0..size.layers {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        out.ones(&name("attn_norm"), size.width);
        out.ones(&name("ffn_norm"), size.width);
        for (part, rows, cols) in [
            ("attn_q", size.width, size.width),
            ("attn_k", size.kv_heads * head, size.width),
            ("attn_v", size.kv_heads * head, size.width),
            ("attn_output", size.width, size.width),
            ("ffn_gate", size.inner, size.width),
            ("ffn_up", size.inner, size.width),
            ("ffn_down", size.width, size.inner),
        ] {
            out.four_bits(&name(part), rows, cols);
        }
    }
    Ok(out.finish())
}

/// A file on its way.
#[derive(Default)]
struct Writer {
    random: fastrand::Rng,
    entries: u64,
    metadata: Vec<u8>,
    tensors: u64,
    infos: Vec<u8>,
    data: Vec<u8>,
}

impl Writer {
    fn describe(&mut self, size: &Size) {
        self.text("general.architecture", "llama");
        self.text("general.name", "noise");
        for (key, value) in [
            ("context_length", 2048),
            ("embedding_length", size.width),
            ("block_count", size.layers),
            ("feed_forward_length", size.inner),
            ("attention.head_count", size.heads),
            ("attention.head_count_kv", size.kv_heads),
            ("rope.dimension_count", size.width / size.heads),
        ] {
            self.int(&format!("llama.{key}"), value);
        }
        self.float("llama.attention.layer_norm_rms_epsilon", 1e-5);
        self.float("llama.rope.freq_base", 1e5);
    }

    fn tokenizer(&mut self, like: &Gguf<'_>, vocabulary: usize) -> Result<(), GgufError> {
        let mut tokens: Vec<String> = like.texts("tokenizer.ggml.tokens")?.into_iter().map(str::to_owned).collect();
        let mut types: Vec<i32> = match like.value("tokenizer.ggml.token_type") {
            Some(Value::List(list)) => {
                list.iter().map(|it| if let Value::Int(it) = it { *it as i32 } else { 0 }).collect()
            }
            _ => return Err(GgufError::Metadata("tokenizer.ggml.token_type".to_owned())),
        };
        let made_up = tokens.len()..vocabulary;
        tokens.extend(made_up.map(|id| format!("\u{f8ff}{id}")));
        types.resize(tokens.len(), NORMAL);
        for key in ["tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.chat_template"] {
            self.text(key, like.text(key)?);
        }
        for key in ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.bos_token_id"] {
            self.int(key, like.size(key)?);
        }
        self.texts("tokenizer.ggml.tokens", &tokens);
        self.texts("tokenizer.ggml.merges", &like.texts("tokenizer.ggml.merges")?);
        let mut list = listed(SIGNED, types.len());
        list.extend(types.iter().flat_map(|kind| kind.to_le_bytes()));
        self.entry("tokenizer.ggml.token_type", LIST, &list);
        Ok(())
    }

    fn entry(&mut self, key: &str, tag: u32, value: &[u8]) {
        self.entries += 1;
        self.metadata.extend(counted(key));
        self.metadata.extend(tag.to_le_bytes());
        self.metadata.extend(value);
    }

    fn int(&mut self, key: &str, value: usize) {
        self.entry(key, INT, &(value as u32).to_le_bytes());
    }

    fn float(&mut self, key: &str, value: f32) {
        self.entry(key, FLOAT, &value.to_le_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.entry(key, TEXT, &counted(value));
    }

    fn texts(&mut self, key: &str, values: &[impl AsRef<str>]) {
        let mut list = listed(TEXT, values.len());
        list.extend(values.iter().flat_map(|value| counted(value.as_ref())));
        self.entry(key, LIST, &list);
    }

    fn ones(&mut self, name: &str, len: usize) {
        let bytes: Vec<u8> = std::iter::repeat_n(1.0_f32.to_le_bytes(), len).flatten().collect();
        self.tensor(name, &[len], F32, &bytes);
    }

    /// Blocks of 32: scale, minimum, nibbles.
    fn four_bits(&mut self, name: &str, rows: usize, cols: usize) {
        // Nibbles are 4.6 around their mean, and products shall keep their size.
        let scale = half::f16::from_f32((cols as f32).sqrt().recip() / 4.6);
        let minimum = half::f16::from_f32(-7.5 * scale.to_f32());
        let head = [scale.to_le_bytes(), minimum.to_le_bytes()].concat();
        let bytes = self.blocks(&head, 16, rows * cols / 32);
        self.tensor(name, &[cols, rows], Q4_1, &bytes);
    }

    /// Blocks of 32: scale, bytes.
    fn eight_bits(&mut self, name: &str, rows: usize, cols: usize) {
        let bytes = self.blocks(&half::f16::from_f32(0.01).to_le_bytes(), 32, rows * cols / 32);
        self.tensor(name, &[cols, rows], Q8_0, &bytes);
    }

    fn blocks(&mut self, head: &[u8], body: usize, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count * (head.len() + body));
        for _ in 0..count {
            bytes.extend(head);
            bytes.extend((0..body).map(|_| self.random.u8(..)));
        }
        bytes
    }

    fn tensor(&mut self, name: &str, dims: &[usize], tag: u32, bytes: &[u8]) {
        self.tensors += 1;
        self.infos.extend(counted(name));
        self.infos.extend((dims.len() as u32).to_le_bytes());
        self.infos.extend(dims.iter().flat_map(|dim| (*dim as u64).to_le_bytes()));
        self.infos.extend(tag.to_le_bytes());
        self.infos.extend((self.data.len() as u64).to_le_bytes());
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(ALIGNMENT), 0);
    }

    fn finish(self) -> Vec<u8> {
        let mut file = b"GGUF".to_vec();
        file.extend(3_u32.to_le_bytes());
        file.extend([self.tensors, self.entries].map(u64::to_le_bytes).concat());
        file.extend(self.metadata);
        file.extend(self.infos);
        file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        file.extend(self.data);
        file
    }
}

fn counted(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn listed(tag: u32, count: usize) -> Vec<u8> {
    [&tag.to_le_bytes()[..], &(count as u64).to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::super::{Llama, Shape, Tokenizer};
    use super::*;

    #[test]
    fn a_file_of_noise_is_read_as_any_other() {
        let like = include_bytes!("../../../tests/fixtures/drafter/chats/llama.gguf");
        let size = Size { layers: 2, width: 64, inner: 96, heads: 4, kv_heads: 2, vocabulary: 1024 };
        let bytes = noise(like, &size).expect("the fixture has a tokenizer");
        let gguf = Gguf::parse(&bytes).expect("well formed");
        let shape = Shape::read(&gguf, 128).expect("described");
        assert_eq!((shape.layers, shape.head, shape.vocabulary), (2, 16, 1024));
        let network = Llama::load(&gguf, shape).expect("every tensor is there");
        let tokenizer = Tokenizer::from_gguf(&gguf).expect("a tokenizer");
        let mut memory = network.memory();
        let state = network.feed(&mut memory, &tokenizer.encode("There are two dogs.")).expect("computes");
        let logits = network.logits(&state.expect("it fits"), &[5, 6, 700]);
        assert!(logits.iter().all(|logit| logit.is_finite()) && logits[0] != logits[1], "{logits:?}");
    }
}
