#!/bin/sh
# Measures a machine with an NVIDIA GPU, on noise of the true shapes: first that the networks compute there what they should
# (models::vlm::parity: f32 within 1e-3 of the reference's logits and the same greedy tokens, bf16 within the
# reference's own noise), then one table a model.
#
#   scripts/gpu.sh                          build here and measure; needs cargo and nvcc, no GStreamer, no weights
#   scripts/gpu.sh build                    only build, into target/gpu; carry the repository with it to a machine without
#                                           cargo (RUSTFLAGS="-C target-cpu=x86-64-v3" if its CPU is another one,
#                                           CUDA_COMPUTE_CAP=90 for an H200 where no GPU can be asked)
#   FEATURES= DEVICE=cpu scripts/gpu.sh     the same on the CPU, to try the script
#
# MODELS, BATCHES, ROUNDS say what is measured, CARGO names another cargo, OUT where the table goes.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
features=${FEATURES-cuda}
device=${DEVICE:-cuda:0}
models=${MODELS:-"qwen3-vl-2b smolvlm-256m smolvlm-500m qwen3-vl-4b qwen3-vl-8b"}
batches=${BATCHES:-1,4,16,64}
rounds=${ROUNDS:-5}
out=${OUT:-gpu-out}
carried=target/gpu

say() { printf 'gpu: %s\n' "$*" >&2; }

# The programs that cargo built, by what it says of them.
built() {
    "$cargo" "$@" --no-run --message-format json --no-default-features --features "$features" |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}

build() {
    [ -z "$features" ] || command -v nvcc >/dev/null || {
        say "nvcc is not here: install the CUDA toolkit, or build on a machine that has it and carry $carried"
        exit 1
    }
    say "building without GStreamer, features: ${features:-none}"
    mkdir -p "$carried"
    cp "$(built test --release --lib)" "$carried/parity"
    cp "$(built bench --bench vlm)" "$carried/vlm"
    echo "$(date -u +%Y-%m-%dT%H:%M:%SZ), features ${features:-none}, $(git rev-parse --short HEAD 2>/dev/null || echo 'no git')" \
        >"$carried/built"
}

case ${1:-run} in
build) build; exit ;;
run) ;;
*) say "nothing or build, not $1"; exit 64 ;;
esac
# Built anew wherever that is possible, so that what is measured is this source; else what was carried along.
if command -v "$cargo" >/dev/null; then
    build
elif [ -x "$carried/parity" ] && [ -x "$carried/vlm" ]; then
    say "no cargo here: measuring the programs in $carried, built $(cat "$carried/built" 2>/dev/null || echo 'nobody knows when')"
else
    say "no cargo here, and no programs in $carried: run scripts/gpu.sh build elsewhere"
    exit 1
fi
mkdir -p "$out"
if [ "$device" != cpu ]; then
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv >"$out/machine.csv"
    cat "$out/machine.csv"
fi
say "parity on $device"
GVQA_TEST_DEVICE=$device "$carried/parity" models::vlm::parity --nocapture >"$out/parity.txt" 2>&1 || {
    cat "$out/parity.txt"
    say "the networks do not compute on $device what they should: nothing is measured"
    exit 1
}
grep 'bf16 is off\|^test result' "$out/parity.txt"
for model in $models; do
    say "$model"
    # One that does not fit must not cost the others their rows.
    "$carried/vlm" "$model" "$batches" "$rounds" >"$out/$model.txt" || say "$model broke off: see $out/$model.txt"
done
# One table: the rows of every model under one head, then what they contain. The first model may be one that broke off.
first() { for model in $models; do ! grep -q "$1" "$out/$model.txt" || { echo "$out/$model.txt"; return; }; done; }
head=$(first '^|---') notes=$(first '^Weights are noise')
[ -n "$head" ] || { say "no model was measured: there is no table"; exit 1; }
{
    sed -n '1p' "$head"
    echo
    sed -n '/^| model/p; /^|---/p' "$head"
    for model in $models; do sed -n '/^| model/d; /^|---/d; /^|/p' "$out/$model.txt"; done
    [ -z "$notes" ] || { echo; sed -n '/^Weights are noise/,$p' "$notes"; }
} | tee "$out/table.md"
