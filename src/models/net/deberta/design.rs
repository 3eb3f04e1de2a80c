//! What a checkpoint's `config.json` says of a DeBERTa network, checked before any weight is read. Pure.
//!
//! Keys and defaults are those of transformers' `DebertaV2Config`. What this network cannot compute is refused with the
//! key: a checkpoint that is read in another way than it was trained answers confidently and wrongly.

use serde::Deserialize;

use super::position::Buckets;

/// Sequences are read up to this many tokens, whatever the checkpoint could: a judge sees one sentence and one claim,
/// and the tables of relative positions grow with it.
const LONGEST: usize = 256;
/// Widths of a head that the attention kernel is compiled for.
pub(super) const HEADS: [usize; 4] = [16, 32, 64, 128];

/// Why a `config.json` does not describe a network that can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DesignError {
    /// Not JSON, or a key has another type.
    #[error("config.json cannot be read: {0}")]
    Parse(String),
    /// Another family of networks.
    #[error("model_type is {0:?}: only \"deberta-v2\" (DeBERTa v2 and v3) can be read")]
    Family(String),
    /// A variant that is not computed here.
    #[error("{key} is {value}: {supported}")]
    Unsupported {
        /// Key of the file.
        key: &'static str,
        /// What it says.
        value: String,
        /// What could be read.
        supported: &'static str,
    },
}

/// Sizes and variants of a network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Design {
    /// Width of a token.
    pub(super) width: usize,
    /// Width inside the feed-forward part.
    pub(super) inner: usize,
    /// Number of layers.
    pub(super) layers: usize,
    /// Width of a head.
    pub(super) head: usize,
    /// Added to the variance in every norm.
    pub(super) epsilon: f32,
    /// Rows of the table of absolute positions, if there is one.
    pub(super) absolute: Option<usize>,
    /// Rows of the table of token types; 0 if there is none.
    pub(super) types: usize,
    /// Relative positions, if any.
    pub(super) relative: Option<RelativeDesign>,
    /// Rows of the table of words.
    pub(crate) words: usize,
    /// Longest sequence that is read.
    pub(crate) reach: usize,
}

/// How relative positions enter the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RelativeDesign {
    /// Distances to rows of the table.
    pub(super) buckets: Buckets,
    /// Whether the table is normalised.
    pub(super) normed: bool,
    /// Whether positions go through the layer's own query and key matrices.
    pub(super) shared: bool,
    /// Who looks at whose positions.
    pub(super) terms: Terms,
}

/// Which products with positions a score holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Terms {
    /// Queries look at the positions of keys, and keys at those of queries.
    Both,
    /// Queries at the positions of keys only.
    ContentToPosition,
    /// Keys at the positions of queries only.
    PositionToContent,
}

impl Terms {
    fn of(names: &[String]) -> Option<Self> {
        let has = |term: &str| names.iter().any(|name| name == term);
        match (has("c2p"), has("p2c")) {
            (true, true) => Some(Self::Both),
            (true, false) => Some(Self::ContentToPosition),
            (false, true) => Some(Self::PositionToContent),
            (false, false) => None,
        }
    }
}

#[derive(Deserialize)]
struct Raw {
    model_type: Option<String>,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "gelu")]
    pooler_hidden_act: String,
    pooler_hidden_size: Option<usize>,
    embedding_size: Option<usize>,
    attention_head_size: Option<usize>,
    #[serde(default = "positions")]
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    relative_attention: bool,
    #[serde(default = "unset")]
    max_relative_positions: i64,
    #[serde(default = "unset")]
    position_buckets: i64,
    #[serde(default = "yes")]
    position_biased_input: bool,
    #[serde(default)]
    share_att_key: bool,
    norm_rel_ebd: Option<String>,
    pos_att_type: Option<Names>,
    #[serde(default)]
    conv_kernel_size: i64,
}

/// `"p2c|c2p"` in older files, a list in newer ones.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    Joined(String),
    List(Vec<String>),
}

