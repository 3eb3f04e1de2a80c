//! The text decoder of every family: grouped-query attention, optional norms of queries and keys, rotary positions of
//! three dimensions, gated feed-forward, and features added behind the first layers.
//!
//! It owns weights and nothing else; what was read so far is the caller's [`Cache`]. Tokens are `[rows * length, width]`
//! between the attentions. Weights that meet the same input lie in one matrix: fewer, larger products.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::VarBuilder;
use candle_nn::ops::softmax_last_dim;
use candle_nn::rotary_emb::rope;

use super::rope::Rope;
use super::{Cache, Features, Position, mask};

/// What a decoder of this kind must be told to be read from a file.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::models) struct Shape {
    /// Tokens there are.
    pub(in crate::models) vocabulary: usize,
    /// Width of a token.
    pub(in crate::models) width: usize,
    /// Width inside the feed-forward part.
    pub(in crate::models) inner: usize,
    /// Layers.
    pub(in crate::models) layers: usize,
    /// Heads of the queries.
    pub(in crate::models) heads: usize,
    /// Heads of keys and values; divides `heads`.
    pub(in crate::models) kv_heads: usize,
    /// Width of a head.
    pub(in crate::models) head: usize,
    /// Added to the mean square in every norm.
    pub(in crate::models) epsilon: f64,
    /// Base of the rotary frequencies.
    pub(in crate::models) theta: f64,
    /// Frequencies of time, height and width; `None` for plain rotary positions.
    pub(in crate::models) sections: Option<[usize; 3]>,
    /// Whether queries and keys are normed (Qwen3).
    pub(in crate::models) normed_heads: bool,
}

/// One row of new tokens.
#[derive(Debug, Clone, Default)]
pub(in crate::models) struct Row {
    /// The tokens.
    pub(in crate::models) ids: Vec<u32>,
    /// Where each stands.
    pub(in crate::models) positions: Vec<Position>,
    /// For each token, which of the features stands in its place, if one does.
    pub(in crate::models) features: Vec<Option<u32>>,
}

/// New tokens of all rows, each padded at its beginning to the length of the longest.
#[derive(Debug)]
struct Block<'a> {
    rows: &'a [Row],
    length: usize,
    padding: Vec<usize>,
}

impl<'a> Block<'a> {
    fn new(rows: &'a [Row]) -> Self {
        let length = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        Self { rows, length, padding: rows.iter().map(|row| length - row.ids.len()).collect() }
    }

    /// Something of each token, with `pad` for padding, row after row.
    fn flat<T: Copy>(&self, pad: T, of: impl Fn(&Row) -> &[T]) -> Vec<T> {
        let padded = |(row, padding): (&Row, &usize)| [vec![pad; *padding], of(row).to_vec()].concat();
        self.rows.iter().zip(&self.padding).flat_map(padded).collect()
    }

    fn positions(&self) -> Vec<Vec<Position>> {
        self.flat([0; 3], |row| &row.positions).chunks(self.length.max(1)).map(<[Position]>::to_vec).collect()
    }
}

/// Which logits are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::models) enum Keep {
    /// Those of the last token of each row, `[rows, vocabulary]`.
    Last,
    /// Those of every token, `[rows, length, vocabulary]`; padding's mean nothing.
    #[cfg_attr(not(test), expect(dead_code, reason = "parity looks at every position, generation at the last"))]
    All,
}

/// The weights.
#[derive(Debug)]
pub(in crate::models) struct Decoder {
    embeddings: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    head: Tensor,
    rope: Rope,
    epsilon: f32,
    /// Always set. The tests clear it to prove that they would notice.
    pub(in crate::models) causal: bool,
}

