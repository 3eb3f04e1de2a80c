"""Fits the judge's calibration: three-way probabilities from what the network's classifier sees.

    python config/models/judge/fit.py models/judge nli-f32.onnx

`models/judge` is the installed folder, `nli-f32.onnx` comes from benches/nli_onnx.py. Reads pairs-*.jsonl beside this
file (one premise a line with its entailed, neutral and contradicted sentences; `part` says whether it may be used for
fitting) and writes calibration.json and report.json beside it.

The head is a multinomial logistic regression on standardised features with an L2 penalty. Penalty and threshold are
chosen by cross-validation over premises of the fit part; the held-out part is only reported. The threshold is the
lowest at which cross-validated false GROUNDED are at most 0.5 % of what is not entailed.

Tried with: numpy 2.4.6, onnx 1.23.2, onnxruntime 1.32.0, tokenizers 0.23, torch 2.15.0.
"""

import hashlib
import json
import math
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
import tokenizers
import torch

HERE = pathlib.Path(__file__).parent
CLASSES = ["contradicted", "entailed", "neutral"]
PENALTIES = [1e-3, 3e-3, 1e-2, 3e-2]
FOLDS = 5
FALSE_GROUNDED = 0.005
FEATURES = "/m/pooler/Mul_1_output_0"


def pairs():
    """(file, part, premise number, premise, sentence, class)"""
    number = 0
    for path in sorted(HERE.glob("pairs-*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            number += 1
            for label, name in enumerate(CLASSES):
                for sentence in row[name]:
                    yield path.stem, row["part"], number, row["premise"], sentence, label


def read(folder, path, rows):
    """Features and logits of the network, one row a pair."""
    model = onnx.load(path)
    model.graph.output.append(onnx.helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    features, logits = [], []
    for row in rows:
        ids = np.array([tokenizer.encode(row[3], row[4]).ids])
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        z, f = session.run(["logits", FEATURES], feeds)
        features.append(f[0])
        logits.append(z[0])
    return np.stack(features).astype(np.float64), np.stack(logits)


def fit(x, y, penalty):
    """Weights [3, n] and intercepts [3] on raw features."""
    mean, deviation = x.mean(0), x.std(0) + 1e-6
    xs = torch.tensor((x - mean) / deviation)
    ys = torch.tensor(y)
    w = torch.zeros(3, x.shape[1], dtype=torch.float64, requires_grad=True)
    b = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([w, b], max_iter=60, tolerance_grad=1e-7, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        value = torch.nn.functional.cross_entropy(xs @ w.T + b, ys) + penalty * (w * w).sum() / 2
        value.backward()
        return value

    optimiser.step(loss)
    w, b = w.detach().numpy(), b.detach().numpy()
    w = w / deviation
    return w, b - w @ mean


def probabilities(x, w, b):
    z = x @ w.T + b
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def cross_validated(x, y, groups, penalty):
    out = np.zeros((len(y), 3))
    order = np.random.default_rng(7).permutation(np.unique(groups))
    for fold in range(FOLDS):
        test = np.isin(groups, order[fold::FOLDS])
        out[test] = probabilities(x[test], *fit(x[~test], y[~test], penalty))
    return out


def wilson(right, n):
    """95 % interval of a share."""
    z, p = 1.959964, right / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return [round((centre - half) / (1 + z * z / n), 4), round((centre + half) / (1 + z * z / n), 4)]


def share(mask):
    return {"right": int(mask.sum()), "of": int(mask.size), "share": round(float(mask.mean()), 4),
            "wilson95": wilson(int(mask.sum()), mask.size)}


def report(p, y, logits, threshold):
    grounded, entailed = p[:, 1] >= threshold, y == 1
    d = logits[:, 0] - logits[:, 1]
    band = np.where(d < -0.6, 0, np.where(d > 0.15, 2, 1))
    return {
        "three_way": share(p.argmax(1) == y),
        "three_way_by_band_of_logit_difference": share(band == y),
        "entailment_by_first_logit_larger": share((logits[:, 0] > logits[:, 1]) == entailed),
        "false_grounded": share(grounded[~entailed]),
        "grounded_of_entailed": share(grounded[entailed]),
    }


def main():
    torch.set_num_threads(1)
    folder, path = pathlib.Path(sys.argv[1]), sys.argv[2]
    rows = list(pairs())
    cache = HERE / "features.npz"  # not committed; delete it when pairs or weights change
    if not cache.exists():
        np.savez(cache, *read(folder, path, rows))
    x, logits = np.load(cache).values()
    y = np.array([row[5] for row in rows])
    groups = np.array([row[2] for row in rows])
    held = np.array([row[1] == "held-out" for row in rows])
    file = np.array([row[0] for row in rows])
    losses = {}
    for penalty in PENALTIES:
        p = cross_validated(x[~held], y[~held], groups[~held], penalty)
        losses[penalty] = -np.log(p[np.arange(len(p)), y[~held]]).mean()
        print(f"penalty {penalty}: loss {losses[penalty]:.4f}, right {(p.argmax(1) == y[~held]).mean():.4f}")
    penalty = min(losses, key=losses.get)
    p = cross_validated(x[~held], y[~held], groups[~held], penalty)
    wrong = np.sort(p[y[~held] != 1, 1])[::-1]
    threshold = max(0.5, math.ceil(wrong[int(FALSE_GROUNDED * len(wrong))] * 1000 + 1) / 1000)
    w, b = fit(x[~held], y[~held], penalty)
    p = probabilities(x, w, b)
    weights = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()[:12]
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(HERE.glob("pairs-*.jsonl")))).hexdigest()[:6]
    calibration = {
        "version": f"cal1-{digest}",
        "weights": f"deberta-v3-xsmall-nli@{weights}",
        "threshold": threshold,
        "intercepts": [float(f"{v:.6g}") for v in b],
        "coefficients": [[float(f"{v:.5g}") for v in row] for row in w],
    }
    text = json.dumps(calibration, separators=(", ", ": ")).replace("], [", "],\n[").replace(', "', ',\n"')
    (HERE / "calibration.json").write_text(text + "\n")
    parts = {"fit": ~held, "held-out": held}
    parts |= {f"held-out {name}": held & (file == name) for name in np.unique(file)}
    result = {name: report(p[mask], y[mask], logits[mask], threshold) for name, mask in parts.items()}
    result = {"version": calibration["version"], "penalty": penalty, "threshold": threshold, **result}
    (HERE / "report.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    for row, q in zip(rows, p):
        if row[1] == "held-out" and (q.argmax() != row[5]) and "-v" in sys.argv:
            print(row[0][6], CLASSES[row[5]], "read as", CLASSES[q.argmax()], np.round(q, 2), row[3], "=>", row[4])


if __name__ == "__main__":
    main()
