#!/bin/sh
# Type-checks what is not built otherwise: the library and its measurement without GStreamer, feature cuda everywhere,
# feature metal where the target of Apple's machines is installed. Nothing is built for a GPU: a stand-in for nvcc only touches the files that it is asked for.
# CARGO names another cargo.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}

say() { printf 'check-features: %s\n' "$*" >&2; }

stand_in=$(mktemp -d)
trap 'rm -rf "$stand_in"' EXIT
mkdir -p "$stand_in/bin" "$stand_in/include"
cat >"$stand_in/bin/nvcc" <<'NVCC'
#!/bin/sh
# Answers what build scripts ask, and touches what they want to have.
directory= sources=
for argument in "$@"; do
    case $argument in
    --version) echo 'Cuda compilation tools, release 12.8, V12.8.61'; exit 0 ;;
    --list-gpu-code) printf 'sm_80\nsm_86\nsm_89\nsm_90\n'; exit 0 ;;
    --list-gpu-arch) printf 'compute_80\ncompute_86\ncompute_89\ncompute_90\n'; exit 0 ;;
    esac
done
while [ $# -gt 0 ]; do
    case $1 in
    -o | --output-file) : >"$2"; shift ;;
    --output-directory) directory=$2; shift ;;
    *.cu) sources="$sources $1" ;;
    esac
    shift
done
[ -n "$directory" ] || exit 0
for source in $sources; do : >"$directory/$(basename "${source%.cu}").ptx"; done
NVCC
chmod +x "$stand_in/bin/nvcc"

say "without GStreamer"
PKG_CONFIG_LIBDIR=/nonexistent "$cargo" check --no-default-features --lib --bench vlm

say "feature cuda"
env PATH="$stand_in/bin:$PATH" NVCC="$stand_in/bin/nvcc" CUDA_HOME="$stand_in" CUDA_COMPUTE_CAP=80 \
    CUDARC_CUDA_VERSION=12080 "$cargo" check --features cuda

if rustup target list --installed 2>/dev/null | grep -qx aarch64-apple-darwin; then
    say "feature metal"
    "$cargo" check --lib --target aarch64-apple-darwin --features metal
else
    say "feature metal was not checked: its target is not installed (rustup target add aarch64-apple-darwin)"
fi
