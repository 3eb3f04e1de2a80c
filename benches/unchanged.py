"""What the change gate saves and what it costs: the same clips watched with and without it, and asked the same.

    python benches/scenes.py .cache/scenes
    python benches/unchanged.py --scenes .cache/scenes

For each clip: the share of sampled pictures that were not captioned; for how many of the sampled times the memory holds
the same sentences as without the gate; for how many questions the grounded statements are the same (their texts, in any
order, each once); and for how many of a grid of claims at sampled times the verdict is the same. The still scene is watched once more under other noise and without the gate: what differs then
differs because the captioner wavers. For the clip of short
events: how many of them have a moment while they last, with and without pictures taken between samples.

Nothing here is timed. Needs the release binary, the models and a nats-server; the clips as `make setup` puts them.
"""

import argparse
import json
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from end_to_end import ROOT, VTEST, Nats, free_port, nats_server

QUESTIONS = [
    "How many people are there?", "Is there a person?", "Are there two people?", "Is there a car?", "Where is the car?",
    "What vehicles can be seen?", "Is there a bicycle?", "Who wears red?", "What are people wearing?",
    "Where are the people?", "Is anybody on the left?", "Is anybody on the right?", "Is somebody close to the camera?",
    "What is there at the beginning?", "What is there at the end?", "Is there a van or a truck?", "Is there a dog?",
    "How many cars are there?", "What colour is the car?", "Is the street empty?",
    # And at times between and on samples; a time beyond the clip asks about nothing.
    *(f"What is there at {s} seconds?" for s in (1, 3, 7, 12, 20, 31, 44, 60, 75, 120, 200, 290)),
]
CLAIMS = ["There is a person.", "There are people.", "There are three people.", "There is a car.", "There is a bicycle.",
          "There is a van or truck.", "There is a dog.", "Somebody wears black."]


def metric(page, name):
    return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith(name + "{"))


class Watched:
    """One clip watched to its end by a daemon of its own, and asked."""

    def __init__(self, args, clip, every, sight, questions, times, address, folder):
        port = free_port()
        config = Path(folder) / "bench.toml"
        config.write_text(
            f"[bus]\nurl = {json.dumps(address)}\n[index]\npath = {json.dumps(str(Path(folder) / f'{port}.redb'))}\n"
            f"[models]\ndir = {json.dumps(str(args.models))}\ndrafter = {json.dumps(args.drafter)}\n"
            f"[telemetry]\nlisten = \"127.0.0.1:{port}\"\n"
            f"[streams.clip]\nurl = {json.dumps('file://' + str(clip))}\nsample_every = {json.dumps(every)}\n"
            f"[streams.clip.sight]\n{sight}\n"
        )
        nats = Listening(address)
        nats.socket.settimeout(600)
        log = open(Path(folder) / "daemon.log", "wb")
        daemon = subprocess.Popen([args.binary, "run", "--config", config], stdout=log, stderr=log)
        try:
            nats.answering()
            nats.ended()
            self.answers = {}
            for question in questions:
                claims, _ = nats.ask("ask", {"question": question})
                self.answers[question] = sorted({c["claim"] for c in claims if c["verdict"] == "GROUNDED"})
            self.verdicts = {}
            for at in times:
                claims, _ = nats.ask("verify", {"claims": [{"claim": c, "timestamp": at} for c in CLAIMS]})
                self.verdicts |= {(c["claim"], at): c["reason"] for c in claims}
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
                page = page.read().decode()
        finally:
            daemon.terminate()
            daemon.wait()
        self.moments = nats.moments
        self.frames, self.unchanged, self.extra = (
            metric(page, f"gvqa_frames_{name}total") for name in ("", "unchanged_", "extra_"))

    def holds(self, at):
        """The caption for a time."""
        spans = [m for m in self.moments.values() if m["timestamp"] <= at <= m["until"]]
        return spans[-1]["caption"] if spans else None


class Listening(Nats):
    """Keeps the captions that are announced while it waits."""

    def __init__(self, address):
        super().__init__(address)
        self.moments = {}
        self.send("SUB gvqa.caption.* 3\r\n")

    def next(self):
        subject, body = super().next()
        if subject.startswith("gvqa.caption."):
            moment = json.loads(body)
            self.moments[moment["moment_id"]] = moment
        return subject, body


