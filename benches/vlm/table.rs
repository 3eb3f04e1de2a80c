//! The one table that the measurement prints, row by row as it comes.

use std::time::{Duration, Instant};

/// What most rows have in common.
pub(crate) struct Table {
    rounds: usize,
}

impl Table {
    /// Prints the head.
    pub(crate) fn begin(rounds: usize) -> Self {
        println!("| model | what | at once | s (median of {rounds}) | a second |");
        println!("|---|---|---|---|---|");
        Self { rounds }
    }

    /// Runs `work` once to warm up and `rounds` times by the clock, and prints a row; `work` is told which time it is,
    /// does `count` of what `unit` names, and takes `at_once` inputs.
    pub(crate) fn row<E>(
        &self,
        (model, what): (&str, &str),
        at_once: usize,
        (count, unit): (usize, &str),
        mut work: impl FnMut(usize) -> Result<Duration, E>,
    ) -> Result<(), E> {
        work(0)?;
        let mut took = (1..=self.rounds).map(&mut work).collect::<Result<Vec<_>, E>>()?;
        took.sort();
        let seconds = took[took.len() / 2].as_secs_f64();
        println!("| {model} | {what} | {at_once} | {seconds:.3} | {:.2} {unit} |", count as f64 / seconds);
        Ok(())
    }
}

/// The time that `work` takes.
pub(crate) fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}
