"""Judge and embedder beside onnxruntime, in turns: same weights in f32, same texts, from text to result.

    python benches/reference_text.py models "cargo bench --bench text --" [rounds]

`benches/nli_random.py` makes a folder `models` with a judge of another size.

Prints one line of JSON a case: median and minimum of the milliseconds of both sides, and the ratio of the medians
(above 1: the product is faster). The two sides take turns batch by batch, so that a loaded machine slows both.

Tried with: numpy 2.4.6, onnx 1.23.2, onnxruntime 1.32.0, tokenizers 0.23, torch 2.15.0, transformers 5.24.0.
"""

import io
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime
import tokenizers
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel

from nli_onnx import to_f32

PREMISES = [
    "There are about seven people, a car and a van or truck.",
    "Two people are on the left and five are on the right.",
    "Four people wear black, two wear red and one wears blue.",
    "The van or truck is on the right in the background.",
]
CLAIMS = [
    "There are five people near the white van.",
    "A person in red is on the left.",
    "Three people are walking past the car.",
    "The truck is on the right side.",
]


class Judge:
    def __init__(self, folder):
        model = onnx.load(folder / "model.onnx")
        # A checkpoint with a config.json (benches/nli_random.py) is exported in f32; the built-in judge is int8.
        if not (folder / "config.json").exists():
            model = to_f32(model)
        self.session = session(model.SerializeToString())
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_padding()

    def run(self, batch):
        encoded = self.tokenizer.encode_batch([tuple(pair) for pair in batch["pairs"]])
        ids = np.array([e.ids for e in encoded])
        mask = np.array([e.attention_mask for e in encoded])
        self.session.run(None, {"input_ids": ids, "attention_mask": mask})
        return ids.shape


class Embedder:
    def __init__(self, folder):
        model = BertModel(BertConfig(
            vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
            layer_norm_eps=1e-12,
        ), add_pooling_layer=False).eval()
        model.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
        ids = torch.ones(2, 9, dtype=torch.int64)
        axes = {0: "batch", 1: "length"}
        buffer = io.BytesIO()
        model.config._attn_implementation = "eager"
        torch.onnx.export(
            Hidden(model), (ids, ids), buffer, dynamo=False, opset_version=17, input_names=["ids", "mask"],
            output_names=["hidden"], dynamic_axes={"ids": axes, "mask": axes, "hidden": axes},
        )
        self.session = session(buffer.getvalue())
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()

    def run(self, batch):
        encoded = self.tokenizer.encode_batch(batch["texts"])
        ids = np.array([e.ids for e in encoded])
        mask = np.array([e.attention_mask for e in encoded])
        (hidden,) = self.session.run(None, {"ids": ids, "mask": mask})
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return ids.shape


class Hidden(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = len(os.sched_getaffinity(0))
    # Threads that spin between two batches would take the processor from the other side.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options)


class Product:
    def __init__(self, command, folder):
        environment = {**os.environ, "GVQA_MODELS": str(folder.resolve())}
        self.process = subprocess.Popen(
            shlex.split(command) + ["--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout.readline().strip() == "ready"

    def run(self, batch):
        self.process.stdin.write(json.dumps(batch) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main():
    folder, command = pathlib.Path(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    judge, embedder, product = Judge(folder / "judge"), Embedder(folder / "embedder"), Product(command, folder)
    pairs = {"pairs": [[PREMISES[i % 4], CLAIMS[i // 4]] for i in range(16)]}
    cases = [
        ("judge", judge, pairs),
        ("embed", embedder, {"texts": [PREMISES[i % 4] for i in range(32)]}),
        ("embed", embedder, {"texts": PREMISES[:1]}),
    ]
    for name, reference, batch in cases:
        (items,) = (len(v) for v in batch.values())
        ours, theirs = [], []
        for turn in range(rounds + 3):
            mine = product.run(batch)
            start = time.perf_counter()
            shape = reference.run(batch)
            other = (time.perf_counter() - start) * 1e3
            if turn >= 3:
                ours.append(mine)
                theirs.append(other)
        median = statistics.median
        print(json.dumps({
            "case": name, "batch": items, "tokens": shape[1], "rounds": rounds,
            "groundedvqa_ms": round(median(ours), 2), "onnxruntime_ms": round(median(theirs), 2),
            "groundedvqa_min_ms": round(min(ours), 2), "onnxruntime_min_ms": round(min(theirs), 2),
            "per_second": round(items / median(ours) * 1e3, 1),
            "ratio": round(median(theirs) / median(ours), 2), "ratio_of_minima": round(min(theirs) / min(ours), 2),
        }), flush=True)


if __name__ == "__main__":
    main()