def share(pairs):
    pairs = list(pairs)
    return f"{sum(a == b for a, b in pairs)} of {len(pairs)}"


def compare(args, name, clip, every, address, folder):
    step = {"5s": 20.0, "500ms": 2.0}[every]
    length = {"vtest": 75, "bikes": 9, "still": 295}[name]
    times = [i * step for i in range(int(length / step) + 1)]
    run = lambda clip, sight: Watched(args, clip, every, sight, QUESTIONS, times, address, folder)
    without, others = run(clip, "extend_unchanged = false"), []
    for often in args.caption_at_least:
        sight = f"extend_unchanged = true\ncaption_at_least = {json.dumps(often)}"
        others.append((f"with the gate, a caption at least every {often}", run(clip, sight)))
    at = [moment["timestamp"] for moment in without.moments.values()]
    if (control := Path(clip).with_name("again.mp4")).exists():
        others.append(("other noise, no gate", run(control, "extend_unchanged = false")))
    for label, other in others:
        saved = other.unchanged / other.frames
        print(f"{name}: {label}: {saved:.1%} of {other.frames:.0f} captions saved; the memory says the same of "
              f"{share((without.holds(t), other.holds(t)) for t in at)} sampled times; grounded statements the same for "
              f"{share((without.answers[q], other.answers[q]) for q in QUESTIONS)} questions; verdicts the same for "
              f"{share((without.verdicts[k], other.verdicts[k]) for k in without.verdicts)} claims", flush=True)
        if args.differences:
            for q in QUESTIONS:
                if without.answers[q] != other.answers[q]:
                    print(f"  {q}\n    {without.answers[q]}\n    {other.answers[q]}")
            for k, reason in without.verdicts.items():
                if other.verdicts[k] != reason:
                    print(f"  {k}: {reason} {other.verdicts[k]}")


def short_events(args, clip, when, address, folder):
    for label, sight in (("samples alone", "extra_every = '0s'"), ("with pictures between samples", "extra_every = '5s'")):
        seen = Watched(args, clip, "5s", f"extend_unchanged = true\n{sight}", [], [], address, folder)
        moments = [moment["timestamp"] for moment in seen.moments.values()]
        caught = sum(any(begin <= at < end for at in moments) for begin, end in when)
        told = sum(any(begin <= m["timestamp"] < end and m["caption"] for m in seen.moments.values()) for begin, end in when)
        print(f"events: {label}: {caught} of {len(when)} caught, {told} of them with a caption that names something; "
              f"{seen.frames:.0f} pictures, {seen.extra:.0f} of them extra, {len(moments)} captioned", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=Path, default=ROOT / ".cache/scenes")
    parser.add_argument("--models", type=Path, default=ROOT / "models")
    parser.add_argument("--bikes", type=Path, default=ROOT / ".cache/clips/bikes.mp4")
    parser.add_argument("--binary", default=ROOT / "target/release/groundedvqa")
    parser.add_argument("--drafter", default="extractive", choices=["extractive", "smollm2"])
    parser.add_argument("--only", choices=["vtest", "bikes", "still", "events"])
    parser.add_argument("--caption-at-least", nargs="+", default=["10m"], metavar="TIME", help="what the gate is held to")
    parser.add_argument("--differences", action="store_true", help="show every answer that differs")
    args = parser.parse_args()
    args.models, scenes = args.models.resolve(), args.scenes.resolve()
    clips = {"still": (scenes / "still.mp4", "5s"), "vtest": (VTEST, "5s"), "bikes": (args.bikes.resolve(), "500ms")}
    with tempfile.TemporaryDirectory() as folder:
        server, address = nats_server(folder)
        try:
            for name, (clip, every) in clips.items():
                if args.only in (None, name):
                    compare(args, name, clip, every, address, folder)
            if args.only in (None, "events"):
                when = json.loads((scenes / "events.json").read_text())
                short_events(args, scenes / "events.mp4", when, address, folder)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
