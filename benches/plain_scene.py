"""The scene describer in plain Python: NanoDet-g through onnxruntime, then the same rules and sentences as the product.

Part of `plain_pipeline.py`. A compact port of `src/models/captioner/`: letterbox, decode, one name an object, place,
depth, colour, sentences.

Tried with: onnxruntime 1.32.0, numpy 2.4.6, opencv-python-headless 5.0.0.93.
"""

import cv2
import numpy as np
import onnxruntime as ort

SIDE, CLASSES, BINS = 416, 80, 11
MEAN = np.array([103.53, 116.28, 123.675], np.float32)
DEVIATION = np.array([57.375, 57.12, 58.395], np.float32)
NAMES = (
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,parking meter,"
    "bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,frisbee,"
    "skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,"
    "cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,"
    "potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,"
    "refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush"
).split(",")
DOUBTFUL = set(
    "fire hydrant,parking meter,handbag,tie,frisbee,skis,snowboard,sports ball,kite,baseball bat,baseball glove,"
    "tennis racket,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,donut,mouse,remote,"
    "cell phone,toaster,vase,scissors,hair drier,toothbrush".split(",")
)
GROUPS = {"person": 0, "bicycle": 2, "motorcycle": 2, "car": 1, "bus": 1, "truck": 1}
GROUPS |= {n: 3 for n in "bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe".split(",")}
GROUPS |= {"van or truck": 1, "vehicle": 1, "bicycle or motorcycle": 2, "animal": 3}
HEIGHTS = {"person": 1.7, "bicycle": 1.1, "car": 1.5, "motorcycle": 1.2, "bus": 3.0, "truck": 3.0, "cat": 0.3,
           "dog": 0.6, "horse": 1.6, "sheep": 0.9, "cow": 1.5, "elephant": 3.0, "bear": 1.2, "zebra": 1.4,
           "giraffe": 4.5, "van or truck": 2.2, "vehicle": 2.0, "bicycle or motorcycle": 1.1}
PLURALS = {"person": "people", "bus": "buses", "sheep": "sheep", "bench": "benches", "couch": "couches",
           "wine glass": "wine glasses", "van or truck": "vans or trucks",
           "bicycle or motorcycle": "bicycles or motorcycles"}
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()


def group(name):
    return GROUPS.get(name, 4)


class Scene:
    """Pictures (BGR) to captions."""

    def __init__(self, path, options):
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0].name

    def caption(self, picture):
        found = self.detect(picture)
        return sentences(describe(picture, objects(found)), is_dark(picture))

    def detect(self, picture):
        """(class, score, box in parts of the picture), best first, one box an object and class."""
        height, width = picture.shape[:2]
        scale = SIDE / max(height, width)
        w, h = max(round(width * scale), 1), max(round(height * scale), 1)
        left, top = (SIDE - w) // 2, (SIDE - h) // 2
        canvas = np.zeros((SIDE, SIDE, 3), np.float32)
        canvas[top:top + h, left:left + w] = cv2.resize(picture, (w, h), interpolation=cv2.INTER_AREA)
        tensor = ((canvas - MEAN) / DEVIATION).transpose(2, 0, 1)[None]
        outputs = self.session.run(None, {self.input: np.ascontiguousarray(tensor)})
        scores, boxes, classes = [], [], []
        for output in outputs:
            cells = output.reshape(CLASSES + 4 * BINS, -1).T
            side = int(len(cells) ** 0.5)
            stride = SIDE / side
            odds = 1 / (1 + np.exp(-cells[:, :CLASSES]))
            at, which = np.nonzero(odds >= 0.27)
            bins = np.exp(cells[at, CLASSES:].reshape(-1, 4, BINS))
            distance = (bins * np.arange(BINS)).sum(2) / bins.sum(2) * stride
            x, y = (at % side + 0.5) * stride, (at // side + 0.5) * stride
            box = np.stack([x - distance[:, 0], y - distance[:, 1], x + distance[:, 2], y + distance[:, 3]], 1)
            box = np.clip((box - [left, top, left, top]) / [w, h, w, h], 0, 1)
            scores.append(odds[at, which]), boxes.append(box), classes.append(which)
        scores, boxes, classes = np.concatenate(scores), np.concatenate(boxes), np.concatenate(classes)
        kept = []
        for i in np.argsort(-scores)[:1000]:
            if all(classes[i] != classes[j] or overlap(boxes[i], boxes[j]) <= 0.6 for j in kept):
                kept.append(i)
        return [(NAMES[classes[i]], float(scores[i]), boxes[i]) for i in kept]


def size(box):
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def common(a, b):
    return size((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))


def overlap(a, b):
    shared = common(a, b)
    union = size(a) + size(b) - shared
    return shared / union if union > 0 else 0.0


def confusable(a, b):
    return a == b or group(a) == group(b) != 4


def objects(found):
    """One name an object."""
    chosen = []
    for name, score, box in found:
        if name in DOUBTFUL or score < (0.45 if group(name) <= 2 else 0.55) or size(box) < 2e-4:
            continue

        def same(other):
            small, large = sorted((size(box), size(other[2])))
            part = common(box, other[2]) > 0.8 * small and small > 0.2 * large
            return confusable(name, other[0]) and (overlap(box, other[2]) > 0.55 or part)

        if not any(map(same, chosen)):
            chosen.append((name, score, box))
    return [(rename(o, found), o[1], o[2]) for o in chosen]


def rename(chosen, found):
    name, score, box = chosen
    for other, rival, where in found:
        if other != name and confusable(other, name) and rival > 0.6 * score and overlap(where, box) > 0.55:
            if group(name) == 1:
                return "vehicle" if "bus" in (name, other) else "van or truck"
            return {2: "bicycle or motorcycle", 3: "animal"}.get(group(name), name)
    return name


def is_dark(picture):
    return float(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)[::4, ::4].mean()) < 45


