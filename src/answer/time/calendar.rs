//! Days and parts of days: `yesterday`, `this morning`, `tonight`, `on Monday`, `last week`. Pure.
//!
//! Parts of a day, by the clock on the wall of the stream: morning 05–12, afternoon 12–18, evening 18–23, night 22–06 of
//! the next day, tonight 18–06 (before six in the morning: the night that is not over yet).

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time, Weekday};

use super::clock::{self, Word, core};

/// "Next year" reaches so many days ahead.
const MOST_AHEAD: i32 = 36_500;

/// Some days, or a part of one, before it is known what today is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::answer) struct Day {
    /// Which.
    pub(super) which: Which,
    /// What of it; all if absent.
    pub(super) part: Option<Part>,
}

/// Which day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::answer) enum Which {
    /// So many days before today; tomorrow is -1.
    Back(i32),
    /// The latest such day, today included or not.
    Weekday(Weekday, bool),
    /// By its date.
    Date(Date),
    /// By month and day: the latest such.
    Month(i8, i8),
    /// The week so many weeks ago, Monday to Sunday.
    Week(i32),
    /// Not before tomorrow: "next week".
    Ahead,
    /// The latest day whose part has begun; only for live streams ("in the morning" describes a file).
    Latest,
}

/// A part of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::answer) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
    /// Evening and night.
    Tonight,
}

