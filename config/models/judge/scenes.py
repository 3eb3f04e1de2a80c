"""Pairs in the scene captioner's own words, with a truth that follows from its grammar (src/models/captioner/sentences.rs).

Sentences of made-up scenes, as the captioner writes them and as src/answer/counts.rs spells them out, each with claims
that it entails, contradicts, or does not touch. Things and ways of saying of the held-out part do not occur in the part
that is fitted to. Used by fit.py; the same program gives the same pairs. Python 3.11, no other package.
"""

import random

NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
COLOURS = ["black", "white", "red", "yellow", "green", "blue"]
PLACES = ["on the left", "in the centre", "on the right"]
DEPTHS = ["in the foreground", "in the background"]
PLURALS = {"person": "people", "bus": "buses", "bench": "benches", "sheep": "sheep", "couch": "couches",
           "van or truck": "vans or trucks"}
VEHICLES = ["car", "truck", "bus", "van or truck"]
THINGS = {
    "fit": ["person", "car", "van or truck", "bicycle", "dog", "chair", "boat", "horse", "bottle", "backpack", "bird"],
    "held-out": ["person", "car", "truck", "motorcycle", "cat", "bench", "train", "cow", "cup", "umbrella", "bus"],
}
ACTIONS = {
    "fit": ["is running", "is walking a dog", "is sitting", "is old", "is waving", "is talking on a phone"],
    "held-out": ["is walking", "is carrying a bag", "is standing", "is young", "is dancing", "is asleep"],
}
RELATIONS = {"fit": ["near", "behind", "beside"], "held-out": ["next to", "in front of", "close to"]}


def plural(thing):
    return PLURALS.get(thing, thing + "s")


def article(thing):
    return ("an " if thing[0] in "aeiou" else "a ") + thing


def number(count):
    return ("about " if count > 4 else "") + NUMBERS[count]


def amount(thing, count):
    return article(thing) if count == 1 else f"{number(count)} {plural(thing)}"


def listed(parts):
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def capital(text):
    return text[0].upper() + text[1:] + "."


def exists(thing, part):
    one, many = article(thing), plural(thing)
    if part == "fit":
        return [f"There is {one}.", capital(f"{one} is visible"), capital(f"{one} is there")]
    return [f"There is {one}.", capital(f"{one} can be seen"), f"At least one {thing} is visible."]


def missing(thing, part):
    out = [f"There is no {thing}.", f"There are no {plural(thing)}."]
    if part == "fit":
        out.append(f"No {plural(thing)} are visible.")
        return out + (["There is nobody.", "The street is empty."] if thing == "person" else [])
    out.append(f"No {thing} is visible.")
    return out + (["Nobody is there.", "The scene is empty."] if thing == "person" else [])


def counted(thing, count, part):
    many, n = plural(thing), NUMBERS[count]
    if count == 1:
        return [f"There is one {thing}.", f"There is a single {thing}."][part != "fit":][:1]
    out = [f"There are {n} {many}.", f"There are about {n} {many}."]
    return out + [capital(f"{n} {many} are visible") if part == "fit" else capital(f"{n} {many} can be seen")]


def presence(scene, part, rng, strange):
    """There is/are … with every kind of claim."""
    premise = f"There {'is' if scene[0][1] == 1 else 'are'} {listed([amount(t, n) for t, n in scene])}."
    for thing, count in scene:
        for claim in exists(thing, part) + ([f"There are {plural(thing)}."] if count > 1 else []):
            # "There is a car." of two cars is read from the sentence that spells it out.
            if count == 1:
                yield premise, claim, "entailed"
        if count > 1:
            yield premise, f"There are {plural(thing)}.", "entailed"
            yield premise, f"There are several {plural(thing)}.", "entailed" if count > 2 else "neutral"
        for claim in counted(thing, count, part):
            yield premise, claim, "entailed"
        wrong = rng.choice([n for n in range(1, 13) if abs(n - count) > 1])
        yield premise, rng.choice(counted(thing, wrong, part)), "contradicted"
        yield premise, rng.choice(missing(thing, part)), "contradicted"
        colour = rng.choice(COLOURS)
        yield premise, f"A person wears {colour}." if thing == "person" else f"The {thing} is {colour}.", "neutral"
        yield premise, f"The {thing} is {rng.choice(PLACES + DEPTHS)}.", "neutral"
        if thing == "person":
            yield premise, f"A person {rng.choice(ACTIONS[part])}.", "neutral"
        if thing in VEHICLES and count == 1:
            yield premise, "There is a vehicle.", "entailed"
    if len(scene) > 1:
        (a, _), (b, _) = rng.sample(scene, 2)
        yield premise, f"The {a} is {rng.choice(RELATIONS[part])} the {b}.", "neutral"
        yield premise, f"There {'are' if scene[0][1] > 1 else 'is'} {amount(*scene[0])}.", "entailed"
    for thing in strange:
        yield premise, rng.choice(exists(thing, part)), "neutral"
        yield premise, f"There are two {plural(thing)}.", "neutral"


