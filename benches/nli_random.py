"""A folder of models whose judge has the shape of nli-deberta-v3-small and random weights, for benches/reference_text.py.

    python benches/nli_random.py models random-models [layers width heads inner]

Writes judge/config.json, judge/model.safetensors and judge/model.onnx (f32, dynamic batch and length); the tokenizer is
the installed judge's, which is that of every DeBERTa v3; embedder/ is linked. What it says is noise, what it costs is
not.

Tried with: torch 2.15.0, transformers 5.24.0, onnx 1.23.2, safetensors 0.8.
"""

import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import save_file
from transformers import DebertaV2Config, DebertaV2ForSequenceClassification


class Logits(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask).logits


def main():
    models, out = map(pathlib.Path, sys.argv[1:3])
    layers, width, heads, inner = map(int, sys.argv[3:7]) if len(sys.argv) > 3 else (6, 768, 12, 3072)
    folder = out / "judge"
    folder.mkdir(parents=True, exist_ok=True)
    if not (out / "embedder").exists():
        (out / "embedder").symlink_to((models / "embedder").resolve())
    torch.manual_seed(0)
    model = DebertaV2ForSequenceClassification(DebertaV2Config(
        vocab_size=128100, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=inner, max_position_embeddings=512, type_vocab_size=0, relative_attention=True,
        max_relative_positions=-1, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True,
        pos_att_type=["p2c", "c2p"], position_biased_input=False,
        id2label={0: "contradiction", 1: "entailment", 2: "neutral"},
    )).eval()
    (folder / "config.json").write_text(json.dumps(model.config.to_dict()))
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, folder / "model.safetensors")
    shutil.copyfile(models / "judge" / "tokenizer.json", folder / "tokenizer.json")
    ids = torch.ones(2, 9, dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(
        Logits(model), (ids, ids), folder / "model.onnx", dynamo=False, opset_version=17,
        input_names=["input_ids", "attention_mask"], output_names=["logits"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "logits": {0: "batch"}},
    )


if __name__ == "__main__":
    main()
