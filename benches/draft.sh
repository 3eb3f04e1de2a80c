#!/bin/sh
# Drafting speed beside llama.cpp, in turn on the same file and prompt, two threads each; medians and ratios at the end.
#   benches/draft.sh [model.gguf] [rounds]        PYTHON: an interpreter that has llama-cpp-python==0.3.36
# On an idle machine: llama.cpp's threads spin at their barriers, so on a busy one its decoding collapses and the
# ratio flatters.
set -eu
cd "$(dirname "$0")/.."
model=${1:-models/drafter/model.gguf}
rounds=${2:-5}
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
cargo build --release --bench draft
for _ in $(seq "$rounds"); do
    RAYON_NUM_THREADS=2 cargo bench --quiet --bench draft -- "$model" 1 | tee -a "$lines"
    "${PYTHON:-python3}" benches/reference_draft.py "$model" 1 2 | tee -a "$lines"
done
"${PYTHON:-python3}" benches/reference_draft.py --ratios < "$lines"
