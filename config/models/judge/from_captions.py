"""More pairs from captions of home videos: whole sentences, what they say less of, and what they do not say.

    python config/models/judge/from_captions.py captions.jsonl.gz > config/models/judge/pairs-captions.jsonl

The captions are those of generate.py, and so is the split by the video's name. For each of a few sentences a video:
entailed are the sentence, a shorter one, one with a wider word, its subject alone; contradicted are one word or phrase
changed, denied, or both sides of a relation swapped; neutral are something added, and other sentences of the same or of
another caption against it. Of held-out videos one sentence is taken, of the others four. The same input gives the same
output. Tried with Python 3.11, no other package.
"""

import gzip
import json
import random
import re
import sys

from generate import FORBIDDEN, NOT, part, shorter, swaps

WIDER = {"boy": "child", "girl": "child", "man": "person", "woman": "person", "dog": "animal", "cat": "animal",
         "car": "vehicle", "couch": "sofa", "television": "TV", "men": "people", "women": "people",
         "toddler": "child", "bicycle": "bike", "individual": "person", "individuals": "people"}
ADDED = ["next to a tall ladder", "while a dog barks", "beside a parked motorcycle", "with a parrot", "near a fountain",
         "while holding a trumpet", "in front of a castle", "during a parade", "behind a goat", "while eating a banana",
         "with a large suitcase", "and three ducks", "on a ship", "near a firefighter", "while it is raining",
         "with a telescope", "under a bridge", "while singing loudly", "beside a piano", "with a yellow scarf"]
SIDES = {"left": "right", "right": "left", "foreground": "background", "background": "foreground", "front": "back"}
DIRECTED = [" behind ", " in front of ", " on top of ", " under ", " above ", " holding ", " next to the left of "]
SMALL = set("a an the is are of in on at to with and or there it its his her their he she they while for by".split())


def content(text):
    return {w for w in re.findall(r"[a-z]+", text.lower()) if w not in SMALL}


def replaced(sentence, word, other):
    if len(re.findall(rf"\b{word}\b", sentence, re.I)) == 1:
        new = re.sub(rf"\b{word}\b", other, sentence, flags=re.I)
        return new[0].upper() + new[1:]


def entailed(sentence):
    found = shorter(sentence)
    for word, other in WIDER.items():
        new = replaced(sentence, word, other)
        if new:
            found.append(new)
            break
    head = re.split(r" (?:in the|on the|with a|near|beside|behind|while) ", sentence)
    if len(head) > 2 and re.search(r" (is|are) ", head[0]) and len(head[0].split()) >= 4:
        found.append(head[0].rstrip(" ,") + ".")
    return found


def contradicted(sentence, rng):
    found = swaps(sentence, rng)
    for word, other in SIDES.items():
        if word in sentence:
            found += [new for new in [replaced(sentence, word, other)] if new and other not in sentence]
            break
    if not any(" not " in new for new in found) and " not " not in sentence and sentence.count(" is ") == 1:
        found.append(sentence.replace(" is ", " is not "))
    if sentence.startswith("There is a") and " no " not in sentence:
        found.append(re.sub(r"^There is an? ", "There is no ", sentence))
    for relation in DIRECTED:
        before, _, after = sentence.rstrip(".").partition(relation)
        noun = re.fullmatch(r"((?:A|An|The)(?: \w+){1,3}?) is(?: (\w+ing))?", before)
        if after and noun and re.fullmatch(r"(a|an|the)(?: \w+){1,3}", after):
            verb = f" is {noun[2]}" if noun[2] else " is"
            found.append(after[0].upper() + after[1:] + verb + relation + noun[1][0].lower() + noun[1][1:] + ".")
            break
    return found


def main():
    videos = sorted((json.loads(line) for line in gzip.open(sys.argv[1], "rt")), key=lambda v: v["video"])
    for video in videos:
        rng, half = random.Random("captions " + video["video"]), part(video["video"])
        captions = [[s for s in re.findall(r"[A-Z][^.!?]*\.", c) if 4 <= len(s.split()) <= 22] for c in video["captions_1fps"]]
        plain = lambda s: not FORBIDDEN.search(s.replace(",", "")) and re.match(r"(A|An|The|There|Two|Three|Four|Five) ", s)
        usable = sorted({(s, i) for i, c in enumerate(captions) for s in c if plain(s)})
        rng.shuffle(usable)
        for sentence, at in usable[: 4 if half == "fit" else 1]:
            new = sentence.rstrip(".") + " " + rng.choice(ADDED) + "."
            far = [s for i, c in enumerate(captions) if abs(i - at) > 10 for s in c if len(content(s) - content(sentence)) > 2]
            near = [s for s in captions[at] if s != sentence and len(content(s) & content(sentence)) <= 1]
            neutral = [new] + [rng.choice(some) for some in (far, near) if some]
            print(json.dumps({"part": half, "video": video["video"], "premise": sentence, "entailed": entailed(sentence),
                              "neutral": neutral, "contradicted": contradicted(sentence, rng)}))
            # The sentence and its changes against other sentences: of a caption of many, most say nothing of a claim.
            for other in ([rng.choice(near)] if near else []) + ([rng.choice(far)] if far else []):
                print(json.dumps({"part": half, "video": video["video"], "premise": other, "entailed": [],
                                  "neutral": [sentence], "contradicted": []}))


if __name__ == "__main__":
    main()
