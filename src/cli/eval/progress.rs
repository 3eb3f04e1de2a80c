//! How far a long measurement is: one line that counts up where a person watches, a line every tenth of the way or every
//! half minute elsewhere, each with an estimate of what is left.

use std::io::{IsTerminal as _, Stderr, Write};
use std::time::{Duration, Instant};

/// Lines in all, where nobody watches and it goes fast.
const LINES: usize = 10;
/// Longest silence where it goes slowly.
const SILENCE: Duration = Duration::from_secs(30);
/// Less than this is not worth an estimate.
const SOON: Duration = Duration::from_secs(10);

/// A count on its way to `total`.
pub(super) struct Progress<W> {
    out: W,
    is_watched: bool,
    /// Such as "door: checked".
    what: String,
    total: usize,
    told: usize,
    started: Instant,
    last: Instant,
}

impl Progress<Stderr> {
    /// Tells it on stderr.
    pub(super) fn on_stderr(what: impl Into<String>, total: usize) -> Self {
        let (out, now) = (std::io::stderr(), Instant::now());
        let is_watched = out.is_terminal();
        Self { out, is_watched, what: what.into(), total, told: 0, started: now, last: now }
    }
}

impl<W: Write> Progress<W> {
    /// So many are done.
    pub(super) fn done(&mut self, count: usize) {
        let Self { out, is_watched, what, total, told, started, last } = self;
        let left = left(started.elapsed(), count, *total);
        let tenth = count * LINES / (*total).max(1);
        // A closed stderr is no reason to stop.
        if *is_watched {
            let end = if count == *total { "\n" } else { " " };
            let _ = write!(out, "\r{what} {count} of {total} claims{left}{end}");
            let _ = out.flush();
        } else if tenth > *told || last.elapsed() >= SILENCE {
            (*told, *last) = (tenth, Instant::now());
            let _ = writeln!(out, "{what} {count} of {total} claims{left}");
        }
    }
}

/// What is left if it goes on as it went; nothing at the beginning, at the end, and where it is soon over.
fn left(elapsed: Duration, count: usize, total: usize) -> String {
    if count == 0 || count >= total {
        return String::new();
    }
    let rest = elapsed.mul_f64((total - count) as f64 / count as f64);
    match rest.as_secs() {
        _ if rest < SOON => String::new(),
        seconds @ ..120 => format!(", about {seconds} s left"),
        seconds => format!(", about {} min left", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(is_watched: bool, total: usize) -> String {
        let now = Instant::now();
        let what = "judged".into();
        let mut progress = Progress { out: Vec::new(), is_watched, what, total, told: 0, started: now, last: now };
        (1..=total).for_each(|count| progress.done(count));
        String::from_utf8(progress.out).expect("text")
    }

    #[test]
    fn a_pipe_gets_a_line_every_tenth_and_a_person_one_that_counts() {
        let lines = told(false, 250);
        assert_eq!(lines.lines().count(), 10);
        assert!(lines.starts_with("judged 25 of 250 claims\n") && lines.ends_with("judged 250 of 250 claims\n"));
        assert_eq!(told(false, 2), "judged 1 of 2 claims\njudged 2 of 2 claims\n");
        assert_eq!(told(true, 2), "\rjudged 1 of 2 claims \rjudged 2 of 2 claims\n");
        assert_eq!(told(false, 0), "");
    }

    #[test]
    fn what_is_left_is_estimated_where_it_is_long() {
        let seconds = Duration::from_secs;
        for (elapsed, count, total, due) in [
            (seconds(0), 0, 10, ""),
            (seconds(5), 1, 10, ", about 45 s left"),
            (seconds(30), 10, 100, ", about 5 min left"),
            (seconds(60), 10, 11, ""),
            (seconds(600), 10, 10, ""),
        ] {
            assert_eq!(left(elapsed, count, total), due, "{count} of {total} after {elapsed:?}");
        }
    }
}