impl Decoder {
    /// Reads the layers under `body`; `head` is the untied head's tensor, if the file has it, else embeddings serve as one.
    pub(in crate::models) fn load(body: &VarBuilder<'_>, shape: &Shape, head: Option<&VarBuilder<'_>>) -> Result<Self> {
        let embeddings = body.get((shape.vocabulary, shape.width), "embed_tokens.weight")?;
        let head =
            head.map_or_else(|| Ok(embeddings.clone()), |at| at.get((shape.vocabulary, shape.width), "weight"))?;
        let layer = |i: usize| Layer::load(&body.pp(format!("layers.{i}")), shape);
        Ok(Self {
            embeddings,
            layers: (0..shape.layers).map(layer).collect::<Result<_>>()?,
            norm: body.get(shape.width, "norm.weight")?,
            head,
            rope: Rope::new(shape.theta, shape.head, shape.sections),
            epsilon: shape.epsilon as f32,
            causal: true,
        })
    }

    /// What it computes in.
    pub(in crate::models) fn dtype(&self) -> DType {
        self.embeddings.dtype()
    }

    /// Where it computes.
    pub(in crate::models) fn device(&self) -> &Device {
        self.embeddings.device()
    }

    /// Reads `rows` behind what `cache` holds, for what follows them.
    pub(in crate::models) fn read(&self, rows: &[Row], features: Option<&Features>, cache: &mut Cache) -> Result<()> {
        self.layers(&Block::new(rows), features, cache).map(drop)
    }

    /// Reads `rows` behind what `cache` holds and returns logits in f32.
    pub(in crate::models) fn forward(
        &self,
        rows: &[Row],
        features: Option<&Features>,
        cache: &mut Cache,
        keep: Keep,
    ) -> Result<Tensor> {
        let block = Block::new(rows);
        let x = self.layers(&block, features, cache)?;
        let (rows, length, width) = (rows.len(), block.length, x.dim(D::Minus1)?);
        let x = x.reshape((rows, length, width))?;
        let x = if keep == Keep::Last { x.narrow(1, length - 1, 1)? } else { x };
        let kept = x.dim(1)?;
        let x = rms_norm(&x.reshape((rows * kept, width))?.contiguous()?, &self.norm, self.epsilon)?;
        let logits = x.matmul(&self.head.t()?)?.to_dtype(DType::F32)?;
        if keep == Keep::Last { Ok(logits) } else { logits.reshape((rows, kept, ())) }
    }

    /// What the last layer makes of `block`, `[rows * length, width]`.
    fn layers(&self, block: &Block<'_>, features: Option<&Features>, cache: &mut Cache) -> Result<Tensor> {
        if block.length == 0 {
            candle_core::bail!("nothing to read");
        }
        let places = features.map(|features| Places::new(block, features, self.device())).transpose()?;
        let mut x = self.embed(block, places.as_ref())?;
        let (cos, sin) = self.rope.tables(&block.positions(), self.dtype(), self.device())?;
        let mask = self.mask(block, cache)?;
        let view = View { rows: block.rows.len(), length: block.length, cos, sin, mask, epsilon: self.epsilon };
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(&x, index, &view, cache)?;
            let deep = places.as_ref().map(|places| places.deep(index)).transpose()?.flatten();
            if let Some(deep) = deep {
                x = (x + deep)?;
            }
        }
        cache.advance(&block.padding, block.length);
        Ok(x)
    }

    fn embed(&self, block: &Block<'_>, places: Option<&Places<'_>>) -> Result<Tensor> {
        let ids = block.flat(0, |row| &row.ids);
        let vocabulary = self.embeddings.dim(0)?;
        if let Some(id) = ids.iter().find(|id| **id as usize >= vocabulary) {
            candle_core::bail!("token {id} is not among the {vocabulary} of the model");
        }
        let ids = Tensor::new(ids, self.device())?;
        let words = self.embeddings.index_select(&ids, 0)?;
        match places {
            Some(places) => places.replace(&words),
            None => Ok(words),
        }
    }

    fn mask(&self, block: &Block<'_>, cache: &Cache) -> Result<Option<Tensor>> {
        let (rows, length) = (block.rows.len(), block.length);
        let known = cache.held(rows);
        if known.len() != rows {
            candle_core::bail!("{rows} rows behind a cache of {}", known.len());
        }
        let Some(values) = mask::additive(&known, &block.padding, length, self.causal) else { return Ok(None) };
        let mask = Tensor::from_vec(values, (rows, 1, length, cache.len() + length), &Device::Cpu)?;
        Ok(Some(mask.to_dtype(self.dtype())?.to_device(self.device())?))
    }
}

