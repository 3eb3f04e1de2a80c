"""The product beside a plain Python script of the same steps, with the same weights, in one run.

    python benches/end_to_end.py --rounds 3

Each round indexes the clip with a fresh memory and asks the questions, first the daemon (over NATS, as anybody would),
then `plain_pipeline.py`, so that both meet the same machine. Prints a table of medians and ratios; above 1 the product
is faster. The last line sets verifying one claim against drafting the claims of one question.

Needs the release binary, the models, a nats-server, and the environment of `plain_pipeline.py`.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VTEST = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
QUESTIONS = ["How many people are there?", "Where is the car?", "What vehicles can be seen?", "Who wears red?"]


class Nats:
    """As much of the protocol as asking takes."""

    def __init__(self, address):
        host, port = re.match(r"nats://([^:]+):(\d+)", address).groups()
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")
        self.stream.readline()
        self.send('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB inbox.* 1\r\nSUB gvqa.state.* 2\r\nPING\r\n')
        while self.stream.readline().strip() != b"PONG":
            pass
        self.asked = 0

    def send(self, text):
        self.socket.sendall(text.encode())

    def next(self):
        """Subject and body of the next message."""
        while True:
            words = self.stream.readline().split()
            if not words:
                raise ConnectionError("the NATS server has gone")
            if words[0] == b"PING":
                self.send("PONG\r\n")
            elif words[0] in (b"MSG", b"HMSG"):
                header = int(words[-2]) if words[0] == b"HMSG" else 0
                body = self.stream.read(int(words[-1]) + 2)[header:-2]
                return words[1].decode(), body

    def ask(self, verb, request):
        """The claims that come back, and how long that took."""
        self.asked += 1
        inbox, body = f"inbox.{self.asked}", json.dumps({**request, "deadline_s": 120})
        start = time.perf_counter()
        self.send(f"PUB gvqa.{verb}.clip {inbox} {len(body.encode())}\r\n{body}\r\n")
        while True:
            subject, reply = self.next()
            if subject == inbox:
                reply = json.loads(reply)
                if "claims" not in reply:
                    sys.exit(f"{verb} {request} has no answer: {reply}")
                return reply["claims"], time.perf_counter() - start

    def answering(self):
        """Waits until the daemon answers, which is when it begins to watch, and says when that was."""
        while True:
            self.asked += 1
            inbox = f"inbox.{self.asked}"
            self.send(f"PUB gvqa.streams {inbox} 2\r\n{{}}\r\n")
            while (message := self.next())[0] != inbox:
                pass
            if message[1]:
                return time.perf_counter()
            time.sleep(0.01)

    def ended(self):
        """Waits until the clip is indexed and says when that was."""
        while True:
            subject, body = self.next()
            if subject == "gvqa.state.clip" and json.loads(body)["state"] == "ended":
                return time.perf_counter()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def nats_server(folder):
    env = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}
    command = ["nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder]
    server = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for path in Path(folder).glob("*.ports"):
            if text := path.read_text():
                return server, json.loads(text)["nats"][0]
        time.sleep(0.05)
    server.kill()
    sys.exit("nats-server does not start: run `make setup`")


def stages(metrics):
    """Sum and count of each stage, and the resident memory."""
    found = {}
    for kind, stage, value in re.findall(r'gvqa_stage_duration_seconds_(sum|count)\{stage="(\w+)"\} (\S+)', metrics):
        found.setdefault(stage, {})[kind] = float(value)
    memory = re.search(r"^process_resident_memory_bytes (\S+)", metrics, re.M)
    return found, float(memory[1]) if memory else 0.0


def ours(args, questions, address, folder):
    port = free_port()
    config = Path(folder) / "bench.toml"
    config.write_text(
        f"[bus]\nurl = {json.dumps(address)}\n[index]\npath = {json.dumps(str(Path(folder) / f'{port}.redb'))}\n"
        f"[models]\ndir = {json.dumps(str(args.models))}\n[telemetry]\nlisten = \"127.0.0.1:{port}\"\n"
        f"[streams.clip]\nurl = {json.dumps('file://' + args.clip)}\nsample_every = \"5s\"\n"
    )
    nats = Nats(address)
    nats.socket.settimeout(300)
    started = time.perf_counter()
    log = open(Path(folder) / "daemon.log", "wb")
    daemon = subprocess.Popen([args.binary, "run", "--config", config], stdout=log, stderr=log)
    try:
        begun = nats.answering()
        indexed = nats.ended()
        answers = [(question, *nats.ask("ask", {"question": question})) for question in questions]
        # Each claim again by itself, as somebody else's.
        drafted = [(c["claim"], c["timestamp"]) for _, claims, _ in answers for c in claims]
        alone = [nats.ask("verify", {"claims": [{"claim": c, "timestamp": t}]})[1] for c, t in drafted]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
            found, memory = stages(page.read().decode())
    finally:
        daemon.terminate()
        daemon.wait()
    return {
        "load": begun - started, "index": indexed - begun, "answer": statistics.median(a[2] for a in answers),
        "draft": found["draft"]["sum"] / found["draft"]["count"], "verify_one": statistics.median(alone),
        "claims": len(drafted), "memory": memory,
        "replies": [(q, [(c["claim"], c["verdict"], c["reason"]) for c in claims]) for q, claims, _ in answers],
    }


def plain(args, questions):
    command = [sys.executable, HERE / "plain_pipeline.py", "--models", args.models, "--work", args.work, args.clip]
    done = subprocess.run([*command, *questions], stdout=subprocess.PIPE, check=True, cwd=HERE)
    found = json.loads(done.stdout)
    answers = found["answers"]
    return {
        "load": found["load"], "index": found["index"], "answer": statistics.median(a["seconds"] for a in answers),
        "draft": statistics.mean(a["draft"] for a in answers),
        "verify_one": statistics.mean(a["verify_one"] for a in answers if a["claims"]),
        "claims": sum(len(a["claims"]) for a in answers), "memory": found["memory"],
        "replies": [(a["question"], [(c["claim"], c["reason"]) for c in a["claims"]]) for a in answers],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clip", default=VTEST)
    parser.add_argument("--models", type=Path, default=ROOT / "models")
    parser.add_argument("--work", type=Path, default=ROOT / ".cache/bench")
    parser.add_argument("--binary", default=ROOT / "target/release/groundedvqa")
    parser.add_argument("--replies", action="store_true", help="show what both answered")
    args = parser.parse_args()
    args.models, args.work = args.models.resolve(), args.work.resolve()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        server, address = nats_server(folder)
        try:
            for i in range(args.rounds):
                print(f"round {i + 1} of {args.rounds}: product", file=sys.stderr, flush=True)
                product = ours(args, QUESTIONS, address, folder)
                print(f"round {i + 1} of {args.rounds}: plain script", file=sys.stderr, flush=True)
                rounds.append((product, plain(args, QUESTIONS)))
        finally:
            server.terminate()
            server.wait()
    report(rounds)
    if args.replies:
        for side, name in enumerate(("product", "plain script")):
            print(f"\n{name}")
            for question, claims in rounds[-1][side]["replies"]:
                print(f"  {question}")
                for claim in claims:
                    print("    " + " | ".join(claim))


def report(rounds):
    median = lambda side, key: statistics.median(r[side][key] for r in rounds)
    spread = lambda key: [r[1][key] / r[0][key] for r in rounds]
    print(f"{'':24} {'product':>10} {'script':>10} {'ratio':>7}   ratio by round")
    for name, key in (("start to models ready", "load"), ("index the clip", "index"), ("answer one question", "answer"),
                      ("draft one question", "draft"), ("verify one claim", "verify_one")):
        ratios = spread(key)
        by_round = " ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"{name:24} {median(0, key):8.2f} s {median(1, key):8.2f} s {statistics.median(ratios):6.2f}x   {by_round}")
    print(f"{'resident memory':24} {median(0, 'memory') / 1e6:7.0f} MB {median(1, 'memory') / 1e6:7.0f} MB")
    print(f"{'claims checked':24} {median(0, 'claims'):10.0f} {median(1, 'claims'):10.0f}")
    share = [statistics.median(r[side]["verify_one"] / r[side]["draft"] for r in rounds) for side in (0, 1)]
    print(f"verify one claim / draft one question: product {share[0]:.2f}, script {share[1]:.2f} (paper: about 0.25)")


if __name__ == "__main__":
    main()
