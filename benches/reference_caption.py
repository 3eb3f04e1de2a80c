"""A scene caption here and in onnxruntime, in turns on the same frames. One command:

    python3 -m venv /tmp/ref && /tmp/ref/bin/pip install numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0 \\
        opencv-python-headless==5.0.0.93 safetensors==0.8.0
    /tmp/ref/bin/python benches/reference_caption.py [CLIP]

Both take RGB pixels of the clip's size (vtest.avi: 768x576), letterbox and normalise them, run the same network on two
threads, decode the boxes and suppress doubles; only ours then also writes the sentences. Prints one line of JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
from nanodet_onnx import convert
from safetensors.numpy import load_file, save_file

ROOT = Path(__file__).resolve().parents[1]
MODELS = Path(os.environ.get("GVQA_MODELS", ROOT / "models"))
SIDE = 416
# Blue, green, red.
MEAN, DEVIATION = (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)
CLIP = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
FRAMES, ROUNDS, FLOOR = 8, 15, 0.27
CELLS = np.concatenate(
    [
        np.stack([(np.arange(n * n) % n + 0.5) * s, (np.arange(n * n) // n + 0.5) * s, np.full(n * n, s)], 1)
        for n, s in [(52, 8), (26, 16), (13, 32)]
    ]
).astype(np.float32)
SCALE = 1 / np.array(DEVIATION, np.float32)[None, :, None, None]


def frames(path):
    clip, pictures = cv2.VideoCapture(path), {}
    total = int(clip.get(cv2.CAP_PROP_FRAME_COUNT))
    for number in range(total):
        there, picture = clip.read()
        if there and number % (total // FRAMES) == 0:
            pictures[f"{number:05}"] = cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
    return pictures


def run(session, rgb, top, left):
    """Logits of all cells for a picture that fits the square."""
    square = np.zeros((SIDE, SIDE, 3), np.uint8)
    square[top : top + rgb.shape[0], left : left + rgb.shape[1]] = rgb
    blob = cv2.dnn.blobFromImage(square, 1.0, (SIDE, SIDE), MEAN, swapRB=True) * SCALE
    return [output.reshape(124, -1).T for output in session.run(None, {"picture": blob})]


def check(session):
    """The converted network, and what stands before it, against the original runtime."""
    fixtures = ROOT / "tests/fixtures/captioner"
    reference, worst = load_file(fixtures / "reference.safetensors"), 0.0
    for name, rgb in load_file(fixtures / "frames.safetensors").items():
        for scale, logits in enumerate(run(session, rgb, (SIDE - rgb.shape[0]) // 2, 0)):
            found = np.concatenate([1 / (1 + np.exp(-logits[::5, :80])), logits[::5, 80:]], 1)
            worst = max(worst, float(np.abs(found - reference[f"{name}.{scale}.cells"]).max()))
    assert worst <= 1e-4, f"the converted network is off by {worst}"
    return worst


def detect(session, rgb):
    """Boxes in pixels of the picture, scores, classes."""
    height, width = rgb.shape[:2]
    scale = SIDE / max(height, width)
    small = cv2.resize(rgb, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)
    top, left = (SIDE - small.shape[0]) // 2, (SIDE - small.shape[1]) // 2
    output = np.concatenate(run(session, small, top, left))
    cells, classes = np.nonzero(output[:, :80] > np.log(FLOOR / (1 - FLOOR)))
    scores = 1 / (1 + np.exp(-output[cells, classes]))
    logits = output[cells, 80:].reshape(-1, 4, 11)
    bins = np.exp(logits - logits.max(2, keepdims=True))
    far = (bins @ np.arange(11, dtype=np.float32) / bins.sum(2)) * CELLS[cells, 2:]
    corners = np.concatenate([CELLS[cells, :2] - far[:, :2], CELLS[cells, :2] + far[:, 2:]], 1)
    boxes = (corners - np.array([left, top, left, top], np.float32)) / scale
    sizes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], 1)
    kept = cv2.dnn.NMSBoxesBatched(sizes.tolist(), scores.tolist(), classes.tolist(), FLOOR, 0.6)
    return boxes[kept], scores[kept], classes[kept]


def session(model, spinning):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(2, os.cpu_count())
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spinning)))
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def main():
    pictures = frames(sys.argv[1] if len(sys.argv) > 1 else CLIP)
    with tempfile.TemporaryDirectory() as folder:
        path, model = str(Path(folder) / "frames.safetensors"), str(Path(folder) / "nanodet.onnx")
        save_file(pictures, path)
        onnx.save(convert(MODELS / "captioner"), model)
        # Spinning is onnxruntime's default and best on an idle machine, waiting is better on a busy one.
        sessions = {name: session(model, name == "spinning") for name in ("spinning", "waiting")}
        worst = check(sessions["waiting"])
        print("building and starting our side …", file=sys.stderr)
        ours = subprocess.Popen(
            ["cargo", "bench", "--quiet", "--bench", "caption", "--", "--serve", path],
            cwd=ROOT,
            env={**os.environ, "RAYON_NUM_THREADS": "2"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        times = {name: [] for name in ("ours", *sessions)}
        cpu = dict.fromkeys(times, 0.0)
        for number in range(ROUNDS + 1):
            for name in times:
                if name == "ours":
                    ours.stdin.write("\n")
                    ours.stdin.flush()
                    answer = json.loads(ours.stdout.readline())
                    walls, used = answer["wall_ms"], answer["cpu_ms"]
                else:
                    before, walls = time.process_time(), []
                    for rgb in pictures.values():
                        start = time.perf_counter()
                        detect(sessions[name], rgb)
                        walls.append((time.perf_counter() - start) * 1e3)
                    used = (time.process_time() - before) * 1e3
                if number > 0:
                    times[name] += walls
                    cpu[name] += used / ROUNDS / len(pictures)
        ours.stdin.close()
        ours.wait()
    medians = {name: float(np.median(walls)) for name, walls in times.items()}
    best = min(sessions, key=medians.get)
    print(json.dumps({
        "what": "caption",
        "median_ms": {name: round(median, 1) for name, median in medians.items()},
        "min_ms": {name: round(min(walls), 1) for name, walls in times.items()},
        "cpu_ms": {name: round(used, 1) for name, used in cpu.items()},
        "ratio_to_best": round(medians["ours"] / medians[best], 2),
        "frames": len(times["ours"]),
        "load_average": round(os.getloadavg()[0], 1),
        "conversion_difference": float(f"{worst:.1e}"),
    }))


if __name__ == "__main__":
    main()
