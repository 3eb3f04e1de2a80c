//! The models beside the vision-language model, at true shapes with random weights: judge, drafter, embedder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use candle_core::{Device, Tensor};
use groundedvqa::domain::{Citation, Claim, Embedding, Fingerprint};
use groundedvqa::models::drafter::{self, Gguf, LanguageModel, Llama, Shape, Tokenizer};
use groundedvqa::models::judge::NliJudge;
use groundedvqa::seams::{DraftRequest, Drafter, Embedder, Judge as _, ModelError, Pair};

use crate::table::{Table, timed};

pub(crate) const DRAFTER: &str = "SmolLM2-135M, CPU";
pub(crate) const JUDGE: &str = "nli-deberta-v3-small, CPU";
const LIKE: &[u8] = include_bytes!("../../tests/fixtures/drafter/chats/llama.gguf");
const TOKENIZER: &[u8] = include_bytes!("../../tests/fixtures/judge/three-way/tokenizer.json");
/// Words of that tokenizer.
const WORDS: usize = 46;
const PROMPT: &str = include_str!("../draft_prompt.txt");
const PROMPT_TOKENS: usize = 512;
const WRITTEN: usize = 64;
const PAIRS: usize = 16;

/// Writes the files of a drafter and a judge into `folder`.
pub(crate) fn write(folder: &Path) -> anyhow::Result<(PathBuf, PathBuf)> {
    let (gguf, judge) = (folder.join("drafter.gguf"), folder.join("judge"));
    std::fs::write(&gguf, drafter::noise(LIKE, &drafter::Size::SMOLLM2_135M)?)?;
    std::fs::create_dir(&judge)?;
    std::fs::write(judge.join("tokenizer.json"), TOKENIZER)?;
    std::fs::write(judge.join("config.json"), config().to_string())?;
    candle_core::safetensors::save(&weights(6, 768, 3072)?, judge.join("model.safetensors"))?;
    Ok((gguf, judge))
}

/// nli-deberta-v3-small but for its words.
fn config() -> serde_json::Value {
    serde_json::json!({
        "model_type": "deberta-v2", "vocab_size": WORDS, "hidden_size": 768, "num_hidden_layers": 6,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 0,
        "relative_attention": true, "max_relative_positions": -1, "position_buckets": 256,
        "norm_rel_ebd": "layer_norm", "share_att_key": true, "pos_att_type": "p2c|c2p", "position_biased_input": false,
        "id2label": {"0": "contradiction", "1": "entailment", "2": "neutral"},
    })
}

fn weights(layers: usize, width: usize, inner: usize) -> candle_core::Result<HashMap<String, Tensor>> {
    let mut all = HashMap::new();
    let mut linear = |name: &str, from: usize, to: usize| -> candle_core::Result<()> {
        let weight = Tensor::randn(0.0_f32, (from as f32).powf(-0.5), (to, from), &Device::Cpu)?;
        all.insert(format!("{name}.weight"), weight);
        all.insert(format!("{name}.bias"), Tensor::zeros(to, candle_core::DType::F32, &Device::Cpu)?);
        Ok(())
    };
    let mut norms = vec!["deberta.embeddings".to_owned(), "deberta.encoder".to_owned()];
    for layer in 0..layers {
        let at = format!("deberta.encoder.layer.{layer}");
        for part in ["query_proj", "key_proj", "value_proj"] {
            linear(&format!("{at}.attention.self.{part}"), width, width)?;
        }
        linear(&format!("{at}.attention.output.dense"), width, width)?;
        linear(&format!("{at}.intermediate.dense"), width, inner)?;
        linear(&format!("{at}.output.dense"), inner, width)?;
        norms.extend([format!("{at}.attention.output"), format!("{at}.output")]);
    }
    linear("pooler.dense", width, width)?;
    linear("classifier", width, 3)?;
    for name in norms {
        all.insert(format!("{name}.LayerNorm.weight"), Tensor::ones(width, candle_core::DType::F32, &Device::Cpu)?);
        all.insert(format!("{name}.LayerNorm.bias"), Tensor::zeros(width, candle_core::DType::F32, &Device::Cpu)?);
    }
    let table = |rows: usize| Tensor::randn(0.0_f32, 1.0, (rows, width), &Device::Cpu);
    all.insert("deberta.embeddings.word_embeddings.weight".to_owned(), table(WORDS)?);
    all.insert("deberta.encoder.rel_embeddings.weight".to_owned(), table(512)?);
    Ok(all)
}

