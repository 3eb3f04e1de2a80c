//! Writes what was seen as full English sentences, one assertion each, for a reader and for an entailment judge.
//!
//! Pure: a scene in, text out. Counts are exact up to four and "about" from five on, because a detector misses people
//! in a crowd.

use super::coco::Group;
use super::look::{Colour, Depth, Place, Scene, Seen};
use super::objects::Kind;

/// More kinds than this are not told: the sentence would not be read.
const KINDS: usize = 5;
/// From here on a count is a guess.
const GUESSED: usize = 5;

const NUMBERS: [&str; 13] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// The caption of a scene.
pub(super) fn write(scene: &Scene) -> String {
    let kinds = kinds(scene);
    let mut sentences = vec![presence(&kinds, scene.is_empty)];
    for (kind, seen) in &kinds {
        match seen.as_slice() {
            [only] => one(*kind, **only, &mut sentences),
            many => several(*kind, many, &mut sentences),
        }
    }
    if scene.is_dark {
        sentences.push("The picture is dark.".to_owned());
    }
    sentences.join(" ")
}

/// The objects by kind: people first, then vehicles, cycles, animals and the rest; each kind in picture order.
fn kinds(scene: &Scene) -> Vec<(Kind, Vec<&Seen>)> {
    let mut kinds: Vec<(Kind, Vec<&Seen>)> = Vec::new();
    for seen in &scene.seen {
        match kinds.iter_mut().find(|(kind, _)| *kind == seen.kind) {
            Some((_, all)) => all.push(seen),
            None => kinds.push((seen.kind, vec![seen])),
        }
    }
    kinds.sort_by_key(|(kind, _)| (rank(*kind), *kind));
    kinds.truncate(KINDS);
    kinds
}

fn rank(kind: Kind) -> usize {
    match kind.group() {
        Group::Person => 0,
        Group::Vehicle => 1,
        Group::Cycle => 2,
        Group::Animal => 3,
        Group::Other => 4,
    }
}

fn presence(kinds: &[(Kind, Vec<&Seen>)], is_empty: bool) -> String {
    let Some((_, first)) = kinds.first() else {
        let nothing = if is_empty {
            "No people or vehicles are clearly visible."
        } else {
            "Nothing is clear enough to be named."
        };
        return nothing.to_owned();
    };
    let parts = kinds.iter().map(|(kind, seen)| amount(*kind, seen.len()));
    let verb = if first.len() == 1 { "is" } else { "are" };
    format!("There {verb} {}.", list(parts.collect()))
}

/// Colour, then place and depth, of the only one of its kind.
fn one(kind: Kind, seen: Seen, sentences: &mut Vec<String>) {
    let name = kind.name();
    if let Some(colour) = seen.colour {
        let verb = if kind.group() == Group::Person { "wears" } else { "is" };
        sentences.push(format!("The {name} {verb} {}.", colour_name(colour)));
    }
    let depth = seen.depth.map(|depth| match depth {
        Depth::Foreground => "in the foreground",
        Depth::Background => "in the background",
    });
    let parts: Vec<&str> = seen.place.map(place_name).into_iter().chain(depth).collect();
    if !parts.is_empty() {
        sentences.push(format!("The {name} is {}.", parts.join(" ")));
    }
}

/// Places, then colours, of several of a kind.
fn several(kind: Kind, seen: &[&Seen], sentences: &mut Vec<String>) {
    let places = tally(seen.iter().filter_map(|seen| seen.place));
    sentences.extend(shares(kind, &places, ["is", "are"], place_name));
    let colours = tally(seen.iter().filter_map(|seen| seen.colour));
    let verbs = if kind.group() == Group::Person { ["wears", "wear"] } else { ["is", "are"] };
    sentences.extend(shares(kind, &colours, verbs, colour_name));
}

/// How many there are of each value, in order of value.
fn tally<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect()
}

/// "One person is on the left, two are in the centre and about five are on the right."
fn shares<T: Copy>(
    kind: Kind,
    tally: &[(T, usize)],
    [one, many]: [&str; 2],
    name: impl Fn(T) -> &'static str,
) -> Option<String> {
    let parts = tally.iter().enumerate().map(|(i, (value, count))| {
        let noun = match (i, count) {
            (0, 1) => format!(" {}", kind.name()),
            (0, _) => format!(" {}", kind.plural()),
            _ => String::new(),
        };
        format!("{}{noun} {} {}", number(*count), if *count == 1 { one } else { many }, name(*value))
    });
    let text = list(parts.collect());
    (!text.is_empty()).then(|| format!("{}.", capitalised(&text)))
}

