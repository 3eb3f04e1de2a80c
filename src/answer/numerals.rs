//! Numbers as captions and claims write them. Pure.

/// How a number bounds what it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// No word in front of it, or "exactly".
    Exactly,
    /// "about", "around", "roughly".
    About,
    /// "at least".
    AtLeast,
    /// "more than".
    MoreThan,
    /// "at most", "up to".
    AtMost,
    /// "fewer than".
    FewerThan,
}

/// A number in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) value: u64,
    pub(super) bound: Bound,
    /// Index of the word behind the number.
    pub(super) next: usize,
    /// Index of the first word that belongs to it.
    pub(super) from: usize,
}

/// From here on "about" leaves room for one more or less.
const VAGUE_FROM: u64 = 5;

const NUMBERS: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

const BOUNDS: [(&[&str], Bound); 18] = [
    (&["exactly"], Bound::Exactly),
    (&["only"], Bound::Exactly),
    (&["just"], Bound::Exactly),
    (&["precisely"], Bound::Exactly),
    (&["about"], Bound::About),
    (&["around"], Bound::About),
    (&["roughly"], Bound::About),
    (&["approximately"], Bound::About),
    (&["nearly"], Bound::About),
    (&["almost"], Bound::About),
    (&["at", "least"], Bound::AtLeast),
    (&["no", "fewer", "than"], Bound::AtLeast),
    (&["more", "than"], Bound::MoreThan),
    (&["over"], Bound::MoreThan),
    (&["at", "most"], Bound::AtMost),
    (&["up", "to"], Bound::AtMost),
    (&["fewer", "than"], Bound::FewerThan),
    (&["less", "than"], Bound::FewerThan),
];

impl Amount {
    /// Whether `count` things are so many.
    pub(super) fn admits(&self, count: u64) -> bool {
        match self.bound {
            Bound::About if self.value >= VAGUE_FROM => count.abs_diff(self.value) <= 1,
            Bound::Exactly | Bound::About => count == self.value,
            Bound::AtLeast => count >= self.value,
            Bound::MoreThan => count > self.value,
            Bound::AtMost => count <= self.value,
            Bound::FewerThan => count < self.value,
        }
    }
}

/// Every number of a text, in order. `words` are lower case and without punctuation.
pub(super) fn amounts(words: &[String]) -> Vec<Amount> {
    (0..words.len()).filter_map(|at| amount(words, at)).collect()
}

/// A number as a word, as far as there are words for it.
pub(super) fn name(value: u64) -> String {
    NUMBERS.get(value as usize).map_or_else(|| value.to_string(), |word| (*word).to_owned())
}

/// What a word for a number up to twenty means.
pub(super) fn named(word: &str) -> Option<u64> {
    NUMBERS.iter().position(|number| *number == word).map(|value| value as u64)
}

fn amount(words: &[String], at: usize) -> Option<Amount> {
    let value = value(&words[at])?;
    let in_front = |phrase: &&[&str]| {
        let start = at.checked_sub(phrase.len());
        start.is_some_and(|start| phrase.iter().zip(&words[start..at]).all(|(a, b)| a == b))
    };
    let found = BOUNDS.iter().filter(|(phrase, _)| in_front(phrase)).max_by_key(|(phrase, _)| phrase.len());
    let (bound, length) = found.map_or((Bound::Exactly, 0), |(phrase, bound)| (*bound, phrase.len()));
    Some(Amount { value, bound, next: at + 1, from: at - length })
}

fn value(word: &str) -> Option<u64> {
    let other = match word {
        "single" => Some(1),
        "couple" | "pair" | "both" => Some(2),
        "dozen" => Some(12),
        _ => None,
    };
    named(word).or(other).or_else(|| word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_bounds() {
        use Bound::{About, AtLeast, AtMost, Exactly, FewerThan, MoreThan};
        let table: [(&str, &[(u64, Bound)]); 12] = [
            ("there are six people", &[(6, Exactly)]),
            ("there are about eight people and 2 cars", &[(8, About), (2, Exactly)]),
            ("at least three", &[(3, AtLeast)]),
            ("no fewer than three", &[(3, AtLeast)]),
            ("more than two", &[(2, MoreThan)]),
            ("up to 12", &[(12, AtMost)]),
            ("fewer than five", &[(5, FewerThan)]),
            ("only one", &[(1, Exactly)]),
            ("a single person", &[(1, Exactly)]),
            ("a couple of dogs", &[(2, Exactly)]),
            ("about a car", &[]),
            ("3rd 4x 99999999999999999999", &[]),
        ];
        for (text, due) in table {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let read: Vec<_> = amounts(&words).into_iter().map(|amount| (amount.value, amount.bound)).collect();
            assert_eq!(read, due, "{text}");
        }
    }

    #[test]
    fn bounds_admit_counts() {
        let amount = |value, bound| Amount { value, bound, next: 0, from: 0 };
        let table = [
            (amount(6, Bound::Exactly), 6, true),
            (amount(6, Bound::Exactly), 7, false),
            (amount(6, Bound::About), 7, true),
            (amount(6, Bound::About), 8, false),
            (amount(2, Bound::About), 3, false),
            (amount(3, Bound::AtLeast), 8, true),
            (amount(3, Bound::MoreThan), 3, false),
            (amount(3, Bound::AtMost), 3, true),
            (amount(3, Bound::FewerThan), 3, false),
        ];
        for (amount, count, due) in table {
            assert_eq!(amount.admits(count), due, "{amount:?} {count}");
        }
    }
}
