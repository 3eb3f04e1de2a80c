"""Minimal pairs from captions of home videos: one word of a caption's sentence changed, so that it no longer holds.

    python config/models/judge/generate.py captions.jsonl.gz > config/models/judge/pairs-generated.jsonl

The captions are those of VideoAgent (wxh1996/VideoAgent, MIT) for validation videos of NExT-GQA (doc-doc/NExT-GQA,
MIT), one JSON object a video: {"video": id, "captions_1fps": [text, ...]}. One sentence a video; the same input gives
the same output. Tried with Python 3.11, no other package.
"""

import gzip
import hashlib
import json
import random
import re
import sys

COLOURS = ["red", "blue", "green", "yellow", "black", "white", "pink", "orange", "brown"]
PEOPLE = {"man": "woman", "woman": "man", "boy": "girl", "girl": "boy"}
ANIMALS = {"dog": "cat", "cat": "dog", "horse": "cow", "bird": "dog"}
SIDES = {"left": "right", "right": "left"}
NUMBERS = ["two", "three", "four", "five", "six", "seven"]
NOT = {"is wearing": "is not wearing", "is holding": "is not holding", "is sitting": "is not sitting",
       "is standing": "is not standing", "are standing": "are not standing", "is lying": "is not lying"}
FORBIDDEN = re.compile(r"possibly|appear|seem|likely|perhaps|suggest|might|presumably|image|including|indicat|,|;|:|'")


def swaps(sentence, rng):
    """Sentences that contradict the given one, each by one word."""
    found = []

    def swap(word, other):
        if len(re.findall(rf"\b{word}\b", sentence, re.I)) == 1:
            new = re.sub(rf"\b{word}\b", other, sentence, flags=re.I)
            found.append(new[0].upper() + new[1:])

    words = re.findall(r"[a-z]+", sentence.lower())
    colours = [w for w in words if w in COLOURS]
    if len(colours) == 1:
        swap(colours[0], rng.choice([c for c in COLOURS if c != colours[0]]))
    for table in (PEOPLE, ANIMALS, SIDES, NOT):
        for word, other in table.items():
            if word in sentence.lower():
                swap(word, other)
                break
    for word in words:
        if word in NUMBERS:
            swap(word, rng.choice([n for n in NUMBERS if n != word]))
            break
    return found


def shorter(sentence):
    """Sentences that follow from the given one because they say less."""
    found = [sentence]
    for preposition in (" in the ", " on the ", " with ", " near ", " beside ", " behind ", " while ", " and "):
        head, _, tail = sentence.partition(preposition)
        if tail and len(head.split()) >= 5 and re.search(r" (is|are) ", head):
            found.append(head.rstrip() + ".")
            break
    subject = re.match(r"(A|An|The) ([a-z]+ )?(man|woman|boy|girl|child|baby|dog|cat|person|bird|horse) (is|in|on|with)\b", sentence)
    if subject:
        found.append(f"There is a {subject[3]}.")
    return found


def part(video):
    """By the video's name, as `groundedvqa eval text` splits them: nothing of a reported video is fitted to."""
    return "fit" if int(hashlib.sha256(video.encode()).hexdigest()[0], 16) % 2 == 0 else "held-out"


def main():
    videos = [json.loads(line) for line in gzip.open(sys.argv[1], "rt")]
    videos.sort(key=lambda v: v["video"])
    rng = random.Random(20261130)
    rows, taken = [], set()
    for video in videos:
        sentences = {s for c in video["captions_1fps"] for s in re.findall(r"[A-Z][^.!?]*\.", c)}
        usable = sorted(s for s in sentences if 5 <= len(s.split()) <= 16 and not FORBIDDEN.search(s)
                        and re.match(r"(A|An|The|There|Two|Three|Four|Five) ", s))
        usable = [s for s in usable if swaps(s, random.Random(0))]
        usable = [s for s in usable if s not in taken]
        if usable:
            sentence = rng.choice(usable)
            taken.add(sentence)
            rows.append((video["video"], sentence, swaps(sentence, rng), shorter(sentence)))
    for video, sentence, wrong, right in rows:
        half = part(video)
        others = [row[1] for row in rows if part(row[0]) == half]
        far = [s for s in others if s != sentence and not set(s.lower().split()) & {"not"}]
        print(json.dumps({
            "part": half,
            "video": video,
            "premise": sentence,
            "entailed": right,
            "neutral": rng.sample(far, 1),
            "contradicted": wrong,
        }))


if __name__ == "__main__":
    main()
