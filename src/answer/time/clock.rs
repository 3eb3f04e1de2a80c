//! Times as people write them: `0:42`, `1:02:03`, `15 s`, `15 seconds`, `1 minute 30 seconds`, `2min`. Pure.

use crate::answer::numerals::named;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::answer) struct Word<'a> {
    /// As written, with its punctuation.
    pub(in crate::answer) raw: &'a str,
    /// In lower case without surrounding punctuation; the minus of a number stays.
    pub(in crate::answer) core: String,
}

impl Word<'_> {
    /// Whether a clause ends behind it.
    pub(super) fn ends_clause(&self) -> bool {
        self.raw.ends_with([',', '.', ';', '?', '!', ')', ']'])
    }
}

/// The word at `at` in lower case; empty beyond the end.
pub(super) fn core<'a>(words: &'a [Word<'_>], at: usize) -> &'a str {
    words.get(at).map_or("", |word| word.core.as_str())
}

/// The words of `text`, split at white space.
pub(in crate::answer) fn words(text: &str) -> Vec<Word<'_>> {
    let punctuation = |c: char| !c.is_alphanumeric();
    let core = |raw: &str| {
        let core = raw.trim_matches(punctuation).to_lowercase();
        let lead = &raw[..raw.len() - raw.trim_start_matches(punctuation).len()];
        let is_negative = lead.ends_with(['-', '\u{2212}']) && core.starts_with(|c: char| c.is_ascii_digit());
        if is_negative { format!("-{core}") } else { core }
    };
    text.split_whitespace().map(|raw| Word { raw, core: core(raw) }).collect()
}

/// A time that was read from the beginning of some words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::answer) struct Reading {
    /// The time, in seconds.
    pub(in crate::answer) seconds: f64,
    /// How many words it took.
    pub(in crate::answer) words: usize,
}