impl Names {
    fn list(self) -> Vec<String> {
        match self {
            Self::Joined(text) => text.split('|').map(|term| term.trim().to_lowercase()).collect(),
            Self::List(list) => list.iter().map(|term| term.trim().to_lowercase()).collect(),
        }
    }
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn positions() -> usize {
    512
}

fn epsilon() -> f32 {
    1e-7
}

fn unset() -> i64 {
    -1
}

fn yes() -> bool {
    true
}

fn unsupported<T>(key: &'static str, value: impl ToString, supported: &'static str) -> Result<T, DesignError> {
    Err(DesignError::Unsupported { key, value: value.to_string(), supported })
}

impl Design {
    /// microsoft/deberta-v3-xsmall, read up to `reach` tokens.
    pub(crate) fn xsmall(reach: usize) -> Self {
        let relative =
            RelativeDesign { buckets: Buckets::logarithmic(256, 512), normed: true, shared: true, terms: Terms::Both };
        Self {
            width: 384,
            inner: 1536,
            layers: 12,
            head: 64,
            epsilon: 1e-7,
            absolute: None,
            types: 0,
            relative: Some(relative),
            words: 128_100,
            reach,
        }
    }

    /// Reads the text of a `config.json`.
    pub(crate) fn parse(json: &str) -> Result<Self, DesignError> {
        let raw: Raw = serde_json::from_str(json).map_err(|error| DesignError::Parse(error.to_string()))?;
        raw.check()?;
        Ok(Self {
            width: raw.hidden_size,
            inner: raw.intermediate_size,
            layers: raw.num_hidden_layers,
            head: raw.hidden_size / raw.num_attention_heads,
            epsilon: raw.layer_norm_eps,
            absolute: raw.position_biased_input.then_some(raw.max_position_embeddings),
            types: raw.type_vocab_size,
            words: raw.vocab_size,
            reach: raw.max_position_embeddings.min(LONGEST),
            relative: raw.relative()?,
        })
    }

    /// Bytes that the weights and the tables of positions take in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let layer = 4 * self.width * self.width + 2 * self.width * self.inner;
        let tables = if self.relative.is_some() { 2 * self.width * (2 * self.reach + 15) } else { 0 };
        (4 * (self.words * self.width + self.layers * (layer + tables))) as u64
    }
}

impl Raw {
    fn check(&self) -> Result<(), DesignError> {
        match &self.model_type {
            Some(family) if family != "deberta-v2" => return Err(DesignError::Family(family.clone())),
            _ => {}
        }
        if self.conv_kernel_size > 0 {
            return unsupported("conv_kernel_size", self.conv_kernel_size, "a convolution layer is not computed here");
        }
        for (key, act) in [("hidden_act", &self.hidden_act), ("pooler_hidden_act", &self.pooler_hidden_act)] {
            if act != "gelu" {
                return unsupported(key, act, "only gelu is computed");
            }
        }
        let sizes = [
            ("hidden_size", self.hidden_size, 1 << 14),
            ("intermediate_size", self.intermediate_size, 1 << 16),
            ("num_hidden_layers", self.num_hidden_layers, 512),
            ("num_attention_heads", self.num_attention_heads, 512),
            ("vocab_size", self.vocab_size, 1 << 24),
            ("max_position_embeddings", self.max_position_embeddings, 1 << 20),
        ];
        for (key, size, most) in sizes {
            if !(1..=most).contains(&size) {
                return unsupported(key, size, "no network has that many");
            }
        }
        let (width, head) = (self.hidden_size, self.hidden_size / self.num_attention_heads);
        if !width.is_multiple_of(self.num_attention_heads) || !HEADS.contains(&head) {
            return unsupported(
                "num_attention_heads",
                self.num_attention_heads,
                "heads of 16, 32, 64 or 128 can be read",
            );
        }
        for (key, own, equal) in [
            ("pooler_hidden_size", self.pooler_hidden_size, width),
            ("embedding_size", self.embedding_size, width),
            ("attention_head_size", self.attention_head_size, head),
        ] {
            if own.is_some_and(|own| own != equal) {
                return unsupported(key, own.unwrap_or(0), "only the size that hidden_size implies can be read");
            }
        }
        Ok(())
    }

