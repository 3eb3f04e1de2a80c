//! How far a long measurement is: one line that counts up where a person watches, a line every tenth of the way elsewhere.

use std::io::{IsTerminal as _, Stderr, Write};

/// Lines in all, where nobody watches.
const LINES: usize = 10;

/// A count on its way to `total`.
pub(super) struct Progress<W> {
    out: W,
    is_watched: bool,
    /// Such as "door: checked".
    what: String,
    total: usize,
    told: usize,
}

impl Progress<Stderr> {
    /// Tells it on stderr.
    pub(super) fn on_stderr(what: impl Into<String>, total: usize) -> Self {
        let out = std::io::stderr();
        let is_watched = out.is_terminal();
        Self { out, is_watched, what: what.into(), total, told: 0 }
    }
}

impl<W: Write> Progress<W> {
    /// So many are done.
    pub(super) fn done(&mut self, count: usize) {
        let Self { out, is_watched, what, total, told } = self;
        // A closed stderr is no reason to stop.
        if *is_watched {
            let end = if count == *total { "\n" } else { " " };
            let _ = write!(out, "\r{what} {count} of {total} claims{end}");
            let _ = out.flush();
        } else if count * LINES / (*total).max(1) > *told {
            *told = count * LINES / (*total).max(1);
            let _ = writeln!(out, "{what} {count} of {total} claims");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(is_watched: bool, total: usize) -> String {
        let mut progress = Progress { out: Vec::new(), is_watched, what: "judged".into(), total, told: 0 };
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
}