/// What the drafter's network reads and writes, and how many pairs the judge judges.
pub(crate) fn measure(table: &Table, gguf: &Path, judge: &Path) -> anyhow::Result<()> {
    let bytes = std::fs::read(gguf)?;
    let gguf = Gguf::parse(&bytes)?;
    let network = Llama::load(&gguf, Shape::read(&gguf, 2048)?)?;
    let mut tokens = Tokenizer::from_gguf(&gguf).map_err(anyhow::Error::msg)?.encode(PROMPT);
    tokens.truncate(PROMPT_TOKENS);
    let all: Vec<u32> = (0..network.shape().vocabulary as u32).collect();
    let mut memory = network.memory();
    let read = format!("reads a prompt of {} tokens", tokens.len());
    table.row((DRAFTER, &read), 1, (tokens.len(), "tokens"), |_| -> anyhow::Result<Duration> {
        network.truncate(&mut memory, 0);
        timed(|| network.feed(&mut memory, &tokens).map_err(anyhow::Error::from))
    })?;
    let write = format!("writes {WRITTEN} tokens behind it");
    table.row((DRAFTER, &write), 1, (WRITTEN, "tokens"), |_| {
        network.truncate(&mut memory, tokens.len() - 1);
        let mut state = network.feed(&mut memory, &tokens[tokens.len() - 1..])?.context("the prompt fits")?;
        timed(|| -> anyhow::Result<()> {
            for _ in 0..WRITTEN {
                let logits = network.logits(&state, &all);
                let best = (0..).zip(&logits).max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(id, _)| id);
                state = network.feed(&mut memory, &[best])?.context("the answer fits")?;
            }
            Ok(())
        })
    })?;
    let mut judge = NliJudge::load(judge)?;
    let pairs =
        vec![
            Pair { premise: crate::answers::SENTENCES[0].to_owned(), hypothesis: "There is a red car.".to_owned() };
            PAIRS
        ];
    table.row((JUDGE, "judges sentences"), PAIRS, (PAIRS, "pairs"), |_| timed(|| judge.judge(&pairs)))?;
    Ok(())
}

/// A drafter that does all its work, whose claims are then replaced by one a moment: of noise nothing would be left.
pub(crate) struct ClaimOfEach(pub(crate) LanguageModel);

impl Drafter for ClaimOfEach {
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        self.draft_with_pauses(request, &mut || ())
    }

    fn draft_with_pauses(&mut self, request: &DraftRequest, pause: &mut dyn FnMut()) -> Result<Vec<Claim>, ModelError> {
        self.0.draft_with_pauses(request, pause)?;
        let claim = |moment: &groundedvqa::domain::Moment| {
            let text = moment.caption.sentences().next().unwrap_or_default().to_owned();
            Claim { text, citation: Citation { stream: moment.stream.clone(), at: moment.at } }
        };
        Ok(request.moments.iter().take(request.max_claims).map(claim).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        self.0.fingerprint()
    }
}

/// A bag of words: what an embedder costs, a few milliseconds, is not part of the rows.
pub(crate) struct Words(Fingerprint);

impl Words {
    pub(crate) fn new() -> Self {
        Self(Fingerprint::new("words@0"))
    }

    pub(crate) fn vector(text: &str) -> Embedding {
        let mut values = vec![0.0_f32; 384];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let bucket = word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31) + byte as usize) % values.len();
            values[bucket] += 1.0;
        }
        Embedding::new(values)
    }
}

impl Embedder for Words {
    fn embed(&mut self, texts: &[String]) -> Result<Vec<Embedding>, ModelError> {
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
}
