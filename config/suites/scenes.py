"""Captions in the scene captioner's own words, for `groundedvqa eval text`: what the judge makes of whole captions.

    python3 config/suites/scenes.py fit > captions.jsonl         # rules of weighing may be chosen by these
    python3 config/suites/scenes.py held-out > captions.jsonl    # these are only counted
    groundedvqa eval text captions.jsonl --half both

Made-up scenes of the grammar of src/models/captioner/sentences.rs; each lasts 20 s, one caption a second. The things of
the two parts differ, as in config/models/judge/scenes.py, whose words they are. The same part gives the same captions.
Python 3.11, no other package.
"""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "models" / "judge"))
from scenes import COLOURS, DEPTHS, PLACES, THINGS, amount, capital, listed, number, plural  # noqa: E402

SECONDS = 20


def one(thing, rng):
    """Colour, place and depth of the only one of its kind."""
    out = []
    if rng.random() < 0.6:
        out.append(f"The {thing} {'wears' if thing == 'person' else 'is'} {rng.choice(COLOURS)}.")
    out.append(f"The {thing} is {rng.choice(PLACES)}{' ' + rng.choice(DEPTHS) if rng.random() < 0.6 else ''}.")
    return out


def several(thing, count, rng):
    """How many are where, and wear or are what."""
    def shares(values, verb, part):
        picked = sorted(rng.sample(values, min(part, rng.choice([1, 2, 3]))), key=values.index)
        cuts = sorted(rng.sample(range(1, part), len(picked) - 1)) if part > 1 else []
        counts = [b - a for a, b in zip([0, *cuts], [*cuts, part])]
        single = {"wear": "wears", "are": "is"}[verb]
        say = lambda i, n, v: f"{number(n)}{f' {thing if n == 1 else plural(thing)}' if i == 0 else ''} {single if n == 1 else verb} {v}"
        return capital(listed([say(i, n, v) for i, (n, v) in enumerate(zip(counts, picked))]))

    out = [shares(PLACES, "are", count)]
    if rng.random() < 0.7:
        out.append(shares(COLOURS, "wear" if thing == "person" else "are", rng.randint(1, count)))
    return out


def caption(things, rng):
    if rng.random() < 0.1:
        return rng.choice(["No people or vehicles are clearly visible.", "Nothing is clear enough to be named."])
    kinds = rng.sample(things[1:], rng.choice([0, 1, 1, 2]))
    kinds = ["person", *kinds] if rng.random() < 0.8 or not kinds else kinds
    scene = [(t, rng.choice([1, 1, 2, 3, 4, 5, 6, 7, 8] if t == "person" else [1, 1, 1, 2, 3])) for t in kinds]
    out = [f"There {'is' if scene[0][1] == 1 else 'are'} {listed([amount(t, n) for t, n in scene])}."]
    for thing, count in scene:
        out += one(thing, rng) if count == 1 else several(thing, count, rng)
    return " ".join(out)


def main(part):
    rng = random.Random("captions " + part)
    for video in range(120):
        captions = [text for _ in range(4) for text in [caption(THINGS[part], rng)] * SECONDS]
        print(json.dumps({"video": f"{part}-{video}", "captions_1fps": captions}))


if __name__ == "__main__":
    main(sys.argv[1])
