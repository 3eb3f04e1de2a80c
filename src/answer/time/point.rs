//! Single times inside a question: `15 seconds`, `0:42`, `14:30`, `2 pm`, `noon`. Pure.

use jiff::civil::Time;

use super::clock::{self, Word, core};

/// A time inside a question, before it is known of which stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::answer) enum Point {
    /// Seconds into the stream.
    Offset(f64),
    /// `14:30` is 14 minutes 30 s into a clip, or half past two by a clock on the wall: the stream decides.
    Either {
        /// Read as seconds into the stream.
        offset: f64,
        /// Read as a time of day.
        shown: Time,
    },
    /// A time of day.
    Shown(Time),
    /// So many seconds before the end.
    BeforeEnd(f64),
    /// So many seconds before now.
    Ago(f64),
}

/// Reads a time from the beginning of `words`, and how many words it took.
pub(super) fn read(words: &[Word<'_>]) -> Option<(Point, usize)> {
    if let Some((shown, taken)) = shown(words) {
        return Some((Point::Shown(shown), taken));
    }
    let reading = clock::read(words)?;
    let either = shown_on_clock(core(words, 0)).map(|shown| Point::Either { offset: reading.seconds, shown });
    Some((either.unwrap_or(Point::Offset(reading.seconds)), reading.words))
}

/// How many words at the beginning of `words` are written like a time and are none: `-5 seconds`, `minus 5 seconds`,
/// `25:61`.
pub(super) fn impossible(words: &[Word<'_>]) -> Option<usize> {
    let first = core(words, 0);
    if first == "minus" {
        return read(words.get(1..)?).map(|(_, taken)| taken + 1);
    }
    if let Some(number) = first.strip_prefix('-') {
        let mut positive = words.to_vec();
        number.clone_into(&mut positive[0].core);
        return read(&positive).map(|(_, taken)| taken);
    }
    let parts: Vec<&str> = first.split(':').collect();
    let is_like_one = (2..=3).contains(&parts.len())
        && parts.iter().all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|c| c.is_ascii_digit()))
        && parts[1..].iter().all(|part| part.len() == 2);
    (is_like_one && read(words).is_none()).then_some(1)
}

/// Reads `2` in `from 2 to 3 pm` and `between 10 and 20 minutes`: a bare number takes what the later time has.
pub(super) fn borrowed(words: &[Word<'_>], later: Point, later_words: &[Word<'_>]) -> Option<(Point, usize)> {
    let number = clock::number(core(words, 0))?;
    match later {
        Point::Offset(seconds) => {
            let of = clock::number(core(later_words, 0)).filter(|of| *of > 0.0)?;
            Some((Point::Offset(number * seconds / of), 1))
        }
        Point::Shown(shown) => {
            let hour = whole_hour(number)?;
            let afternoon = shown.hour() >= 12 && hour < 12 && hour + 12 <= shown.hour();
            Some((Point::Shown(Time::new(if afternoon { hour + 12 } else { hour }, 0, 0, 0).ok()?), 1))
        }
        _ => None,
    }
}

