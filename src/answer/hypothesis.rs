//! What a claim says of a single picture: the claim without its timestamps. Pure.
//!
//! A blind caption of one frame cannot know when the frame was taken, so a time inside the hypothesis could only make
//! the judge call a true claim neutral.

use super::clock::{self, Word};

/// `claim` without its time phrases, with a capital letter in front and an end mark behind; empty if nothing is left.
pub fn strip_times(claim: &str) -> String {
    let text = drop_bracketed(claim);
    let words = clock::words(&text);
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let length = phrase(&words[at..], kept.is_empty());
        if length == 0 {
            kept.push(words[at].raw.to_owned());
            at += 1;
            continue;
        }
        at += length;
        let mark = words[at - 1].raw.chars().last().filter(|c| matches!(c, '.' | '!' | '?'));
        if let (Some(mark), Some(last)) = (mark, kept.last_mut()) {
            last.truncate(last.trim_end_matches(is_punctuation).len());
            last.push(mark);
        }
    }
    finish(&kept.join(" "))
}

/// Whether a claim about a file says in so many words that it is about another time than the cited one, by more than
/// `tolerance` seconds: "At 14:30 there is a person." of the picture at 60 s. No picture proves that.
pub(super) fn names_other_time(claim: &str, cited: f64, tolerance: f64) -> bool {
    let words = clock::words(claim);
    let times = (0..words.len()).filter(|at| matches!(words[*at].core.as_str(), "at" | "around")).filter_map(|at| {
        let is_phrase = at_time(&words[at..], at == 0) > 0;
        let skip = words[at + 1..].iter().take_while(|word| FILLERS.contains(&word.core.as_str())).count();
        clock::read(&words[at + 1 + skip..]).filter(|_| is_phrase)
    });
    times.into_iter().any(|reading| (reading.seconds - cited).abs() > tolerance)
}

