//! What the metadata of a GGUF file says of a network, checked before any weight is read.

use super::kernel::LANES;
use crate::models::net::gguf::{Gguf, GgufError, Value};

/// Layers of gemma3 that look through a window, before one that sees everything.
const WINDOWED: usize = 5;
/// Base of the rotary angles in gemma3's windowed layers.
const LOCAL_BASE: f64 = 10_000.0;

/// Which of the architectures of one kind it is. What they share is most of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Neighbouring numbers rotate together.
    Llama,
    /// Halves of a head rotate together; queries, keys and values have biases.
    Qwen2,
    /// Halves rotate together; queries and keys are normalised head by head.
    Qwen3,
    /// As Qwen3; norms also behind attention and feed-forward, GELU for SiLU, scaled embeddings, windows.
    Gemma3,
}

/// Sizes of the network.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Which architecture.
    pub family: Family,
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
    /// Positions are divided by this before they are rotated, but in windowed layers.
    pub rope_divisor: f64,
    /// Positions that a windowed layer sees, its own included.
    pub window: Option<usize>,
    /// Added to the mean square before its root.
    pub epsilon: f32,
}

impl Shape {
    /// Reads the metadata; never more than `context` positions.
    pub fn read(gguf: &Gguf<'_>, context: usize) -> Result<Self, GgufError> {
        let name = gguf.text("general.architecture")?;
        let family = match name {
            "llama" => Family::Llama,
            "qwen2" => Family::Qwen2,
            "qwen3" => Family::Qwen3,
            "gemma3" => Family::Gemma3,
            other => return Err(GgufError::Architecture(other.to_owned())),
        };
        let key = |key: &str| format!("{name}.{key}");
        let size = |part: &str| gguf.size(&key(part));
        let (width, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let window = if family == Family::Gemma3 { Some(size("attention.sliding_window")?) } else { None };
        let shape = Self {
            family,
            layers: size("block_count")?,
            width,
            hidden: size("feed_forward_length")?,
            heads,
            kv_heads: optional(gguf, &key("attention.head_count_kv"))?.unwrap_or(heads),
            head: optional(gguf, &key("attention.key_length"))?.unwrap_or(width.checked_div(heads).unwrap_or(0)),
            vocabulary: gguf.texts("tokenizer.ggml.tokens")?.len(),
            context: size("context_length")?.min(context),
            rope_base: gguf.float(&key("rope.freq_base")).unwrap_or(LOCAL_BASE),
            rope_divisor: divisor(gguf, name)?,
            window,
            epsilon: gguf.float(&key("attention.layer_norm_rms_epsilon"))? as f32,
        };
        shape.check(gguf, name)?;
        Ok(shape)
    }

    fn check(&self, gguf: &Gguf<'_>, name: &str) -> Result<(), GgufError> {
        let whole = |number: usize, of: usize| number > 0 && number.is_multiple_of(of);
        let same = |part: &str| Ok(optional(gguf, &format!("{name}.{part}"))?.is_none_or(|size| size == self.head));
        let checks = [
            ("attention.head_count", self.heads > 0),
            ("attention.key_length", whole(self.head, LANES)),
            ("attention.value_length", same("attention.value_length")?),
            ("attention.head_count_kv", whole(self.heads, self.kv_heads.max(1)) && self.kv_heads > 0),
            ("embedding_length", whole(self.width, 32)),
            ("feed_forward_length", whole(self.hidden, 32)),
            ("context_length", self.context > 0),
            ("block_count", (1..=512).contains(&self.layers)),
            ("rope.dimension_count", same("rope.dimension_count")?),
            ("attention.sliding_window", self.window.is_none_or(|window| window > 0)),
        ];
        match checks.iter().find(|(_, holds)| !holds) {
            Some((key, _)) => Err(GgufError::Metadata(format!("{name}.{key}"))),
            None => Ok(()),
        }
    }

    /// Numbers of all query heads.
    pub(super) fn query_width(&self) -> usize {
        self.heads * self.head
    }

    /// Numbers of all key heads, or of all value heads.
    pub(super) fn kv_width(&self) -> usize {
        self.kv_heads * self.head
    }

    /// Query heads that share a key head.
    pub(super) fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    /// What scores are multiplied with.
    pub(super) fn scale(&self) -> f32 {
        // The largest gemma3, 27B with 62 layers, was trained with the width of a head that it does not have.
        let width =
            if self.family == Family::Gemma3 && self.layers == 62 { self.width / self.heads } else { self.head };
        (width as f32).sqrt().recip()
    }

    /// What embeddings are multiplied with.
    pub(super) fn embedding_scale(&self) -> f32 {
        if self.family == Family::Gemma3 { (self.width as f32).sqrt() } else { 1.0 }
    }

    /// The window of a layer, if it has one.
    pub(super) fn window_of(&self, layer: usize) -> Option<usize> {
        self.window.filter(|_| layer % (WINDOWED + 1) < WINDOWED)
    }

    /// Base and divisor of the rotary angles of a layer.
    pub(super) fn rotation_of(&self, layer: usize) -> (f64, f64) {
        if self.window_of(layer).is_some() { (LOCAL_BASE, 1.0) } else { (self.rope_base, self.rope_divisor) }
    }

    /// Bytes of the memory of a full context.
    pub fn memory_bytes(&self) -> u64 {
        (4 * 2 * self.layers * self.context * self.kv_width()) as u64
    }
}

/// A size that may be absent, but not of another type.
fn optional(gguf: &Gguf<'_>, key: &str) -> Result<Option<usize>, GgufError> {
    if gguf.value(key).is_none() { Ok(None) } else { gguf.size(key).map(Some) }
}

/// By what positions are divided: 1 without scaling. Other ways of scaling are not computed.
fn divisor(gguf: &Gguf<'_>, name: &str) -> Result<f64, GgufError> {
    let key = format!("{name}.rope.scaling.type");
    match gguf.value(&key) {
        None => Ok(1.0),
        Some(Value::Text(kind)) if kind == "none" => Ok(1.0),
        Some(Value::Text(kind)) if kind == "linear" => {
            let factor = gguf.float(&format!("{name}.rope.scaling.factor"))?;
            if factor > 0.0 { Ok(factor) } else { Err(GgufError::Metadata(format!("{name}.rope.scaling.factor"))) }
        }
        Some(_) => Err(GgufError::Metadata(key)),
    }
}
