//! What the demo prints: progress on standard error, answers and tables on standard output.

use std::time::Instant;

use super::latency::Row;
use super::transcript::{Check, Exchange};
use crate::bus::wire::Verdict;
use crate::domain::Entailment;

/// Prints with the time since the start.
pub(super) struct Terminal {
    start: Instant,
}

impl Terminal {
    /// Starts the clock.
    pub(super) fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// One line of progress.
    pub(super) fn step(&self, text: &str) {
        eprintln!("[{:6.1} s] {text}", self.start.elapsed().as_secs_f64());
    }

    /// A heading.
    #[expect(clippy::unused_self, reason = "everything is printed through the terminal")]
    pub(super) fn title(&self, text: &str) {
        println!("\n{text}\n{}", "─".repeat(text.chars().count()));
    }

    /// A question with its answer, a line a claim.
    #[expect(clippy::unused_self, reason = "everything is printed through the terminal")]
    pub(super) fn exchange(&self, exchange: &Exchange) {
        let scripted = &exchange.scripted;
        println!("\n[{}] {}: {}", scripted.kind, scripted.stream, scripted.text);
        match &exchange.outcome {
            Ok(reply) => {
                println!("  answer in {:.2} s: {}", exchange.took.as_secs_f64(), reply.text);
                for verdict in &reply.claims {
                    println!("  {}", line(verdict));
                }
            }
            Err(refused) => println!("  refused: {} ({})", refused.message, refused.name),
        }
    }

    /// A claim with its verdict and what a person says.
    #[expect(clippy::unused_self, reason = "everything is printed through the terminal")]
    pub(super) fn check(&self, check: &Check) {
        let agrees = if check.agrees() { "✓" } else { "≠" };
        println!("  {}   {agrees} {}", line(&check.verdict), check.scripted.truth.as_str());
    }

    /// The latency table.
    pub(super) fn latency(&self, rows: &[Row]) {
        self.title("Latency by stage, from /metrics");
        println!("{:<10} {:>6} {:>10} {:>10} {:>10}", "stage", "count", "p50", "p95", "mean");
        for Row { stage, count, p50, p95, mean } in rows {
            println!("{stage:<10} {count:>6} {:>10} {:>10} {:>10}", seconds(*p50), seconds(*p95), seconds(*mean));
        }
        println!();
    }
}

/// Seconds or milliseconds, with three digits that count.
pub(super) fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1000.0) } else { format!("{seconds:.2} s") }
}

fn line(verdict: &Verdict) -> String {
    let odds = verdict.probabilities.map_or_else(|| "         not judged       ".to_owned(), |odds| odds_of(&odds));
    let label = verdict.verdict.as_str();
    let reason = verdict.reason.as_str();
    let at = verdict.timestamp.seconds();
    format!("{label:<10} {reason:<17} @ {at:6.2} s  {odds}  {}", verdict.claim)
}

fn odds_of(odds: &Entailment) -> String {
    let Entailment { entailment, neutral, contradiction } = odds;
    format!("yes {entailment:.2} open {neutral:.2} no {contradiction:.2}")
}