/// Where features stand in a block.
struct Places<'a> {
    features: &'a Features,
    /// Row of `words` and, behind them, of the features, for each token.
    replaced: Tensor,
    /// Row of a zero and, behind it, of the features, for each token.
    added: Tensor,
}

impl<'a> Places<'a> {
    fn new(block: &Block<'_>, features: &'a Features, device: &Device) -> Result<Self> {
        let at = block.flat(None, |row| &row.features);
        let count = features.embeddings.dim(0)?;
        if let Some(wrong) = at.iter().flatten().find(|place| **place as usize >= count) {
            candle_core::bail!("feature {wrong} of {count} is asked for");
        }
        let words = at.len() as u32;
        let replaced: Vec<u32> = (0..words).zip(&at).map(|(i, place)| place.map_or(i, |p| words + p)).collect();
        let added: Vec<u32> = at.iter().map(|place| place.map_or(0, |p| 1 + p)).collect();
        Ok(Self { features, replaced: Tensor::new(replaced, device)?, added: Tensor::new(added, device)? })
    }

    fn replace(&self, words: &Tensor) -> Result<Tensor> {
        Tensor::cat(&[words, &self.features.embeddings], 0)?.index_select(&self.replaced, 0)
    }

    /// What is added behind the layer `index`, if anything is.
    fn deep(&self, index: usize) -> Result<Option<Tensor>> {
        let Some(deep) = self.features.deep.get(index) else { return Ok(None) };
        let nothing = Tensor::zeros((1, deep.dim(1)?), deep.dtype(), deep.device())?;
        Tensor::cat(&[&nothing, deep], 0)?.index_select(&self.added, 0).map(Some)
    }
}

/// What all layers of one pass share.
struct View {
    rows: usize,
    length: usize,
    cos: Tensor,
    sin: Tensor,
    mask: Option<Tensor>,
    epsilon: f32,
}

#[derive(Debug)]
struct Layer {
    input_norm: Tensor,
    /// Queries, keys and values.
    attend: Tensor,
    /// Norms of queries and keys.
    head_norms: Option<(Tensor, Tensor)>,
    attended: Tensor,
    inner_norm: Tensor,
    /// Gate and up.
    widen: Tensor,
    narrow: Tensor,
    heads: usize,
    kv_heads: usize,
    head: usize,
}

impl Layer {
    fn load(at: &VarBuilder<'_>, shape: &Shape) -> Result<Self> {
        let Shape { width, inner, heads, kv_heads, head, .. } = *shape;
        let (attention, mlp) = (at.pp("self_attn"), at.pp("mlp"));
        let queries = attention.get((heads * head, width), "q_proj.weight")?;
        let keys = attention.get((kv_heads * head, width), "k_proj.weight")?;
        let values = attention.get((kv_heads * head, width), "v_proj.weight")?;
        let norm = |name: &str| attention.get(head, name);
        let gate = mlp.get((inner, width), "gate_proj.weight")?;
        let up = mlp.get((inner, width), "up_proj.weight")?;
        Ok(Self {
            input_norm: at.get(width, "input_layernorm.weight")?,
            attend: Tensor::cat(&[queries, keys, values], 0)?,
            head_norms: if shape.normed_heads { Some((norm("q_norm.weight")?, norm("k_norm.weight")?)) } else { None },
            attended: attention.get((width, heads * head), "o_proj.weight")?,
            inner_norm: at.get(width, "post_attention_layernorm.weight")?,
            widen: Tensor::cat(&[gate, up], 0)?,
            narrow: mlp.get((width, inner), "down_proj.weight")?,
            heads,
            kv_heads,
            head,
        })
    }