def details(thing, part, rng):
    """Colour, place and depth of one thing."""
    colour, other = rng.sample(COLOURS, 2)
    who = ["Someone", "A person", "The person"] if thing == "person" else [f"The {thing}", f"A {thing}"]
    verb = "wears" if thing == "person" else "is"
    for start in ("The", "A"):
        premise = f"{start} {thing} {verb} {colour}."
        # "The": the only one of its kind; of "a" thing another one may be different.
        denied = "contradicted" if start == "The" else "neutral"
        for name in who:
            yield premise, f"{name} {verb} {colour}.", "entailed"
            yield premise, f"{name} {verb} {other}.", denied
        if thing == "person":
            yield premise, f"There is a person in {colour}.", "entailed"
            yield premise, f"There is a person in {other}.", denied
            yield premise, f"The person {rng.choice(ACTIONS[part])}.", "neutral"
            yield premise, f"Two people wear {colour}.", "neutral"
        else:
            yield premise, f"There is a {colour} {thing}.", "entailed"
            yield premise, f"There is a {other} {thing}.", denied
        yield premise, f"There is {article(thing)}.", "entailed"
        yield premise, f"There is no {thing}.", "contradicted"
        yield premise, f"The {thing} is {rng.choice(PLACES)}.", "neutral"
    place, elsewhere = rng.sample(PLACES, 2)
    depth = rng.choice(DEPTHS)
    far = DEPTHS[1 - DEPTHS.index(depth)]
    premise = f"The {thing} is {place} {depth}."
    for name in (f"The {thing}", f"A {thing}"):
        yield premise, f"{name} is {place}.", "entailed"
        yield premise, f"{name} is {depth}.", "entailed"
        yield premise, f"{name} is {elsewhere}.", "contradicted"
        yield premise, f"{name} is {far}.", "contradicted"
    yield premise, f"There is a {thing} {place}.", "entailed"
    yield premise, f"Nobody is {place}." if thing == "person" else f"There is no {thing} {place}.", "contradicted"
    verb = "wears" if thing == "person" else "is"
    yield premise, f"The {thing} {verb} {colour}.", "neutral"


def shares(thing, part, rng):
    """How many are where, or wear what."""
    values, verb = (COLOURS, "wear") if thing == "person" and rng.random() < 0.5 else (PLACES, "are")
    picked = rng.sample(values, rng.choice([2, 3]))
    counts = [rng.choice([1, 1, 2, 3, 4, 6, 8]) for _ in picked]
    one = {"wear": "wears", "are": "is"}[verb]
    say = lambda n, v, noun: f"{number(n)}{noun} {one if n == 1 else verb} {v}"
    noun = f" {thing if counts[0] == 1 else plural(thing)}"
    premise = capital(listed([say(n, v, noun if i == 0 else "") for i, (n, v) in enumerate(zip(counts, picked))]))
    for n, v in zip(counts, picked):
        part_of = capital(say(n, v, f" {thing if n == 1 else plural(thing)}"))
        for said in (premise, part_of):
            yield said, part_of, "entailed"
            wrong = rng.choice([m for m in range(1, 9) if abs(m - n) > 1])
            yield said, capital(say(wrong, v, f" {thing if wrong == 1 else plural(thing)}")), "contradicted"
        if n == 1:
            yield part_of, f"A {thing} {one} {v}.", "entailed"
        unsaid = rng.choice([x for x in values if x not in picked] or [None])
        if unsaid:
            yield part_of, f"A {thing} {one} {unsaid}.", "neutral"
            yield premise, capital(say(n, unsaid, f" {thing if n == 1 else plural(thing)}")), "neutral"
    yield premise, f"There is no {thing}.", "contradicted"
    if thing == "person":
        yield premise, f"A person {rng.choice(ACTIONS[part])}.", "neutral"


def nothing(part, rng, strange):
    premise = "No people or vehicles are clearly visible."
    for claim in missing("person", part) + missing("car", part) + ["There are no vehicles.", "There are no people."]:
        yield premise, claim, "entailed"
    for thing in ["person", "car", "truck"]:
        yield premise, rng.choice(exists(thing, part)), "contradicted"
        yield premise, f"There are two {plural(thing)}.", "contradicted"
    for thing in strange:
        if thing not in VEHICLES + ["person"]:
            yield premise, f"There is {article(thing)}.", "neutral"
    for premise in ("Nothing is clear enough to be named.", "The picture is dark."):
        for claim in exists("person", part) + exists("car", part) + missing("person", part)[:2]:
            yield premise, claim, "neutral"


def pairs(part, scenes):
    """(scene number, premise, claim, class); each pair once."""
    rng = random.Random("scenes " + part)
    things, seen = THINGS[part], set()
    for scene in range(scenes):
        kinds = rng.sample(things[1:], rng.choice([0, 1, 1, 2, 3]))
        if rng.random() < 0.8 or not kinds:
            kinds = ["person"] + kinds
        counted_things = [(t, rng.choice([1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] if t == "person" else [1, 1, 1, 2, 3])) for t in kinds]
        strange = rng.sample([t for t in things if t not in kinds], 2)
        found = list(presence(counted_things, part, rng, strange))
        found += list(details(rng.choice(kinds), part, rng)) + list(shares(rng.choice(kinds), part, rng))
        if scene % 10 == 0:
            found += list(nothing(part, rng, strange))
        for pair in found:
            if pair not in seen:
                seen.add(pair)
                yield scene, *pair


if __name__ == "__main__":
    import collections
    for part in THINGS:
        found = list(pairs(part, 60))
        print(part, len(found), collections.Counter(pair[3] for pair in found))
        for pair in random.Random(1).sample(found, 25):
            print("  ", pair)
