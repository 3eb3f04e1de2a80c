//! The llama architecture on the CPU, over GGUF weights that stay in the form of their file.
//!
//! Activations are f32 throughout, so the only rounding is what the file holds: logits equal those of a reference
//! that runs on the expanded weights. Written by hand because candle's quantised path also rounds activations to
//! eight bits and is three times slower than llama.cpp on both prompt and decoding.
//!
//! Owns the weights; the state of a text is a [`Memory`] that the caller keeps, may cut back and may clone. Must not
//! know what the text means.
//!
//! # Decisions
//! - The file's 4-bit blocks are multiplied as they are (66 MB read a token) instead of re-quantised to 8 bits:
//!   exact, half the memory, and as fast once sixteen lanes are expanded in registers.
//! - Logits are computed only for the tokens that may follow: with a narrow grammar that saves a fifth of the work.

mod attention;
mod kernel;
mod matrix;

use candle_core::Result as CandleResult;
use rayon::prelude::*;
use wide::f32x16;

use self::attention::{Layer, Rotary};
use self::kernel::LANES;
use self::matrix::{Matrix, lanes};
use super::gguf::{Form, Gguf, GgufError};

/// Prompt positions that are computed together; bounds the scratch memory.
const CHUNK: usize = 512;

/// Sizes of the network.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Layers.
    pub layers: usize,
    /// Numbers a position.
    pub width: usize,
    /// Numbers inside the feed-forward part.
    pub hidden: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; each serves `heads / kv_heads` query heads.
    pub kv_heads: usize,
    /// Numbers a head.
    pub head: usize,
    /// Tokens that exist.
    pub vocabulary: usize,
    /// Positions that can be remembered.
    pub context: usize,
    /// Base of the rotary angles.
    pub rope_base: f64,
    /// Added to the mean square before its root.
    pub epsilon: f32,
}

impl Shape {
    /// Reads the metadata; never more than `context` positions.
    pub fn read(gguf: &Gguf<'_>, context: usize) -> Result<Self, GgufError> {
        let wrong = |key: &str| GgufError::Metadata(key.to_owned());
        if gguf.text("general.architecture")? != "llama" {
            return Err(wrong("general.architecture"));
        }
        let size = |key: &str| gguf.size(&format!("llama.{key}"));
        let (width, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let shape = Self {
            layers: size("block_count")?,
            width,
            hidden: size("feed_forward_length")?,
            heads,
            kv_heads: size("attention.head_count_kv")?,
            head: width.checked_div(heads).unwrap_or(0),
            vocabulary: gguf.texts("tokenizer.ggml.tokens")?.len(),
            context: size("context_length")?.min(context),
            rope_base: gguf.float("llama.rope.freq_base")?,
            epsilon: gguf.float("llama.attention.layer_norm_rms_epsilon")? as f32,
        };
        let whole = |number: usize, of: usize| number > 0 && number.is_multiple_of(of);
        let checks = [
            ("llama.attention.head_count", whole(width, heads.max(1)) && whole(shape.head, LANES)),
            ("llama.attention.head_count_kv", whole(heads, shape.kv_heads.max(1)) && shape.kv_heads > 0),
            ("llama.embedding_length", whole(width, 32)),
            ("llama.feed_forward_length", whole(shape.hidden, 32)),
            ("llama.context_length", shape.context > 0),
            ("llama.block_count", (1..=512).contains(&shape.layers)),
            ("llama.rope.dimension_count", size("rope.dimension_count").unwrap_or(shape.head) == shape.head),
        ];
        match checks.iter().find(|(_, holds)| !holds) {
            Some((key, _)) => Err(wrong(key)),
            None => Ok(shape),
        }
    }

    fn kv_width(&self) -> usize {
        self.kv_heads * self.head
    }

    fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    fn scale(&self) -> f32 {
        (self.head as f32).sqrt().recip()
    }
}

struct Block {
    attention_norm: Vec<f32x16>,
    /// Queries, keys and values below each other.
    qkv: Matrix,
    output: Matrix,
    mlp_norm: Vec<f32x16>,
    /// Gate above up.
    gate_up: Matrix,
    down: Matrix,
}

impl Block {
    fn load(gguf: &Gguf<'_>, layer: usize, shape: &Shape) -> Result<Self, GgufError> {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        let (width, kv, hidden) = (shape.width, shape.kv_width(), shape.hidden);
        let [q, k, v, gate, up] = ["attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"].map(name);
        Ok(Self {
            attention_norm: vector(gguf, &name("attn_norm"), width)?,
            qkv: Matrix::load(gguf, &[(&q, width), (&k, kv), (&v, kv)], width)?,
            output: Matrix::load(gguf, &[(&name("attn_output"), width)], width)?,
            mlp_norm: vector(gguf, &name("ffn_norm"), width)?,
            gate_up: Matrix::load(gguf, &[(&gate, hidden), (&up, hidden)], width)?,
            down: Matrix::load(gguf, &[(&name("ffn_down"), width)], hidden)?,
        })
    }
}

/// What the network remembers of a text: keys and values of every layer.
#[derive(Clone)]
pub struct Memory {
    layers: Vec<Layer>,
    positions: usize,
}

impl Memory {
    /// How many tokens were fed.
    pub fn len(&self) -> usize {
        self.positions
    }

