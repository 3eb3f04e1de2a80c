"""The same job as a plain Python script: index a clip, answer questions, check every claim.

    python benches/plain_pipeline.py --models models --work .cache/bench CLIP "How many people are there?" ...

OpenCV decodes, onnxruntime runs the detector and the judge in f32, PyTorch the embedder, llama.cpp the drafter inside
a JSON grammar: the files are those that `groundedvqa models fetch` installs (two are converted once into --work). No
daemon, no bus, no crash safety: this is what one would write in an afternoon, and the yardstick of
`benches/end_to_end.py`. Prints one JSON object.

    python3 -m venv .cache/bench-venv && .cache/bench-venv/bin/pip install \\
        numpy==2.4.6 opencv-python-headless==5.0.0.93 onnx==1.23.2 onnxruntime==1.32.0 torch==2.15.0 \\
        transformers==5.24.0 tokenizers==0.23.3 llama-cpp-python==0.3.36
"""

import argparse
import json
import os
import re
import resource
import time
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime as ort

import nanodet_onnx
import nli_onnx
from plain_scene import Scene

THREADS = len(os.sched_getaffinity(0))
SAMPLE_EVERY, TOP, CLAIMS, LINES = 5.0, 5, 4, 10
# As the product's drafter is prompted (src/models/drafter/prompt.rs).
SYSTEM = "You answer a question about a video with short facts. Each fact repeats what one line says and names its line."
EXAMPLES = [
    ("t2: There are two dogs, a man and a white van.\nt0: There is a dog.\nQuestion: How many dogs are there?",
     '[{"timestamp": "t2", "claim": "There are two dogs."}, {"timestamp": "t0", "claim": "There is a dog."}]'),
    ("t1: A woman in a blue coat is sitting on a bench.\nt1: A child runs towards the woman.\nt3: The bench is empty.\n"
     "Question: What is the woman doing?", '[{"timestamp": "t1", "claim": "A woman is sitting on a bench."}]'),
    ("t0: Two men wear green and one wears white.\nt4: The bus is on the left in the background.\n"
     "Question: What colour are the clothes and where is the bus?",
     '[{"timestamp": "t0", "claim": "Two men wear green and one wears white."}, '
     '{"timestamp": "t4", "claim": "The bus is on the left in the background."}]'),
]


def split(text):
    return [s for s in re.split(r"(?<=[.!?])\s+", text.strip()) if s]


class Embedder:
    def __init__(self, folder):
        import torch
        from safetensors.torch import load_file
        from tokenizers import Tokenizer
        from transformers import BertConfig, BertModel

        torch.set_num_threads(THREADS)
        config = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
        self.model = BertModel(config, add_pooling_layer=False).eval()
        weights = {k.removeprefix("bert."): v for k, v in load_file(folder / "model.safetensors").items()}
        missing = self.model.load_state_dict(weights, strict=False).missing_keys
        assert not [k for k in missing if "position_ids" not in k], missing
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()
        self.torch = torch

    def __call__(self, texts):
        batch = self.tokenizer.encode_batch(texts)
        ids = self.torch.tensor([e.ids for e in batch])
        mask = self.torch.tensor([e.attention_mask for e in batch])
        with self.torch.inference_mode():
            hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self.torch.nn.functional.normalize(mean).numpy()


class Judge:
    """Logits on a curve: z0 - z1 below -0.6 is contradiction, up to 0.15 entailment, above neutral."""

    def __init__(self, path, tokenizer, options):
        from tokenizers import Tokenizer

        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_padding()

    def __call__(self, pairs):
        batch = self.tokenizer.encode_batch(pairs)
        feeds = {"input_ids": np.array([e.ids for e in batch], np.int64),
                 "attention_mask": np.array([e.attention_mask for e in batch], np.int64)}
        logits = self.session.run(None, feeds)[0]
        distance = logits[:, 0] - logits[:, 1]
        return np.where(distance < -0.6, "contradicted", np.where(distance <= 0.15, "entailed", "neutral"))