    fn forward(&self, x: &Tensor, index: usize, view: &View, cache: &mut Cache) -> Result<Tensor> {
        let normed = rms_norm(x, &self.input_norm, view.epsilon)?;
        let x = (x + self.attention(&normed, index, view, cache)?)?;
        let normed = rms_norm(&x, &self.inner_norm, view.epsilon)?;
        let wide = normed.matmul(&self.widen.t()?)?;
        let inner = wide.dim(1)? / 2;
        let gate = in_f32(&wide.narrow(1, 0, inner)?, Tensor::silu)?;
        let gated = (gate * wide.narrow(1, inner, inner)?)?;
        x + gated.matmul(&self.narrow.t()?)?
    }

    fn attention(&self, x: &Tensor, index: usize, view: &View, cache: &mut Cache) -> Result<Tensor> {
        let Self { heads, kv_heads, head, .. } = *self;
        let (rows, length) = (view.rows, view.length);
        let all = x.matmul(&self.attend.t()?)?;
        let part = |from: usize, count: usize| {
            all.narrow(1, from * head, count * head)?.contiguous()?.reshape((rows, length, count, head))
        };
        let (mut q, mut k, v) = (part(0, heads)?, part(heads, kv_heads)?, part(heads + kv_heads, kv_heads)?);
        if let Some((of_queries, of_keys)) = &self.head_norms {
            (q, k) = (rms_norm(&q, of_queries, view.epsilon)?, rms_norm(&k, of_keys, view.epsilon)?);
        }
        let turned = |t: &Tensor| rope(&t.transpose(1, 2)?.contiguous()?, &view.cos, &view.sin);
        let (q, k) = (turned(&q)?, turned(&k)?);
        let (k, v) = cache.append(index, &k, &v.transpose(1, 2)?)?;
        // The queries that share a head of keys stand below each other: keys are never copied.
        let q = (q * (head as f64).powf(-0.5))?.reshape((rows, kv_heads, heads / kv_heads * length, head))?;
        let scores = q.matmul(&k.t()?)?.reshape((rows, heads, length, ()))?;
        let scores = match &view.mask {
            Some(mask) => scores.broadcast_add(mask)?,
            None => scores,
        };
        let weights = softmax(&scores)?.reshape((rows, kv_heads, heads / kv_heads * length, ()))?;
        let seen = weights.matmul(&v)?.reshape((rows, heads, length, head))?;
        let seen = seen.transpose(1, 2)?.reshape((rows * length, heads * head))?;
        seen.matmul(&self.attended.t()?)
    }
}

/// Softmax over the last dimension, summed in f32: candle's kernels for CUDA do so by themselves, those for the CPU sum in
/// the type that they are given.
pub(super) fn softmax(scores: &Tensor) -> Result<Tensor> {
    if scores.device().is_cpu() { in_f32(scores, softmax_last_dim) } else { softmax_last_dim(scores) }
}

/// Root mean square norm with `gain`, rounded once: candle's kernel for the CPU rounds the root itself, which scales a whole
/// row, and the reference does not.
fn rms_norm(x: &Tensor, gain: &Tensor, epsilon: f32) -> Result<Tensor> {
    let norm = |x: &Tensor, gain: &Tensor| candle_nn::ops::rms_norm(x, gain, epsilon);
    if x.device().is_cpu() { in_f32(x, |x| norm(x, &gain.to_dtype(DType::F32)?)) } else { norm(x, gain) }
}

/// `function` of `x` with one rounding at the end: candle's kernels for bf16 round at every step inside, the reference's do
/// not.
pub(super) fn in_f32(x: &Tensor, function: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if x.dtype() == DType::F32 {
        return function(x);
    }
    function(&x.to_dtype(DType::F32)?)?.to_dtype(x.dtype())
}