fn amount(kind: Kind, count: usize) -> String {
    if count == 1 {
        let name = kind.name();
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return format!("{article} {name}");
    }
    format!("{} {}", number(count), kind.plural())
}

fn number(count: usize) -> String {
    let exact = NUMBERS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned());
    if count < GUESSED { exact } else { format!("about {exact}") }
}

fn place_name(place: Place) -> &'static str {
    match place {
        Place::Left => "on the left",
        Place::Centre => "in the centre",
        Place::Right => "on the right",
    }
}

fn colour_name(colour: Colour) -> &'static str {
    match colour {
        Colour::Black => "black",
        Colour::White => "white",
        Colour::Red => "red",
        Colour::Yellow => "yellow",
        Colour::Green => "green",
        Colour::Blue => "blue",
    }
}

/// "a", "a and b", "a, b and c".
fn list(mut parts: Vec<String>) -> String {
    let last = parts.pop().unwrap_or_default();
    if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Caption;
    use crate::models::captioner::coco::Class;

    fn seen(kind: Kind) -> Seen {
        Seen { kind, place: None, depth: None, colour: None }
    }

    fn class(index: usize) -> Seen {
        seen(Kind::Class(Class::at(index)))
    }

    fn person() -> Seen {
        class(0)
    }

    fn at(place: Place, seen: Seen) -> Seen {
        Seen { place: Some(place), ..seen }
    }

    fn coloured(colour: Colour, seen: Seen) -> Seen {
        Seen { colour: Some(colour), ..seen }
    }

    fn written(seen: Vec<Seen>) -> String {
        write(&Scene { seen, is_empty: true, is_dark: false })
    }

    #[test]
    fn presence_counts_and_orders() {
        let van = seen(Kind::VanOrTruck);
        let cases = [
            (vec![], "No people or vehicles are clearly visible."),
            (vec![person()], "There is a person."),
            (vec![class(20)], "There is an elephant."),
            (vec![seen(Kind::Animal); 2], "There are two animals."),
            (vec![van, class(2), person()], "There is a person, a car and a van or truck."),
            (vec![class(62), class(16), person(), person()], "There are two people, a dog and a tv."),
            (vec![person(); 4], "There are four people."),
            (vec![person(); 5], "There are about five people."),
            (vec![person(); 13], "There are about 13 people."),
            ((0..8).map(class).collect(), "There is a person, a car, a bus, a truck and a bicycle."),
        ];
        for (seen, due) in cases {
            assert_eq!(written(seen), due);
        }
    }

    #[test]
    fn one_is_described() {
        let near = Seen { depth: Some(Depth::Foreground), ..at(Place::Left, coloured(Colour::Black, person())) };
        assert_eq!(
            written(vec![near]),
            "There is a person. The person wears black. The person is on the left in the foreground."
        );
        let far = Seen { depth: Some(Depth::Background), ..coloured(Colour::White, seen(Kind::VanOrTruck)) };
        assert_eq!(
            written(vec![far]),
            "There is a van or truck. The van or truck is white. The van or truck is in the background."
        );
    }

    #[test]
    fn several_are_shared_out() {
        let mut people = vec![at(Place::Right, coloured(Colour::Black, person())); 5];
        people.push(at(Place::Left, coloured(Colour::Red, person())));
        people.push(person());
        assert_eq!(
            written(people),
            "There are about seven people. One person is on the left and about five are on the right. \
             About five people wear black and one wears red."
        );
        let cars = vec![at(Place::Centre, class(2)), at(Place::Right, coloured(Colour::Black, class(2)))];
        assert_eq!(
            written(cars),
            "There are two cars. One car is in the centre and one is on the right. One car is black."
        );
    }

    #[test]
    fn doubt_is_not_absence_and_darkness_comes_last() {
        let scene = |is_empty, is_dark| write(&Scene { seen: vec![], is_empty, is_dark });
        assert_eq!(scene(true, false), "No people or vehicles are clearly visible.");
        assert_eq!(scene(false, false), "Nothing is clear enough to be named.");
        assert_eq!(scene(false, true), "Nothing is clear enough to be named. The picture is dark.");
    }

    #[test]
    fn every_sentence_is_whole() {
        let crowd = vec![at(Place::Centre, coloured(Colour::Blue, person())); 20];
        for sentence in Caption::new(written(crowd)).sentences() {
            assert!(sentence.starts_with(char::is_uppercase) && sentence.ends_with('.'), "{sentence:?}");
        }
    }
}
