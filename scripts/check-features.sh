#!/bin/sh
# Type-checks what is not built otherwise: the library and its measurement without GStreamer, feature cuda, and feature metal
# where rustup has the target of Apple's machines or can fetch it. Nothing is built for a GPU nor for a Mac: stand-ins for
# nvcc, cc and ar only touch the files that they are asked for.
# CARGO names another cargo.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}

say() { printf 'check-features: %s\n' "$*" >&2; }

stand_in=$(mktemp -d)
trap 'rm -rf "$stand_in"' EXIT
# Apart from nvcc, which stands before the PATH: what runs here is linked by the real cc.
mkdir -p "$stand_in/bin" "$stand_in/apple" "$stand_in/include"
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
cat >"$stand_in/apple/cc" <<'CC'
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    -o) : >"$2"; shift ;;
    esac
    shift
done
CC
cat >"$stand_in/apple/ar" <<'AR'
#!/bin/sh
for argument in "$@"; do
    case $argument in
    *.a) : >"$argument" ;;
    esac
done
AR
chmod +x "$stand_in/bin/nvcc" "$stand_in/apple/cc" "$stand_in/apple/ar"

say "without GStreamer"
PKG_CONFIG_LIBDIR=/nonexistent "$cargo" check --no-default-features --lib --bench vlm

say "feature cuda"
env PATH="$stand_in/bin:$PATH" NVCC="$stand_in/bin/nvcc" CUDA_HOME="$stand_in" CUDA_COMPUTE_CAP=80 \
    CUDARC_CUDA_VERSION=12080 "$cargo" check --features cuda

apple=aarch64-apple-darwin
has_apple() { rustup target list --installed 2>/dev/null | grep -qx "$apple"; }
has_apple || timeout 180 rustup target add "$apple" >&2 || true
if has_apple; then
    say "feature metal"
    # pkg-config answers for this machine, which a check does not notice; a Mac's compilers are not here.
    env PKG_CONFIG_ALLOW_CROSS=1 CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS="-C target-cpu=apple-m1" SDKROOT="$stand_in" \
        CC_aarch64_apple_darwin="$stand_in/apple/cc" CXX_aarch64_apple_darwin="$stand_in/apple/cc" \
        AR_aarch64_apple_darwin="$stand_in/apple/ar" "$cargo" check --target "$apple" --features metal
else
    say "feature metal was not checked: rustup has not, and could not fetch, the target $apple"
fi