/// Reads a time with a unit, or a clock time, from the beginning of `words`.
pub(in crate::answer) fn read(words: &[Word<'_>]) -> Option<Reading> {
    let first = words.first()?;
    if let Some(seconds) = clock(&first.core) {
        return Some(Reading { seconds, words: 1 });
    }
    let scale = match first.core.as_str() {
        "second" | "timestamp" | "t" => Some(1.0),
        "minute" => Some(60.0),
        _ => None,
    };
    match scale {
        Some(scale) => number(&words.get(1)?.core).map(|n| Reading { seconds: n * scale, words: 2 }),
        None => quantities(words),
    }
}

/// Reads a number without a unit; "the 4th" is one too.
pub(in crate::answer) fn number(word: &str) -> Option<f64> {
    let counted = ["st", "nd", "rd", "th"].into_iter().find_map(|end| word.strip_suffix(end));
    let word = counted.filter(|digits| digits.bytes().all(|c| c.is_ascii_digit())).unwrap_or(word);
    let plain = !word.is_empty() && word.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    if plain { word.parse().ok().filter(|n: &f64| n.is_finite()) } else { spelled(word) }
}

/// `1 minute 30 seconds`: one or more numbers with units.
pub(super) fn quantities(words: &[Word<'_>]) -> Option<Reading> {
    let mut reading = Reading { seconds: 0.0, words: 0 };
    while let Some((seconds, taken)) = quantity(&words[reading.words..]) {
        reading.seconds += seconds;
        reading.words += taken;
        if words[reading.words - 1].ends_clause() {
            break;
        }
    }
    (reading.words > 0).then_some(reading)
}

fn quantity(words: &[Word<'_>]) -> Option<(f64, usize)> {
    let core = words.first()?.core.as_str();
    if core == "half" {
        // "half an hour", "half hour"
        let skip = 1 + usize::from(self::core(words, 1) == "an" || self::core(words, 1) == "a");
        return unit(self::core(words, skip)).map(|unit| (unit / 2.0, skip + 1));
    }
    if core == "quarter" {
        // "quarter of an hour", "quarter hour"
        let of = 2 * usize::from(self::core(words, 1) == "of" && matches!(self::core(words, 2), "a" | "an"));
        return unit(self::core(words, 1 + of)).map(|unit| (unit / 4.0, of + 2));
    }
    let core = core.strip_prefix("t=").unwrap_or(core);
    let digits = core.len() - core.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (value, suffix) = core.split_at(digits);
    // "the 30-second mark"
    let suffix = suffix.strip_prefix('-').unwrap_or(suffix);
    if let (Some(value), Some(unit)) = (number(value), unit(suffix)) {
        return Some((value * unit, 1));
    }
    if let Some(seconds) = compact(core) {
        return Some((seconds, 1));
    }
    let (value, unit) = (number(core)?, unit(&words.get(1)?.core)?);
    Some((value * unit, 2))
}

/// `1m30s`, `1h5m`: numbers with units, and nothing between them.
fn compact(word: &str) -> Option<f64> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let (mut rest, mut seconds, mut last) = (word, 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let (value, more) = rest.split_at(rest.find(|c| !is_digit(c))?);
        let (name, more) = more.split_at(more.find(is_digit).unwrap_or(more.len()));
        let unit = unit(name).filter(|unit| *unit < last)?;
        (seconds, last, rest) = (seconds + number(value)? * unit, unit, more);
    }
    (!word.is_empty()).then_some(seconds)
}

/// `0:42`, `00:42.5`, `1:02:03`: minutes and seconds, or hours, minutes and seconds.
pub(super) fn clock(word: &str) -> Option<f64> {
    let parts: Vec<&str> = word.split(':').collect();
    let shaped =
        (2..=3).contains(&parts.len()) && parts[1..].iter().all(|p| p.split('.').next().map(str::len) == Some(2));
    if !shaped || parts[0].len() > 4 {
        return None;
    }
    let plain = |p: &&str| !p.is_empty() && p.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    if !parts.iter().all(plain) {
        return None;
    }
    // "25:61" is no time.
    if parts[1..].iter().any(|part| part.parse::<f64>().is_ok_and(|n| n >= 60.0)) {
        return None;
    }
    parts.iter().try_fold(0.0, |total, part| part.parse::<f64>().ok().map(|n| total * 60.0 + n))
}

/// Seconds in a unit.
pub(super) fn unit(word: &str) -> Option<f64> {
    match word {
        "ms" | "milliseconds" => Some(0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some(3600.0),
        "day" | "days" => Some(86_400.0),
        "week" | "weeks" => Some(604_800.0),
        _ => None,
    }
}

fn spelled(word: &str) -> Option<f64> {
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let small = |word: &str| named(word).map(|n| n as f64);
    let tens = |word: &str| TENS.iter().position(|w| *w == word).map(|n| (n as f64 + 2.0) * 10.0);
    match word {
        "a" | "an" => Some(1.0),
        _ => match word.split_once('-') {
            Some((ten, one)) => Some(tens(ten)? + small(one).filter(|n| (1.0..10.0).contains(n))?),
            None => small(word).or_else(|| tens(word)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_length() {
        let table = [
            ("0:42", Some((42.0, 1))),
            ("[00:42.5] a", Some((42.5, 1))),
            ("1:02:03,", Some((3723.0, 1))),
            ("15 s", Some((15.0, 2))),
            ("12.5s, a", Some((12.5, 1))),
            ("15 seconds", Some((15.0, 2))),
            ("2 minutes", Some((120.0, 2))),
            ("1 minute 30 seconds later", Some((90.0, 4))),
            ("t=12.5s", Some((12.5, 1))),
            ("second 15", Some((15.0, 2))),
            ("ten minutes", Some((600.0, 2))),
            ("1h", Some((3600.0, 1))),
            ("5 s, 3 s", Some((5.0, 2))),
            ("half an hour ago", Some((1800.0, 3))),
            ("30-second mark", Some((30.0, 1))),
            ("minute 3", Some((180.0, 2))),
            ("3 days", Some((259_200.0, 2))),
            ("quarter of an hour", Some((900.0, 4))),
            ("quarter hour", Some((900.0, 2))),
            ("4th second", Some((4.0, 2))),
            ("1m30s", Some((90.0, 1))),
            ("1h2m3s,", Some((3723.0, 1))),
            ("2min5s", Some((125.0, 1))),
            ("30s1m", None),
            ("1m30", None),
            ("m30s", None),
            ("forty-five seconds", Some((45.0, 2))),
            ("ninety seconds", Some((90.0, 2))),
            ("five-forty seconds", None),
            ("forty-fifteen seconds", None),
            ("4th car", None),
            ("th second", None),
            ("quarter of the video", None),
            ("5 people", None),
            ("12.5", None),
            ("-5 seconds", None),
            ("\u{2212}5 s", None),
            ("-0:42", None),
            ("(5 s)", Some((5.0, 2))),
            ("25:59", Some((1559.0, 1))),
            ("25:61", None),
            ("1:60:00", None),
            ("90:00", Some((5400.0, 1))),
            ("16:9:", None),
            ("1:2:3:4", None),
            ("12:5x", None),
            ("99999:00", None),
            ("", None),
            ("s", None),
            ("a", None),
        ];
        for (text, due) in table {
            let got = read(&words(text)).map(|r| (r.seconds, r.words));
            assert_eq!(got, due, "{text:?}");
        }
    }
}
