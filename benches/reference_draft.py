"""llama.cpp's side of benches/draft.rs: same file, same prompt, same tokens to decode; one JSON line per round.

    pip install llama-cpp-python==0.3.36
    python benches/reference_draft.py models/drafter/model.gguf [rounds] [threads]
    python benches/reference_draft.py --ratios < lines of both engines

Greedy over the whole vocabulary; the first round warms up and is not printed. `benches/draft.sh` runs both in turn.
"""

import json
import pathlib
import statistics
import sys
import time

DECODED = 64


def measure(path, rounds=3, threads=2):
    import llama_cpp
    import numpy as np

    # Without the extra buffer types: the AMX one dies of SIGILL on virtual machines that announce tiles but do not
    # let a process use them, and no other one takes Q4_1.
    defaults = llama_cpp.llama_model_default_params

    def without_extra():
        params = defaults()
        params.use_extra_bufts = False
        return params

    llama_cpp.llama_cpp.llama_model_default_params = llama_cpp.llama_model_default_params = without_extra
    engine = llama_cpp.Llama(
        path, n_ctx=2048, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
    )
    text = pathlib.Path(__file__).with_name("draft_prompt.txt").read_bytes()
    tokens = engine.tokenize(text, add_bos=False, special=False)

    def best():
        logits = llama_cpp.llama_get_logits_ith(engine._ctx.ctx, -1)
        return int(np.ctypeslib.as_array(logits, (engine.n_vocab(),)).argmax())

    for round in range(rounds + 1):
        engine.reset()
        started = time.perf_counter()
        engine.eval(tokens)
        token = best()
        prompt = time.perf_counter() - started
        started = time.perf_counter()
        for _ in range(DECODED):
            engine.eval([token])
            token = best()
        decode = time.perf_counter() - started
        if round:
            print(json.dumps({
                "engine": "llama.cpp", "prompt_tokens": len(tokens), "decode_tokens": DECODED,
                "prompt_tok_s": len(tokens) / prompt, "decode_tok_s": DECODED / decode,
            }), flush=True)


def ratios(lines):
    rounds = [json.loads(line) for line in lines if line.startswith("{")]
    for key in ("prompt_tok_s", "decode_tok_s"):
        ours, theirs = (
            statistics.median(r[key] for r in rounds if r["engine"] == engine) for engine in ("groundedvqa", "llama.cpp")
        )
        print(f"{key:13} groundedvqa {ours:7.1f}  llama.cpp {theirs:7.1f}  ratio {ours / theirs:.2f}")


if sys.argv[1] == "--ratios":
    ratios(sys.stdin)
else:
    measure(sys.argv[1], *map(int, sys.argv[2:]))