/// Drops `(at 15 seconds)` and `[00:42]`; other brackets stay.
fn drop_bracketed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['(', '[']) {
        let close = if rest[open..].starts_with('(') { ')' } else { ']' };
        let Some(length) = rest[open..].find(close) else { break };
        let (inside, after) = (&rest[open + 1..open + length], &rest[open + length + 1..]);
        if is_time_only(inside) {
            out.push_str(rest[..open].trim_end());
            // A bracket before a word leaves a gap; one before a mark does not.
            if after.starts_with(char::is_alphanumeric) {
                out.push(' ');
            }
        } else {
            out.push_str(&rest[..=open + length]);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_time_only(inside: &str) -> bool {
    let words = clock::words(inside);
    let bare = words.len() == 1 && clock::number(&words[0].core).is_some_and(|_| inside.contains(['.', ':']));
    !words.is_empty() && (bare || span(&words) == words.len() || phrase(&words, true) == words.len())
}

/// How many words from the beginning of `words` are a time phrase; 0 if none. `leading`: nothing was kept before.
fn phrase(words: &[Word<'_>], leading: bool) -> usize {
    let Some(first) = words.first() else { return 0 };
    match first.core.as_str() {
        "at" | "around" => at_time(words, leading).max(at_end(words)),
        "between" | "from" => match span(&words[1..]) {
            0 => 0,
            length => length + 1,
        },
        "in" | "on" => in_frame(words),
        // "0:42 - A man walks."
        _ if leading && first.raw.contains(':') => clock::read(&words[..1]).map_or(0, |reading| reading.words),
        _ => 0,
    }
}

const FILLERS: [&str; 8] = ["the", "about", "around", "approximately", "exactly", "roughly", "time", "~"];

/// `at 12.5 s`, `at around 0:42`, `at timestamp 12.5`, and in front of the claim `At 12.5,`.
fn at_time(words: &[Word<'_>], leading: bool) -> usize {
    let skip = 1 + words[1..].iter().take_while(|word| FILLERS.contains(&word.core.as_str())).count();
    let rest = &words[skip..];
    let bare = || {
        let word = rest.first()?;
        let number = clock::number(&word.core).is_some() && word.core.starts_with(|c: char| c.is_ascii_digit());
        (number && leading && word.raw.ends_with(',')).then_some(1)
    };
    let Some(length) = clock::read(rest).map(|reading| reading.words).or_else(bare) else { return 0 };
    let tail = rest.get(length).is_some_and(|word| matches!(word.core.as_str(), "mark" | "point"));
    skip + length + usize::from(tail)
}

/// `at the beginning`, `at the end of the video`; but not `at the end of the street`.
fn at_end(words: &[Word<'_>]) -> usize {
    let core = |i: usize| words.get(i).map_or("", |word| word.core.as_str());
    if core(1) != "the" || !matches!(core(2), "beginning" | "start" | "end") {
        return 0;
    }
    match (core(3), core(4)) {
        ("of", "the") if is_video(core(5)) => 6,
        ("of", _) => 0,
        _ => 3,
    }
}

/// `in the first frame`, `in frame 3`, `in the video`.
fn in_frame(words: &[Word<'_>]) -> usize {
    const ORDINALS: [&str; 7] = ["first", "second", "third", "fourth", "fifth", "last", "final"];
    let core = |i: usize| words.get(i).map_or("", |word| word.core.as_str());
    let picture = |word: &str| matches!(word, "frame" | "image" | "sample" | "moment");
    if core(1) == "the" && ORDINALS.contains(&core(2)) && picture(core(3)) {
        return 4;
    }
    if core(1) == "the" && is_video(core(2)) {
        return 3;
    }
    if picture(core(1)) && clock::number(core(2)).is_some() { 3 } else { 0 }
}

/// `10 s and 15 s`, `10 to 15 seconds`, `0:10-0:15`.
fn span(words: &[Word<'_>]) -> usize {
    let one = |words: &[Word<'_>]| clock::read(words).map(|reading| reading.words);
    let bare = |words: &[Word<'_>]| words.first().and_then(|word| clock::number(&word.core)).map(|_| 1);
    let Some(first) = one(words).or_else(|| bare(words)) else { return 0 };
    if first == words.len() && one(words).is_some() {
        return first;
    }
    let joined = words.get(first).is_some_and(|word| matches!(word.core.as_str(), "and" | "to" | "-" | "–" | ""));
    match one(words.get(first + 1..).unwrap_or_default()) {
        Some(second) if joined => first + 1 + second,
        _ => 0,
    }
}

fn is_video(word: &str) -> bool {
    matches!(word, "video" | "clip" | "footage" | "recording" | "stream" | "film")
}

fn is_punctuation(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '-' | '–' | '—' | '.' | '!' | '?') || c.is_whitespace()
}

fn finish(text: &str) -> String {
    let body = text.trim_start_matches(is_punctuation).trim_end();
    let body = body.trim_end_matches([',', ';', ':', '-', '–', '—', ' ']);
    let mut chars = body.chars();
    let Some(first) = chars.next() else { return String::new() };
    let mark = if body.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{mark}", first.to_uppercase(), chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_phrases_go_and_the_rest_stays() {
        let table = [
            ("There is a car.", "There is a car."),
            ("At 12.5 s, a man walks.", "A man walks."),
            ("At 12.5s a man walks", "A man walks."),
            ("at 15 seconds, two people stand", "Two people stand."),
            ("At around 0:42, a man walks.", "A man walks."),
            ("At timestamp 12.5, a man walks.", "A man walks."),
            ("At 12.5, a man walks.", "A man walks."),
            ("At the 12 second mark, a man walks.", "A man walks."),
            ("[00:42] A man walks.", "A man walks."),
            ("[00:42] - A man walks.", "A man walks."),
            ("0:42: A man walks.", "A man walks."),
            ("A man walks (at 15 seconds).", "A man walks."),
            ("A man walks (12.5 s) to a car.", "A man walks to a car."),
            ("A man walks [10 s - 15 s].", "A man walks."),
            ("A man walks at 0:42.", "A man walks."),
            ("A man walks, at 0:42.", "A man walks."),
            ("Does a man walk at 12 seconds?", "Does a man walk?"),
            ("Between 10 s and 15 s, a man walks.", "A man walks."),
            ("From 10 to 15 seconds a man walks.", "A man walks."),
            ("In the first frame, there is a dog.", "There is a dog."),
            ("There is a dog in the last frame.", "There is a dog."),
            ("In frame 3, there is a dog.", "There is a dog."),
            ("In the video, there is a dog.", "There is a dog."),
            ("At the beginning of the video, there is a dog.", "There is a dog."),
            ("There is a car at the end of the street.", "There is a car at the end of the street."),
            ("There are about five people at two tables.", "There are about five people at two tables."),
            ("A sign says 30 (red).", "A sign says 30 (red)."),
            ("A clock shows 12:30.", "A clock shows 12:30."),
            ("A person from 2 countries waves.", "A person from 2 countries waves."),
            ("A man stands at a table.", "A man stands at a table."),
            ("At 12.5 s.", ""),
            ("[00:42]", ""),
            ("  ", ""),
            ("(", "(."),
        ];
        for (claim, due) in table {
            assert_eq!(strip_times(claim), due, "{claim:?}");
        }
    }

    #[test]
    fn a_claim_may_name_its_own_time_and_no_other() {
        for (claim, due) in [
            ("At 14:30 there is a person.", true),
            ("There is a person at 90 seconds.", true),
            ("A person walks (at 2 minutes).", true),
            ("At exactly 75 s, there is a person.", true),
            ("At 60 s, there is a person.", false),
            ("At 1:00 there is a person.", false),
            ("There is a person at around 62 seconds.", false),
            ("There is a person at a table.", false),
            ("A clock shows 12:30.", false),
            ("There is a person.", false),
        ] {
            assert_eq!(names_other_time(claim, 60.0, 5.0), due, "{claim:?}");
        }
    }

    #[test]
    fn stripping_twice_changes_nothing() {
        for claim in ["At 12.5 s, at 13 s, a man walks.", "A man walks (at 15 seconds) in the first frame at 0:10."] {
            let once = strip_times(claim);
            assert_eq!(once, "A man walks.");
            assert_eq!(strip_times(&once), once);
        }
    }
}
