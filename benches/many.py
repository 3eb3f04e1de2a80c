#!/usr/bin/python3
"""Many live 720p streams: what watching them costs here, and what ffmpeg needs to read the same ones.

Starts one RTSP camera (tests/common/rtsp_server.py plays a real clip at 25 frames a second, one key frame every two
seconds) and reads it as many streams, in turns: this program decoding key frames, decoding everything, ffmpeg decoding
key frames, decoding everything. The models of this program are replaced by ones that compute nothing (benches/many.rs).
CPU time is that of the reader alone; the camera runs on the same machine.

    cargo bench --bench many --no-run
    /usr/bin/python3 benches/many.py --streams 16 --seconds 60

Needs ffmpeg (Debian package) beside what the tests need.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLIP = ROOT / ".cache/clips/bigbuckbunny.mp4"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--every", default="5s", help="our sampling interval (default %(default)s)")
    parser.add_argument("--only", help="run only the readers whose name holds this")
    return parser.parse_args()


def start_camera():
    camera = [
        "/usr/bin/python3", ROOT / "tests/common/rtsp_server.py",
        "--file", CLIP, "--size", "1280x720", "--fps", "25", "--gop", "50",
    ]
    child = subprocess.Popen(camera, stdout=subprocess.PIPE, text=True)
    url = child.stdout.readline().strip()
    if not url.startswith("rtsp://"):
        sys.exit("the camera did not start")
    return child, url


def bench_program():
    built = subprocess.run(
        ["cargo", "bench", "--bench", "many", "--no-run", "--message-format=json"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )
    found = [json.loads(line).get("executable") for line in built.stdout.splitlines() if '"many"' in line]
    return [path for path in found if path][-1]


def ours(program, args, url, keys):
    command = [program, url, "--streams", str(args.streams), "--seconds", str(args.seconds), "--every", args.every]
    done = subprocess.run([*command, "--keys", keys], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def peak_mb(pid):
    try:
        return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) // 1024
    except (OSError, TypeError):
        return 0


def threads(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def ffmpeg(args, url, options):
    """One process a stream, as recorders run it."""
    command = ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-rtsp_transport", "tcp", *options, "-i", url]
    command += ["-t", str(args.seconds), "-an", "-f", "null", "-"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    readers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(args.streams)]
    time.sleep(args.seconds / 2)
    memory, count = sum(peak_mb(reader.pid) for reader in readers), sum(threads(reader.pid) for reader in readers)
    for reader in readers:
        reader.wait()
    took = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "streams": args.streams,
        "seconds": took,
        "cpu_seconds": cpu,
        "cpu_seconds_per_stream_hour": cpu / took / args.streams * 3600,
        "resident_mb": [memory],
        "threads": count,
    }


def main():
    args = arguments()
    program = bench_program()
    camera, url = start_camera()
    readers = {
        "groundedvqa, key frames": lambda: ours(program, args, url, 'decode = "keyframes"'),
        "ffmpeg -skip_frame nokey": lambda: ffmpeg(args, url, ["-skip_frame", "nokey"]),
        "groundedvqa, everything": lambda: ours(program, args, url, 'decode = "all"'),
        "ffmpeg, everything": lambda: ffmpeg(args, url, []),
    }
    print("| reader | CPU s a stream-hour | resident MB | threads | captions | dropped | oldest captioned s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    try:
        for name, read in readers.items():
            if args.only and args.only not in name:
                continue
            got = read()
            memory = got["resident_mb"]
            shown = f"{memory[0]}" if len(memory) == 1 else f"{memory[0]} to {memory[-1]}, at most {max(memory)}"
            rest = [got.get(key, "") for key in ("threads", "captions", "dropped", "oldest_captioned_s")]
            per_hour = got["cpu_seconds_per_stream_hour"]
            print(f"| {name} | {per_hour:.0f} | {shown} | " + " | ".join(map(str, rest)) + " |", flush=True)
    finally:
        camera.kill()


if __name__ == "__main__":
    main()