    fn relative(self) -> Result<Option<RelativeDesign>, DesignError> {
        let names = self.pos_att_type.map(Names::list).unwrap_or_default();
        if let Some(other) = names.iter().find(|name| !["c2p", "p2c", ""].contains(&name.as_str())) {
            return unsupported("pos_att_type", other, "c2p and p2c are computed");
        }
        let Some(terms) = Terms::of(&names) else { return Ok(None) };
        if !self.relative_attention {
            // The original still divides the scores as if these terms were there.
            return unsupported("relative_attention", false, "pos_att_type says otherwise");
        }
        let furthest = usize::try_from(self.max_relative_positions).ok().filter(|most| *most > 0);
        let furthest = furthest.unwrap_or(self.max_position_embeddings);
        let buckets = match usize::try_from(self.position_buckets) {
            Ok(buckets) if buckets > 0 => {
                if buckets < 4 || furthest <= buckets / 2 + 1 {
                    return unsupported("position_buckets", buckets, "it does not fit max_relative_positions");
                }
                Buckets::logarithmic(buckets, furthest)
            }
            _ => Buckets::exact(furthest),
        };
        let norms = self.norm_rel_ebd.unwrap_or_default().to_lowercase();
        Ok(Some(RelativeDesign {
            buckets,
            normed: norms.split('|').any(|norm| norm.trim() == "layer_norm"),
            shared: self.share_att_key,
            terms,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As published for microsoft/deberta-v3-xsmall.
    fn published(change: impl FnOnce(&mut serde_json::Value)) -> String {
        let mut value = serde_json::json!({
            "model_type": "deberta-v2", "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1, "hidden_size": 384, "initializer_range": 0.02, "intermediate_size": 1536,
            "max_position_embeddings": 512, "relative_attention": true, "position_buckets": 256,
            "norm_rel_ebd": "layer_norm", "share_att_key": true, "pos_att_type": "p2c|c2p", "layer_norm_eps": 1e-7,
            "max_relative_positions": -1, "position_biased_input": false, "num_attention_heads": 6,
            "num_hidden_layers": 12, "type_vocab_size": 0, "vocab_size": 128_100,
        });
        change(&mut value);
        value.to_string()
    }

    #[test]
    fn the_published_file_is_the_built_in_design() {
        assert_eq!(Design::parse(&published(|_| ())), Ok(Design::xsmall(256)));
        let listed = published(|v| v["pos_att_type"] = serde_json::json!(["p2c", "c2p"]));
        assert_eq!(Design::parse(&listed), Ok(Design::xsmall(256)));
        assert_eq!(Design::xsmall(256).bytes() / 1_000_000, 301);
    }

    #[test]
    fn defaults_are_those_of_transformers() {
        let bare = serde_json::json!({
            "vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8,
        });
        let design = Design::parse(&bare.to_string()).expect("valid");
        assert_eq!((design.absolute, design.types, design.relative), (Some(512), 0, None));
    }

    #[test]
    fn what_is_not_computed_is_refused_by_key() {
        let cases: [(&str, fn(&mut serde_json::Value)); 12] = [
            ("model_type is \"bert\"", |v| v["model_type"] = "bert".into()),
            ("conv_kernel_size is 3", |v| v["conv_kernel_size"] = 3.into()),
            ("hidden_act is gelu_new", |v| v["hidden_act"] = "gelu_new".into()),
            ("pooler_hidden_act is tanh", |v| v["pooler_hidden_act"] = "tanh".into()),
            ("num_attention_heads is 7", |v| v["num_attention_heads"] = 7.into()),
            ("num_attention_heads is 0", |v| v["num_attention_heads"] = 0.into()),
            ("num_attention_heads is 384", |v| v["num_attention_heads"] = 384.into()),
            ("embedding_size is 128", |v| v["embedding_size"] = 128.into()),
            ("pos_att_type is p2p", |v| v["pos_att_type"] = "c2p|p2p".into()),
            ("relative_attention is false", |v| v["relative_attention"] = false.into()),
            ("position_buckets is 1100", |v| v["position_buckets"] = 1100.into()),
            ("missing field `hidden_size`", |v| {
                v.as_object_mut().expect("an object").remove("hidden_size");
            }),
        ];
        for (message, change) in cases {
            let error = Design::parse(&published(change)).expect_err(message).to_string();
            assert!(error.contains(message), "{error:?} instead of {message:?}");
        }
    }
}
