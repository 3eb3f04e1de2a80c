"""Scenes for `unchanged.py`, made of vtest.avi, a real surveillance clip: the same file every time.

    python benches/scenes.py FOLDER

    still.mp4   one real picture with people and vehicles, held for five minutes under fresh noise for every frame
                (a deviation of 2.5 levels) and a light that drifts by 4 %, as H.264 at 1.5 Mbit/s
    again.mp4   the same under other noise
    events.mp4  the empty place (the median of 80 pictures) under the same noise and light, into which twenty real
                stretches of two seconds are cut, each at a random time between two samples; `events.json` tells when

Needs OpenCV and numpy (any version of the last years), and gst-launch-1.0 with x264enc.
"""

import json
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np

VTEST = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
FPS, NOISE, DRIFT, DRIFT_PERIOD = 10, 2.5, 0.04, 120.0
EVENTS, EVENT, SAMPLE = 20, 2.0, 5.0


def pictures():
    """Every picture of the clip; it has ten a second."""
    clip = cv2.VideoCapture(VTEST)
    found = []
    while (read := clip.read())[0]:
        found.append(read[1])
    if not found:
        sys.exit(f"{VTEST} cannot be read: run `make setup`")
    return found


def encode(path, frames, seed=7):
    """Adds noise and light to `frames` and encodes them."""
    random = np.random.default_rng(seed)
    frame = next(frames)
    height, width = frame.shape[:2]
    launch = (
        f"fdsrc ! rawvideoparse format=bgr width={width} height={height} framerate={FPS}/1 ! videoconvert "
        f"! video/x-raw,format=I420 ! x264enc bitrate=1500 key-int-max={2 * FPS} speed-preset=veryfast threads=2 "
        f"! h264parse ! mp4mux ! filesink location={path}"
    )
    encoder = subprocess.Popen(["gst-launch-1.0", "-q", *launch.split()], stdin=subprocess.PIPE)
    count = 0
    while frame is not None:
        light = 1 + DRIFT * np.sin(2 * np.pi * count / FPS / DRIFT_PERIOD)
        grain = random.normal(0, NOISE, (height, width, 1)).astype(np.float32)
        noisy = frame.astype(np.float32) * np.float32(light) + grain
        encoder.stdin.write(np.clip(np.rint(noisy), 0, 255).astype(np.uint8).tobytes())
        count += 1
        frame = next(frames, None)
    encoder.stdin.close()
    if encoder.wait() != 0:
        sys.exit("gst-launch-1.0 failed: run `make setup`")


def still(seconds=300):
    picture = pictures()[200]
    for _ in range(seconds * FPS):
        yield picture


def events(clip):
    """The empty place with real stretches in it, and when they are."""
    random = np.random.default_rng(7)
    empty = np.median(np.stack(clip[:: len(clip) // 80]), axis=0).astype(np.uint8)
    length = int(EVENT * FPS)
    frames, when = [empty] * int(30 * FPS), []
    for _ in range(EVENTS):
        # Quiet for two samples, then something that no sample of a five-second grid need meet.
        quiet = int((2 * SAMPLE + random.uniform(0, SAMPLE)) * FPS)
        frames += [empty] * quiet
        begin = int(random.integers(0, len(clip) - length))
        when.append([len(frames) / FPS, (len(frames) + length) / FPS])
        frames += clip[begin : begin + length]
    return frames + [empty] * int(10 * FPS), when


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "still.mp4").exists():
        encode(folder / "still.mp4", still())
    if not (folder / "again.mp4").exists():
        encode(folder / "again.mp4", still(), seed=8)
    if not (folder / "events.json").exists():
        frames, when = events(pictures())
        encode(folder / "events.mp4", iter(frames))
        (folder / "events.json").write_text(json.dumps(when))


if __name__ == "__main__":
    main()
