//! The llama architecture and its relatives on the CPU, over GGUF weights that stay in the form of their file.
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
//! - 2026-11-30: qwen2, qwen3 and gemma3 are branches in one network and not networks of their own: they differ from
//!   llama in a dozen lines.

mod attention;
mod block;
mod kernel;
mod matrix;
mod part;
mod shape;

use candle_core::Result as CandleResult;
use rayon::prelude::*;
use wide::f32x16;

use self::attention::{Layer, Rotary, View};
use self::block::{Block, rope_factors, vector};
use self::kernel::LANES;
use self::matrix::Matrix;
pub use self::shape::{Family, Shape};
use super::gguf::{Gguf, GgufError};

/// Prompt positions that are computed together; bounds the scratch memory.
const CHUNK: usize = 512;

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
    /// Of the layers with a window, if there are any.
    local: Option<Rotary>,
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
        let factors = rope_factors(gguf, &shape)?;
        let local = shape.window_of(0).map(|_| Rotary::new(&shape, shape.rotation_of(0), None));
        let rotary = Rotary::new(&shape, (shape.rope_base, shape.rope_divisor), factors.as_deref());
        Ok(Self { shape, rotary, local, embeddings, output, blocks, norm })
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
        self.scale(&mut x);
        for (index, (block, layer)) in self.blocks.iter().zip(&mut memory.layers).enumerate() {
            let mut qkv = block.qkv.apply(&self.norm(&x, &block.attention_norm), n)?;
            if let Some(bias) = &block.qkv_bias {
                qkv.chunks_exact_mut(bias.len()).for_each(|position| add(position, bias));
            }
            let attended = layer.attend(qkv, memory.positions, &self.view(index, block), &self.shape)?;
            let attended = block.output.apply(&attended, n)?;
            add(&mut x, &self.norm_if(attended, block.attended_norm.as_deref()));
            let gate_up = block.gate_up.apply(&self.norm(&x, &block.mlp_norm), n)?;
            let fed = block.down.apply(&gated(&gate_up, self.shape.hidden / LANES, self.activation()), n)?;
            add(&mut x, &self.norm_if(fed, block.fed_norm.as_deref()));
        }
        memory.positions += n;
        Ok(State(self.norm(&x[(n - 1) * lanes..], &self.norm)))
    }

    /// The logits of the `allowed` tokens, in their order; each must exist.
    pub fn logits(&self, state: &State, allowed: &[u32]) -> Vec<f32> {
        rayon::scope(|_| self.output.as_ref().unwrap_or(&self.embeddings).pick(allowed, &state.0))
    }

    fn scale(&self, embeddings: &mut [f32x16]) {
        let scale = self.shape.embedding_scale();
        if scale != 1.0 {
            for x in embeddings {
                *x *= f32x16::splat(scale);
            }
        }
    }

    /// How the layer `index` looks at positions.
    fn view<'a>(&'a self, index: usize, block: &'a Block) -> View<'a> {
        let window = self.shape.window_of(index);
        let rotary = self.local.as_ref().filter(|_| window.is_some()).unwrap_or(&self.rotary);
        View { rotary, window, norms: block.head_norms.as_ref() }
    }

    fn activation(&self) -> fn(f32x16) -> f32x16 {
        if self.shape.family == Family::Gemma3 { gelu_tanh } else { silu }
    }

    fn norm(&self, x: &[f32x16], weights: &[f32x16]) -> Vec<f32x16> {
        let mut normed = x.to_vec();
        normed.chunks_exact_mut(weights.len()).for_each(|position| normalise(position, weights, self.shape.epsilon));
        normed
    }

    fn norm_if(&self, x: Vec<f32x16>, weights: Option<&[f32x16]>) -> Vec<f32x16> {
        match weights {
            Some(weights) => self.norm(&x, weights),
            None => x,
        }
    }
}

/// `x` over the root of its mean square, times `weights`.
fn normalise(x: &mut [f32x16], weights: &[f32x16], epsilon: f32) {
    let squares = kernel::dot(x, x) / (x.len() * LANES) as f32;
    let scale = f32x16::splat((squares + epsilon).sqrt().recip());
    x.iter_mut().zip(weights).for_each(|(x, weight)| *x = *x * scale * *weight);
}

fn add(to: &mut [f32x16], from: &[f32x16]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}

/// The activated gate times up, for each position of `gate, up`.
fn gated(gate_up: &[f32x16], hidden: usize, activation: fn(f32x16) -> f32x16) -> Vec<f32x16> {
    let position = |both: &[f32x16]| -> Vec<f32x16> {
        let (gate, up) = both.split_at(hidden);
        gate.iter().zip(up).map(|(gate, up)| activation(*gate) * *up).collect()
    };
    gate_up.par_chunks_exact(2 * hidden).flat_map_iter(position).collect()
}

fn silu(x: f32x16) -> f32x16 {
    x / (f32x16::ONE + (-x).exp())
}

/// GELU by its tanh approximation: `x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 x^3))`.
fn gelu_tanh(x: f32x16) -> f32x16 {
    let inner = x * (x * x).mul_add(f32x16::splat(0.071_354_814), f32x16::splat(1.595_769));
    x / (f32x16::ONE + (-inner).exp())
}