    /// Whether nothing was fed yet.
    pub fn is_empty(&self) -> bool {
        self.positions == 0
    }
}

/// The last position's state, from which the next token is read.
pub struct State(Vec<f32x16>);

/// A network with its weights.
pub struct Llama {
    shape: Shape,
    rotary: Rotary,
    embeddings: Matrix,
    /// Hidden state to logits; the embeddings serve if absent (tied weights).
    output: Option<Matrix>,
    blocks: Vec<Block>,
    norm: Vec<f32x16>,
}

impl Llama {
    /// Takes the weights out of `gguf`, which may be dropped afterwards.
    pub fn load(gguf: &Gguf<'_>, shape: Shape) -> Result<Self, GgufError> {
        let blocks = (0..shape.layers).map(|layer| Block::load(gguf, layer, &shape)).collect::<Result<_, _>>()?;
        let embeddings = Matrix::load(gguf, &[("token_embd.weight", shape.vocabulary)], shape.width)?;
        let untied = gguf.has("output.weight");
        let output = untied.then(|| Matrix::load(gguf, &[("output.weight", shape.vocabulary)], shape.width));
        let output = output.transpose()?;
        let norm = vector(gguf, "output_norm.weight", shape.width)?;
        Ok(Self { rotary: Rotary::new(&shape), embeddings, output, blocks, norm, shape })
    }

    /// Its sizes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// An empty memory.
    pub fn memory(&self) -> Memory {
        Memory { layers: vec![Layer::default(); self.shape.layers], positions: 0 }
    }

    /// Forgets all but the first `positions` tokens.
    pub fn truncate(&self, memory: &mut Memory, positions: usize) {
        memory.positions = memory.positions.min(positions);
        let kept = memory.positions;
        memory.layers.iter_mut().for_each(|layer| layer.truncate(kept, &self.shape));
    }

    /// Reads `tokens` after what `memory` holds; `None` if there are none, if one does not exist, or if they do not
    /// fit into the context.
    pub fn feed(&self, memory: &mut Memory, tokens: &[u32]) -> CandleResult<Option<State>> {
        let fits = memory.positions + tokens.len() <= self.shape.context;
        let exist = tokens.iter().all(|token| (*token as usize) < self.shape.vocabulary);
        if !(fits && exist) {
            return Ok(None);
        }
        // Inside the pool from here on: entering it anew for every product costs more than some products.
        rayon::scope(|_| {
            let mut last = None;
            for chunk in tokens.chunks(CHUNK) {
                last = Some(self.feed_chunk(memory, chunk)?);
            }
            Ok(last)
        })
    }

    fn feed_chunk(&self, memory: &mut Memory, tokens: &[u32]) -> CandleResult<State> {
        let lanes = self.shape.width / LANES;
        let n = tokens.len();
        let mut x = vec![f32x16::ZERO; n * lanes];
        for (token, to) in tokens.iter().zip(x.chunks_exact_mut(lanes)) {
            self.embeddings.expand(*token as usize, to);
        }
        for (block, layer) in self.blocks.iter().zip(&mut memory.layers) {
            let qkv = block.qkv.apply(&self.norm(&x, &block.attention_norm), n)?;
            let attended = layer.attend(qkv, memory.positions, &self.rotary, &self.shape)?;
            add(&mut x, &block.output.apply(&attended, n)?);
            let gate_up = block.gate_up.apply(&self.norm(&x, &block.mlp_norm), n)?;
            add(&mut x, &block.down.apply(&gated(&gate_up, self.shape.hidden / LANES), n)?);
        }
        memory.positions += n;
        Ok(State(self.norm(&x[(n - 1) * lanes..], &self.norm)))
    }

    /// The logits of the `allowed` tokens, in their order; each must exist.
    pub fn logits(&self, state: &State, allowed: &[u32]) -> Vec<f32> {
        rayon::scope(|_| self.output.as_ref().unwrap_or(&self.embeddings).pick(allowed, &state.0))
    }

    fn norm(&self, x: &[f32x16], weights: &[f32x16]) -> Vec<f32x16> {
        let width = self.shape.width;
        let normed = x.chunks_exact(width / LANES).flat_map(|position| {
            let squares = kernel::dot(position, position) / width as f32;
            let scale = f32x16::splat((squares + self.shape.epsilon).sqrt().recip());
            position.iter().zip(weights).map(move |(x, weight)| *x * scale * *weight)
        });
        normed.collect()
    }
}

fn add(to: &mut [f32x16], from: &[f32x16]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}

/// SiLU of the gate times up, for each position of `gate, up`.
fn gated(gate_up: &[f32x16], hidden: usize) -> Vec<f32x16> {
    let one = f32x16::ONE;
    let position = |both: &[f32x16]| -> Vec<f32x16> {
        let (gate, up) = both.split_at(hidden);
        gate.iter().zip(up).map(|(gate, up)| *gate / (one + (-*gate).exp()) * *up).collect()
    };
    gate_up.par_chunks_exact(2 * hidden).flat_map_iter(position).collect()
}

fn vector(gguf: &Gguf<'_>, name: &str, len: usize) -> Result<Vec<f32x16>, GgufError> {
    let raw = gguf.tensor(name, 1, len)?;
    if raw.form != Form::F32 {
        return Err(GgufError::Tensor { name: name.to_owned(), problem: "is not in form F32".to_owned() });
    }
    let floats: Vec<f32> = raw.bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Ok(lanes(&floats))
}