/// Reads a day from the beginning of `words`, and how many words it took; `before` is the word in front.
pub(super) fn read(words: &[Word<'_>], before: &str) -> Option<(Day, usize)> {
    let day = |which, part, taken| Some((Day { which, part }, taken));
    match (core(words, 0), core(words, 1)) {
        ("today", _) => Some(with_part(words, Which::Back(0))),
        ("yesterday", _) => Some(with_part(words, Which::Back(1))),
        ("tomorrow", _) => Some(with_part(words, Which::Back(-1))),
        ("day", "after") if core(words, 2) == "tomorrow" => day(Which::Back(-2), None, 3),
        ("next", "week" | "month" | "year") if before != "the" => day(Which::Ahead, None, 2),
        ("next", next) if weekday(next).is_some() => day(Which::Ahead, None, 2),
        ("day", "before") if core(words, 2) == "yesterday" => day(Which::Back(2), None, 3),
        ("tonight", _) => day(Which::Back(0), Some(Part::Tonight), 1),
        ("this", "night") => day(Which::Back(0), Some(Part::Tonight), 2),
        ("last", "night") => day(Which::Back(1), Some(Part::Tonight), 2),
        ("this", "week") => day(Which::Week(0), None, 2),
        ("last" | "previous", "week") if before != "the" => day(Which::Week(1), None, 2),
        ("this", next) => part(next).and_then(|part| day(Which::Back(0), Some(part), 2)),
        ("last", next) if weekday(next).is_some() => {
            weekday(next).and_then(|weekday| day(Which::Weekday(weekday, false), None, 2))
        }
        ("in", "the") => match core(words, 2) {
            "morning" => day(Which::Latest, Some(Part::Morning), 3),
            "afternoon" => day(Which::Latest, Some(Part::Afternoon), 3),
            "evening" => day(Which::Latest, Some(Part::Evening), 3),
            _ => None,
        },
        ("at", "night") => day(Which::Latest, Some(Part::Night), 2),
        (_, "day" | "days") if matches!(core(words, 2), "ago" | "earlier") => {
            let count = clock::number(core(words, 0)).filter(|n| n.fract() == 0.0 && *n < 36_500.0)?;
            day(Which::Back(count as i32), None, 3)
        }
        (first, _) => dated(words, first),
    }
}

fn dated(words: &[Word<'_>], first: &str) -> Option<(Day, usize)> {
    if let Some(weekday) = weekday(first) {
        return Some(with_part(words, Which::Weekday(weekday, true)));
    }
    if first.len() == 10
        && let Ok(date) = first.parse::<Date>()
    {
        return Some(with_part(words, Which::Date(date)));
    }
    let second = core(words, 1);
    let (month, number) = match (month(first), month(second)) {
        (Some(month), _) => (month, ordinal(second)?),
        (_, Some(month)) => (month, ordinal(first)?),
        _ => return None,
    };
    // Whether the month has such a day depends on the year; 2024 has them all.
    Date::new(2024, month, number).ok()?;
    Some((Day { which: Which::Month(month, number), part: None }, 2))
}

/// `yesterday evening`, `Monday morning`.
fn with_part(words: &[Word<'_>], which: Which) -> (Day, usize) {
    let ended = words[0].ends_clause();
    let part = part(core(words, 1)).filter(|_| !ended);
    (Day { which, part }, 1 + usize::from(part.is_some()))
}

fn part(word: &str) -> Option<Part> {
    match word {
        "morning" => Some(Part::Morning),
        "afternoon" => Some(Part::Afternoon),
        "evening" => Some(Part::Evening),
        "night" => Some(Part::Night),
        _ => None,
    }
}

fn weekday(word: &str) -> Option<Weekday> {
    match word {
        "monday" => Some(Weekday::Monday),
        "tuesday" => Some(Weekday::Tuesday),
        "wednesday" => Some(Weekday::Wednesday),
        "thursday" => Some(Weekday::Thursday),
        "friday" => Some(Weekday::Friday),
        "saturday" => Some(Weekday::Saturday),
        "sunday" => Some(Weekday::Sunday),
        _ => None,
    }
}

/// English month names; "may" and "march" alone are other words, so they count only beside a number.
fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    MONTHS.iter().position(|name| *name == word).map(|index| index as i8 + 1)
}

/// `29`, `29th`, `1st`.
fn ordinal(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &word[digits.len()..];
    matches!(suffix, "" | "st" | "nd" | "rd" | "th").then(|| digits.parse().ok()).flatten()
}

impl Day {
    /// From when to when, the end not included, if it is `now` by the clock on the wall.
    pub(super) fn span(self, now: DateTime) -> Option<(DateTime, DateTime)> {
        let today = now.date();
        let back = |days: i32| today.checked_sub(days.days()).ok();
        let date = match self.which {
            Which::Back(0) if self.part == Some(Part::Tonight) && now.hour() < 6 => back(1)?,
            Which::Back(days) => back(days)?,
            Which::Weekday(weekday, today_counts) => {
                let days = i32::from(weekday.until(today.weekday()));
                back(if days == 0 && !today_counts { 7 } else { days })?
            }
            Which::Date(date) => date,
            Which::Month(month, day) => latest(month, day, today)?,
            Which::Ahead => {
                let (from, to) = (back(-1)?, back(-MOST_AHEAD)?);
                return Some((from.to_datetime(Time::midnight()), to.to_datetime(Time::midnight())));
            }
            Which::Week(weeks) => {
                let monday = back(i32::from(today.weekday().to_monday_zero_offset()) + weeks * 7)?;
                let end = monday.checked_add(7.days()).ok()?;
                return Some((monday.to_datetime(Time::midnight()), end.to_datetime(Time::midnight())));
            }
            Which::Latest => {
                let (from, _) = self.part.map_or(Some((0, 24)), |part| Some(part.hours()))?;
                if i64::from(now.hour()) < from { back(1)? } else { today }
            }
        };
        let (from, to) = self.part.map_or((0, 24), Part::hours);
        let midnight = date.to_datetime(Time::midnight());
        Some((midnight.checked_add(from.hours()).ok()?, midnight.checked_add(to.hours()).ok()?))
    }
}

impl Part {
    /// First hour, and the hour at which it has ended; beyond 24 on the next day.
    fn hours(self) -> (i64, i64) {
        match self {
            Self::Morning => (5, 12),
            Self::Afternoon => (12, 18),
            Self::Evening => (18, 23),
            Self::Night => (22, 30),
            Self::Tonight => (18, 30),
        }
    }
}

fn latest(month: i8, day: i8, today: Date) -> Option<Date> {
    // The 29th of February is up to eight years back.
    (0..=8).filter_map(|back| Date::new(today.year() - back, month, day).ok()).find(|date| *date <= today)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_found() {
        // A Monday.
        let now: DateTime = "2026-11-30T10:00:00".parse().expect("a time");
        let table = [
            ("today", "2026-11-30T00", "2026-12-01T00"),
            ("yesterday?", "2026-11-29T00", "2026-11-30T00"),
            ("day before yesterday", "2026-11-28T00", "2026-11-29T00"),
            ("two days ago", "2026-11-28T00", "2026-11-29T00"),
            ("yesterday evening", "2026-11-29T18", "2026-11-29T23"),
            ("this morning", "2026-11-30T05", "2026-11-30T12"),
            ("this afternoon", "2026-11-30T12", "2026-11-30T18"),
            ("tonight", "2026-11-30T18", "2026-12-01T06"),
            ("last night", "2026-11-29T18", "2026-11-30T06"),
            ("in the morning", "2026-11-30T05", "2026-11-30T12"),
            ("in the evening", "2026-11-29T18", "2026-11-29T23"),
            ("at night", "2026-11-29T22", "2026-11-30T06"),
            ("monday", "2026-11-30T00", "2026-12-01T00"),
            ("last monday", "2026-11-23T00", "2026-11-24T00"),
            ("sunday night", "2026-11-29T22", "2026-11-30T06"),
            ("tuesday", "2026-11-24T00", "2026-11-25T00"),
            ("tomorrow", "2026-12-01T00", "2026-12-02T00"),
            ("tomorrow evening?", "2026-12-01T18", "2026-12-01T23"),
            ("day after tomorrow", "2026-12-02T00", "2026-12-03T00"),
            ("next week", "2026-12-01T00", "2126-11-06T00"),
            ("next monday", "2026-12-01T00", "2126-11-06T00"),
            ("this week", "2026-11-30T00", "2026-12-07T00"),
            ("last week", "2026-11-23T00", "2026-11-30T00"),
            ("2026-11-05", "2026-11-05T00", "2026-11-06T00"),
            ("november 5th", "2026-11-05T00", "2026-11-06T00"),
            ("5 december", "2025-12-05T00", "2025-12-06T00"),
            ("29 february", "2024-02-29T00", "2024-03-01T00"),
        ];
        for (text, from, to) in table {
            let (day, _) = read(&clock::words(text), "").unwrap_or_else(|| panic!("{text:?} is not read"));
            let due = [from, to].map(|text| format!("{text}:00:00").parse().expect("a time"));
            assert_eq!(day.span(now).map(<[DateTime; 2]>::from), Some(due), "{text:?}");
        }
    }

    #[test]
    fn before_six_tonight_is_the_night_that_is_not_over() {
        let (day, _) = read(&clock::words("tonight"), "").expect("read");
        let (from, to) = day.span("2026-11-30T02:00:00".parse().expect("a time")).expect("a span");
        assert_eq!(
            (from.to_string().as_str(), to.to_string().as_str()),
            ("2026-11-29T18:00:00", "2026-11-30T06:00:00")
        );
    }

    #[test]
    fn other_words_are_no_days() {
        for text in ["march", "may 99", "this car", "in the street", "last car", "32 november", "two dogs ago", ""] {
            assert_eq!(read(&clock::words(text), ""), None, "{text:?}");
        }
        assert_eq!(read(&clock::words("last week"), "the"), None, "the last week is seven days");
    }
}
