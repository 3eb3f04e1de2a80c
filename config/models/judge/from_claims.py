"""Pairs from claims that `groundedvqa eval text` makes, in the form of the other files: one premise a line.

    groundedvqa eval text captions.jsonl.gz --half both --claims-only --out claims
    python config/models/judge/from_claims.py claims/claims.jsonl > config/models/judge/pairs-claims.jsonl

The captions are those of generate.py. Videos of the tuning half are fitted to, those of the reporting half are held out;
of these one in three is taken. A claim is paired with the sentence it was made from, and as "neutral" with another
sentence of the cited caption that shares few words with it. Tried with Python 3.11, no other package.
"""

import collections
import hashlib
import json
import re
import sys

CLASS = {"own sentence": "entailed", "said shorter": "entailed", "said wider": "entailed", "subject alone": "entailed",
         "changed number": "contradicted", "swapped subject": "contradicted", "changed colour": "contradicted",
         "changed side": "contradicted", "negation": "contradicted", "swapped roles": "contradicted",
         "addition": "neutral"}
SMALL = set("a an the is are of in on at to with and or there it its his her their he she they while for by".split())


def content(text):
    return {w for w in re.findall(r"[a-z]+", text.lower()) if w not in SMALL}


def share(text):
    """A number in [0, 1) that depends on the text alone."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def main():
    rows = collections.OrderedDict()
    for line in open(sys.argv[1]):
        claim = json.loads(line)
        part = "fit" if claim["half"] == "tuning" else "held-out"
        if part == "held-out" and share(claim["video"] + claim["text"]) > 1 / 3:
            continue

        def add(premise, label):
            row = rows.setdefault((part, claim["video"], premise), {c: [] for c in ("entailed", "neutral", "contradicted")})
            if claim["text"] not in row[label]:
                row[label].append(claim["text"])

        if claim["kind"] in CLASS:
            add(claim["from"], CLASS[claim["kind"]])
        said = re.findall(r"[^.!?]+[.!?]", claim["captions"][0])
        said = sorted((s.strip() for s in said if s.strip() != claim["from"]), key=share)
        few = lambda s: len(content(s) & content(claim["text"])) <= 0.34 * len(content(claim["text"]))
        if claim["kind"] != "subject alone":
            for sentence in list(filter(few, said))[:1]:
                add(sentence, "neutral")
    for (part, video, premise), labels in rows.items():
        print(json.dumps({"part": part, "video": video, "premise": premise, **labels}))


if __name__ == "__main__":
    main()