def describe(picture, seen):
    """(name, place, depth, colour) of each object."""
    sample = picture[::7, ::7].astype(int)
    coloured = (sample.max(2) - sample.min(2)).mean() >= 4
    out = []
    for name, _, box in seen:
        middle, width, height = (box[0] + box[2]) / 2, box[2] - box[0], box[3] - box[1]
        place = None if width > 0.6 else "on the left" if middle < 0.36 else "on the right" if middle > 0.64 else "in the centre"
        large = height / HEIGHTS[name] if name in HEIGHTS else None
        depth = None if large is None else "in the foreground" if large > 0.32 else "in the background" if large < 0.075 else None
        out.append((name, place, depth, colour(picture, name, box, seen) if coloured else None))
    return out


def colour(picture, name, box, seen):
    rows, columns = picture.shape[:2]
    width, height = box[2] - box[0], box[3] - box[1]
    across, down = width * columns, height * rows
    if group(name) == 0:
        drives = any(group(o[0]) == 1 and common(o[2], box) > 0.8 * size(box) for o in seen)
        if down < 1.4 * across or drives or down < 28:
            return None
        part = (0.28, 0.72, 0.20, 0.48)
    elif group(name) == 1:
        part = (0.2, 0.8, 0.4, 0.75)
    else:
        return None
    if across < 14:
        return None
    x = [int((box[0] + p * width) * columns) for p in part[:2]]
    y = [int((box[1] + p * height) * rows) for p in part[2:]]
    pixels = picture[y[0]:max(y[1], y[0] + 1), x[0]:max(x[1], x[0] + 1)].reshape(-1, 3)[:, ::-1].astype(np.float32)
    highest, lowest = pixels.max(1), pixels.min(1)
    chroma = highest - lowest
    r, g, b = pixels.T
    with np.errstate(all="ignore"):
        hue = 60 * np.where(highest == r, (g - b) / chroma, np.where(highest == g, 2 + (b - r) / chroma, 4 + (r - g) / chroma))
    black = highest < 64
    white = ~black & (chroma < 0.2 * highest) & (highest > 190)
    vivid = ~black & (chroma >= 0.35 * highest)
    votes = {"black": black, "white": white, "red": vivid & (hue >= -18) & (hue < 15),
             "yellow": vivid & (hue >= 46) & (hue < 70), "green": vivid & (hue >= 80) & (hue < 165),
             "blue": vivid & (hue >= 190) & (hue < 255)}
    return next((name for name, vote in votes.items() if vote.mean() >= 0.55), None)


def listed(parts):
    return parts[-1] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def number(count):
    word = NUMBERS[count] if count < len(NUMBERS) else str(count)
    return word if count < 5 else f"about {word}"


def plural(name):
    return PLURALS.get(name, name + "s")


def shares(name, values, order, verbs):
    parts = []
    for value in (v for v in order if v in values):
        count = values.count(value)
        noun = "" if parts else f" {name if count == 1 else plural(name)}"
        parts.append(f"{number(count)}{noun} {verbs[count > 1]} {value}")
    return [listed(parts).capitalize() + "."] if parts else []


def sentences(seen, dark):
    names = sorted({s[0] for s in seen}, key=lambda n: (group(n), NAMES.index(n) if n in NAMES else 99))[:5]
    if not names:
        return " ".join(["No people or vehicles are clearly visible."] + ["The picture is dark."] * dark)
    of = {name: [s for s in seen if s[0] == name] for name in names}
    amounts = [f"{'an' if n[0] in 'aeiou' else 'a'} {n}" if len(of[n]) == 1 else f"{number(len(of[n]))} {plural(n)}" for n in names]
    out = [f"There {'is' if len(of[names[0]]) == 1 else 'are'} {listed(amounts)}."]
    for name in names:
        wears = ("wears", "wear") if name == "person" else ("is", "are")
        if len(of[name]) == 1:
            (_, place, depth, shade), = of[name]
            out += [f"The {name} {wears[0]} {shade}."] * bool(shade)
            where = " ".join(part for part in (place, depth) if part)
            out += [f"The {name} is {where}."] * bool(where)
        else:
            out += shares(name, [s[1] for s in of[name]], ("on the left", "in the centre", "on the right"), ("is", "are"))
            out += shares(name, [s[3] for s in of[name]], ("black", "white", "red", "yellow", "green", "blue"), wears)
    return " ".join(out + ["The picture is dark."] * dark)