/// `2 pm`, `2:30pm`, `5 o'clock`, `14h30`, `noon`.
fn shown(words: &[Word<'_>]) -> Option<(Time, usize)> {
    let first = core(words, 0);
    match first {
        "noon" | "midday" => return Some((Time::constant(12, 0, 0, 0), 1)),
        "midnight" => return Some((Time::midnight(), 1)),
        _ => {}
    }
    if let Some((hours, minutes)) = first.split_once('h')
        && let (Some(hours), Some(minutes)) = (whole(hours), whole(minutes).filter(|_| minutes.len() == 2))
    {
        return Some((Time::new(hours, minutes, 0, 0).ok()?, 1));
    }
    let glued = [("am", false), ("pm", true)].into_iter().find_map(|(end, is_pm)| {
        let digits = first.strip_suffix(end).filter(|digits| !digits.is_empty())?;
        twelve(digits, is_pm).map(|time| (time, 1))
    });
    glued.or_else(|| match core(words, 1) {
        "am" | "a.m" => twelve(first, false).map(|time| (time, 2)),
        "pm" | "p.m" => twelve(first, true).map(|time| (time, 2)),
        "o'clock" | "o’clock" | "oclock" => {
            let time = Time::new(whole_hour(clock::number(first)?)?, 0, 0, 0).ok()?;
            Some((time, 2))
        }
        _ => None,
    })
}

/// `14:30`, `2:30:10` as a clock on the wall shows it.
fn shown_on_clock(word: &str) -> Option<Time> {
    let mut parts = word.split(':').map(whole);
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    Time::new(hours, minutes, seconds, 0).ok()
}

/// `2:30` or `2` before am or pm.
fn twelve(word: &str, is_pm: bool) -> Option<Time> {
    let (hours, minutes) = match word.split_once(':') {
        Some((hours, minutes)) => (whole(hours)?, whole(minutes)?),
        None => (whole_hour(clock::number(word)?)?, 0),
    };
    let hours = match (hours, is_pm) {
        (12, false) => 0,
        (12, true) => 12,
        (1..12, false) => hours,
        (1..12, true) => hours + 12,
        _ => return None,
    };
    Time::new(hours, minutes, 0, 0).ok()
}

fn whole(digits: &str) -> Option<i8> {
    digits.bytes().all(|c| c.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn whole_hour(number: f64) -> Option<i8> {
    (number.fract() == 0.0 && (0.0..24.0).contains(&number)).then_some(number as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(hour: i8, minute: i8) -> Time {
        Time::constant(hour, minute, 0, 0)
    }

    #[test]
    fn times_are_read_with_their_length() {
        let either = |offset, hour, minute| Point::Either { offset, shown: time(hour, minute) };
        let table = [
            ("15 seconds", Some((Point::Offset(15.0), 2))),
            ("14:30", Some((either(870.0, 14, 30), 1))),
            ("0:42?", Some((either(42.0, 0, 42), 1))),
            ("42:10", Some((Point::Offset(2530.0), 1))),
            ("2 pm", Some((Point::Shown(time(14, 0)), 2))),
            ("2:30 p.m.", Some((Point::Shown(time(14, 30)), 2))),
            ("2pm", Some((Point::Shown(time(14, 0)), 1))),
            ("11:05am", Some((Point::Shown(time(11, 5)), 1))),
            ("12 am", Some((Point::Shown(time(0, 0)), 2))),
            ("12 pm", Some((Point::Shown(time(12, 0)), 2))),
            ("five o'clock", Some((Point::Shown(time(5, 0)), 2))),
            ("14h30", Some((Point::Shown(time(14, 30)), 1))),
            ("noon", Some((Point::Shown(time(12, 0)), 1))),
            ("midnight", Some((Point::Shown(time(0, 0)), 1))),
            ("13 pm", None),
            ("25 o'clock", None),
            ("pm", None),
            ("14", None),
            ("", None),
        ];
        for (text, due) in table {
            assert_eq!(read(&clock::words(text)), due, "{text:?}");
        }
    }

    #[test]
    fn a_bare_number_takes_what_the_later_time_has() {
        let table = [
            ("10", "20 minutes", Some(Point::Offset(600.0))),
            ("2", "3 pm", Some(Point::Shown(time(14, 0)))),
            ("11", "1 pm", Some(Point::Shown(time(11, 0)))),
            ("2", "noon", Some(Point::Shown(time(2, 0)))),
            ("2", "0:42", None),
            ("x", "3 pm", None),
        ];
        for (word, later, due) in table {
            let later = clock::words(later);
            let (point, _) = read(&later).expect("a time");
            let got = borrowed(&clock::words(word), point, &later).map(|(point, _)| point);
            assert_eq!(got, due, "{word}");
        }
    }
}
