"""Fits the judge's calibration: three-way probabilities from what the network's classifier sees.

    python config/models/judge/fit.py models/judge nli-f32.onnx

`models/judge` is the installed folder, `nli-f32.onnx` comes from benches/nli_onnx.py. Reads pairs-*.jsonl beside this
file (one premise a line with its entailed, neutral and contradicted sentences; `part` says whether it may be used for
fitting), makes pairs in the captioner's own words (scenes.py), and writes calibration.json and report.json beside it.

The head is a multinomial logistic regression on standardised features with an L2 penalty; each source weighs as much
as its share says. Penalty and threshold are chosen by cross-validation over groups of the fit part (a premise, a video,
a scene); the held-out part is only reported. The threshold is the lowest, from a half on, at which cross-validated
false GROUNDED are at most 0.3 % of what is not entailed.

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

import scenes

HERE = pathlib.Path(__file__).parent
CLASSES = ["contradicted", "entailed", "neutral"]
PENALTIES = [3e-5, 1e-4, 3e-4, 1e-3]
FOLDS = 5
FALSE_GROUNDED = 0.003
FEATURES = "/m/pooler/Mul_1_output_0"
# Scenes fitted to, and held out; how much a pair of each source weighs.
SCENES = {"fit": 60, "held-out": 25}
WEIGHTS = {"pairs-written": 2.0, "scenes": 0.5}


def pairs():
    """(source, part, group, premise, sentence, class)"""
    number = 0
    for path in sorted(HERE.glob("pairs-*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            number += 1
            group = row.get("video", number)
            for label, name in enumerate(CLASSES):
                for sentence in row[name]:
                    yield path.stem, row["part"], f"{path.stem} {group}", row["premise"], sentence, label
    for part, count in SCENES.items():
        for scene, premise, sentence, label in scenes.pairs(part, count):
            yield "scenes", part, f"{part} scene {scene}", premise, sentence, CLASSES.index(label)


def read(folder, path, rows):
    """Features and logits of the network, one row a pair; rows of one length go together."""
    model = onnx.load(path)
    model.graph.output.append(onnx.helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    ids = [tokenizer.encode(row[3], row[4]).ids for row in rows]
    features, logits = np.zeros((len(rows), 384)), np.zeros((len(rows), 2), np.float32)
    order = sorted(range(len(rows)), key=lambda i: len(ids[i]))
    while order:
        together = [i for i in order[:32] if len(ids[i]) == len(ids[order[0]])]
        order = order[len(together):]
        batch = np.array([ids[i] for i in together])
        z, f = session.run(["logits", FEATURES], {"input_ids": batch, "attention_mask": np.ones_like(batch)})
        features[together], logits[together] = f, z
    return features, logits


def known(folder, path, rows):
    """Features and logits, of which those seen before are kept in features.npz (not committed)."""
    cache, keys = HERE / "features.npz", [f"{row[3]}\t{row[4]}" for row in rows]
    kept = {}
    if cache.exists():
        stored = np.load(cache)
        kept = {key: (f, z) for key, f, z in zip(stored["keys"], stored["features"], stored["logits"])}
    new = {key: row for key, row in zip(keys, rows) if key not in kept}
    print(f"{len(new)} of {len(rows)} pairs are new", flush=True)
    if new:
        for key, f, z in zip(new, *read(folder, path, list(new.values()))):
            kept[key] = (f, z)
        np.savez(cache, keys=np.array(list(kept)), features=np.stack([f for f, _ in kept.values()]).astype(np.float32),
                 logits=np.stack([z for _, z in kept.values()]))
    return np.stack([kept[key][0] for key in keys]).astype(np.float64), np.stack([kept[key][1] for key in keys])


def fit(x, y, weight, penalty):
    """Weights [3, n] and intercepts [3] on raw features."""
    mean, deviation = x.mean(0), x.std(0) + 1e-6
    xs = torch.tensor((x - mean) / deviation)
    ys, ws = torch.tensor(y), torch.tensor(weight / weight.mean())
    w = torch.zeros(3, x.shape[1], dtype=torch.float64, requires_grad=True)
    b = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([w, b], max_iter=80, tolerance_grad=1e-7, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        value = torch.nn.functional.cross_entropy(xs @ w.T + b, ys, reduction="none")
        value = (value * ws).mean() + penalty * (w * w).sum() / 2
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


def cross_validated(x, y, weight, groups, penalty):
    out = np.zeros((len(y), 3))
    order = np.random.default_rng(7).permutation(np.unique(groups))
    for fold in range(FOLDS):
        test = np.isin(groups, order[fold::FOLDS])
        out[test] = probabilities(x[test], *fit(x[~test], y[~test], weight[~test], penalty))
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
    return {
        "three_way": share(p.argmax(1) == y),
        "entailment_by_first_logit_larger": share((logits[:, 0] > logits[:, 1]) == entailed),
        "false_grounded": share(grounded[~entailed]),
        "grounded_of_entailed": share(grounded[entailed]),
    }


def main():
    torch.set_num_threads(1)
    folder, path = pathlib.Path(sys.argv[1]), sys.argv[2]
    rows = list(pairs())
    x, logits = known(folder, path, rows)
    y = np.array([row[5] for row in rows])
    groups = np.array([row[2] for row in rows])
    held = np.array([row[1] == "held-out" for row in rows])
    source = np.array([row[0] for row in rows])
    weight = np.array([WEIGHTS.get(name, 1.0) for name in source])
    losses = {}
    for penalty in PENALTIES:
        p = cross_validated(x[~held], y[~held], weight[~held], groups[~held], penalty)
        losses[penalty] = -(np.log(p[np.arange(len(p)), y[~held]]) * weight[~held]).mean()
        print(f"penalty {penalty}: loss {losses[penalty]:.4f}, right {(p.argmax(1) == y[~held]).mean():.4f}", flush=True)
    penalty = min(losses, key=losses.get)
    p = cross_validated(x[~held], y[~held], weight[~held], groups[~held], penalty)
    wrong = np.sort(p[y[~held] != 1, 1])[::-1]
    threshold = max(0.5, math.ceil(wrong[int(FALSE_GROUNDED * len(wrong))] * 1000 + 1) / 1000)
    w, b = fit(x[~held], y[~held], weight[~held], penalty)
    p = probabilities(x, w, b)
    weights = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()[:12]
    seen = "".join(f"{row}\n" for row in [*rows, penalty, threshold])
    digest = hashlib.sha256(seen.encode()).hexdigest()[:6]
    calibration = {
        "version": f"cal2-{digest}",
        "weights": f"deberta-v3-xsmall-nli@{weights}",
        "threshold": threshold,
        "intercepts": [float(f"{v:.6g}") for v in b],
        "coefficients": [[float(f"{v:.5g}") for v in row] for row in w],
    }
    text = json.dumps(calibration, separators=(", ", ": ")).replace("], [", "],\n[").replace(', "', ',\n"')
    (HERE / "calibration.json").write_text(text + "\n")
    parts = {"fit": ~held, "held-out": held}
    parts |= {f"{part} {name}": mask & (source == name) for part, mask in list(parts.items()) for name in np.unique(source)}
    result = {name: report(p[mask], y[mask], logits[mask], threshold) for name, mask in parts.items()}
    result = {"version": calibration["version"], "penalty": penalty, "threshold": threshold, **result}
    (HERE / "report.json").write_text(json.dumps(result, indent=1) + "\n")
    for name, figures in result.items():
        if isinstance(figures, dict):
            print(f"{name:30}", {key: (value["right"], value["of"], value["share"]) for key, value in figures.items()})
    print("threshold", threshold, "penalty", penalty)
    if "-v" in sys.argv:
        for row, q in zip(rows, p):
            if row[1] == "held-out" and q.argmax() != row[5]:
                print(row[0], CLASSES[row[5]], "read as", CLASSES[q.argmax()], np.round(q, 2), row[3], "=>", row[4])


if __name__ == "__main__":
    main()