class Drafter:
    def __init__(self, path):
        import llama_cpp

        # Without the extra buffer types: the AMX one dies of SIGILL on virtual machines that announce tiles but do not
        # let a process use them, and no other one takes Q4_1.
        defaults = llama_cpp.llama_model_default_params

        def without_extra():
            params = defaults()
            params.use_extra_bufts = False
            return params

        llama_cpp.llama_cpp.llama_model_default_params = llama_cpp.llama_model_default_params = without_extra
        self.llama = llama_cpp.Llama(str(path), n_ctx=2048, n_threads=THREADS, n_threads_batch=THREADS, verbose=False, seed=0)
        self.draft("Warm up?", [(0, "There is a car.")])

    def draft(self, question, lines):
        from llama_cpp import LlamaGrammar

        item = {"type": "object", "required": ["timestamp", "claim"], "additionalProperties": False,
                "properties": {"timestamp": {"enum": sorted({f"t{i}" for i, _ in lines})},
                               "claim": {"type": "string", "minLength": 12, "maxLength": 120}}}
        schema = {"type": "array", "items": item, "minItems": 1, "maxItems": CLAIMS}
        grammar = LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
        turns = [("system", SYSTEM)] + [t for u, a in EXAMPLES for t in (("user", u), ("assistant", a))]
        turns.append(("user", "\n".join(f"t{i}: {s}" for i, s in lines) + f"\nQuestion: {question}"))
        prompt = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"
        # llama.cpp keeps the memory of the part that this prompt shares with the last one.
        reply = self.llama(prompt, grammar=grammar, temperature=0.0, repeat_penalty=1.15, max_tokens=56 * CLAIMS)
        text = reply["choices"][0]["text"]
        try:
            claims = json.loads(text)
        except ValueError:
            claims = json.loads(text[:text.rfind("}") + 1] + "]") if "}" in text else []
        seen, kept = set(), []
        for claim in claims:
            if claim["claim"].lower() not in seen:
                seen.add(claim["claim"].lower())
                kept.append((claim["claim"], int(claim["timestamp"][1:])))
        return kept, reply["usage"]


class Pipeline:
    def __init__(self, models, work):
        options = ort.SessionOptions()
        options.intra_op_num_threads = THREADS
        work.mkdir(parents=True, exist_ok=True)
        scene, judge = work / "nanodet.onnx", work / "nli-f32.onnx"
        if not scene.exists():
            onnx.save(nanodet_onnx.convert(models / "captioner"), scene)
        if not judge.exists():
            onnx.save(nli_onnx.to_f32(onnx.load(models / "judge/model.onnx")), judge)
        self.scene = Scene(scene, options)
        self.judge = Judge(judge, models / "judge/tokenizer.json", options)
        self.embed = Embedder(models / "embedder")
        self.drafter = Drafter(models / "drafter/model.gguf")
        self.scene.caption(np.zeros((480, 640, 3), np.uint8))
        self.judge([("There is a car.", "There is a car.")] * 8)
        self.embed(["There is a car."])

    def index(self, clip):
        """Caption and vector of one frame every `SAMPLE_EVERY` seconds."""
        video = cv2.VideoCapture(clip)
        rate = video.get(cv2.CAP_PROP_FPS)
        self.times, self.captions, due, at = [], [], 0.0, 0
        while video.grab():
            seconds = at / rate
            at += 1
            if seconds + 1e-6 >= due:
                picture = video.retrieve()[1]
                self.times.append(seconds)
                self.captions.append(self.scene.caption(picture))
                due += SAMPLE_EVERY
        self.vectors = self.embed(self.captions)

    def ask(self, clip, question):
        start = time.perf_counter()
        best = np.argsort(-(self.vectors @ self.embed([question])[0]))[:TOP]
        words = set(re.findall(r"\w+", question.lower()))
        lines = [(i, s) for i, at in enumerate(best) for s in split(self.captions[at])]
        lines.sort(key=lambda line: -len(words & set(re.findall(r"\w+", line[1].lower()))))
        lines = list({s: (i, s) for i, s in reversed(lines)}.values())[::-1][:LINES]
        drafting = time.perf_counter()
        claims, usage = self.drafter.draft(question, lines)
        verifying = time.perf_counter()
        verdicts = [self.verify(clip, claim, int(best[i])) for claim, i in claims]
        end = time.perf_counter()
        return {"question": question, "seconds": end - start, "draft": verifying - drafting,
                "verify_one": (end - verifying) / max(len(claims), 1), "claims": verdicts, "usage": usage}

    def verify(self, clip, claim, moment):
        """The cited frame, then its neighbours until one entails the claim."""
        verdict, trials = None, []
        for at in (moment, moment - 1, moment + 1):
            if 0 <= at < len(self.times):
                video = cv2.VideoCapture(clip)
                video.set(cv2.CAP_PROP_POS_MSEC, self.times[at] * 1000)
                picture = video.read()[1]
                caption = self.scene.caption(picture)
                cv2.imencode(".jpg", picture)[1]
                found = list(self.judge([(sentence, claim) for sentence in split(caption)]))
                reason = next((r for r in ("entailed", "contradicted") if r in found), "neutral")
                trials.append(reason)
                verdict = verdict or reason
                if reason == "entailed":
                    verdict = reason
                    break
        return {"claim": claim, "timestamp": self.times[moment], "reason": str(verdict), "trials": len(trials)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--work", type=Path, default=Path(".cache/bench"))
    parser.add_argument("clip")
    parser.add_argument("questions", nargs="+")
    args = parser.parse_args()
    start = time.perf_counter()
    pipeline = Pipeline(args.models, args.work)
    loaded = time.perf_counter()
    pipeline.index(args.clip)
    indexed = time.perf_counter()
    answers = [pipeline.ask(args.clip, question) for question in args.questions]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"load": loaded - start, "index": indexed - loaded, "moments": len(pipeline.times),
                      "answers": answers, "memory": memory, "captions": pipeline.captions}))


if __name__ == "__main__":
    main()
