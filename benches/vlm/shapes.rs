//! The published `config.json` of each model, as far as it decides the shape, with the image token of a small tokenizer.

use serde_json::{Value, json};

/// Small tokenizers with the families' marks.
const QWEN3: &[u8] = include_bytes!("../../tests/fixtures/vlm/qwen3-tied/tokenizer.json");
const SMOL: &[u8] = include_bytes!("../../tests/fixtures/vlm/smolvlm/tokenizer.json");

/// The shape of a model and which tokenizer it takes.
pub(crate) fn shape(name: &str) -> Option<(Value, &'static [u8])> {
    let smol = |width: usize, inner: usize, heads: usize, kv_heads: usize, layers: usize| {
        json!({
            "model_type": "smolvlm", "image_token_id": 500, "scale_factor": 4,
            "vision_config": {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
                "num_attention_heads": 12, "image_size": 512, "patch_size": 16},
            "text_config": {"vocab_size": 49280, "hidden_size": width, "intermediate_size": inner,
                "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
                "head_dim": 64, "rope_theta": 100_000.0, "rms_norm_eps": 1e-5},
        })
    };
    let qwen3 = |width: usize, inner: usize, heads: usize, layers: usize, vision: [usize; 3], deep: [usize; 3]| {
        json!({
            "model_type": "qwen3_vl", "image_token_id": 500,
            "vision_config": {"depth": vision[0], "hidden_size": vision[1], "intermediate_size": vision[2],
                "num_heads": 16, "patch_size": 16, "temporal_patch_size": 2, "spatial_merge_size": 2,
                "out_hidden_size": width, "num_position_embeddings": 2304, "deepstack_visual_indexes": deep},
            "text_config": {"vocab_size": 151_936, "hidden_size": width, "intermediate_size": inner,
                "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": 8,
                "head_dim": 128, "rope_theta": 5_000_000.0, "rms_norm_eps": 1e-6,
                "rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"}},
        })
    };
    Some(match name {
        "smolvlm-256m" => (smol(576, 1536, 9, 3, 30), SMOL),
        "smolvlm-500m" => (smol(960, 2560, 15, 5, 32), SMOL),
        "qwen3-vl-2b" => (qwen3(2048, 6144, 16, 28, [24, 1024, 4096], [5, 11, 17]), QWEN3),
        "qwen3-vl-4b" => (qwen3(2560, 9728, 32, 36, [24, 1024, 4096], [5, 11, 17]), QWEN3),
        "qwen3-vl-8b" => (qwen3(4096, 12288, 32, 36, [27, 1152, 4304], [8, 16, 24]), QWEN3),
        _ => return None,
    })
}

/// `shape` with so many layers of the decoder at most: the widths of a model whose depth does not fit this machine.
pub(crate) fn shallow(shape: &mut Value, layers: u64) {
    let depth = &mut shape["text_config"]["num_hidden_layers"];
    *depth = depth.as_u64().unwrap_or(layers).min(layers).into();
}
