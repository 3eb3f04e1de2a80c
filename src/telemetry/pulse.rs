//! Whether the threads that do the work still move.
//!
//! A thread that waits for work is well. A thread that has worked on one thing for too long is stuck: only then does
//! the watchdog stop being fed. So a heartbeat marks the beginning and the end of work, and progress within.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Not at work.
const IDLE: u64 = 0;

#[derive(Debug)]
struct Beat {
    name: &'static str,
    base: Instant,
    /// Milliseconds from `base` to the last sign of progress, plus one; `IDLE` if not at work.
    progress: AtomicU64,
}

impl Beat {
    fn mark(&self) {
        self.progress.store(self.base.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    /// How long nothing has moved although there is work.
    fn silence(&self, now: Instant) -> Duration {
        match self.progress.load(Ordering::Relaxed) {
            IDLE => Duration::ZERO,
            mark => now.saturating_duration_since(self.base + Duration::from_millis(mark - 1)),
        }
    }
}

/// All heartbeats of the process; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<Mutex<Vec<Arc<Beat>>>>);

impl Pulse {
    /// No heartbeats yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A heartbeat for one thread or loop, at rest.
    pub fn heartbeat(&self, name: &'static str) -> Heartbeat {
        let beat = Arc::new(Beat { name, base: Instant::now(), progress: AtomicU64::new(IDLE) });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(beat.clone());
        Heartbeat(beat)
    }

    /// A thread that has worked for more than `limit` as of `now` without progress.
    pub fn stuck(&self, now: Instant, limit: Duration) -> Option<&'static str> {
        let beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        beats.iter().find(|beat| beat.silence(now) > limit).map(|beat| beat.name)
    }
}

/// Belongs to one thread or loop.
#[derive(Debug, Clone)]
pub struct Heartbeat(Arc<Beat>);

impl Heartbeat {
    /// Work begins; it ends when the returned value is dropped.
    #[must_use = "work ends when this is dropped"]
    pub fn work(&self) -> Working<'_> {
        self.0.mark();
        Working(&self.0)
    }
}

/// At work. Call [`Working::progress`] within long work.
#[derive(Debug)]
pub struct Working<'a>(&'a Beat);

impl Working<'_> {
    /// Something was achieved.
    pub fn progress(&self) {
        self.0.mark();
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.progress.store(IDLE, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_well_and_endless_work_is_stuck() {
        let pulse = Pulse::new();
        let (engine, writer) = (pulse.heartbeat("engine"), pulse.heartbeat("writer"));
        let limit = Duration::from_secs(30);
        let later = || Instant::now() + Duration::from_hours(1);
        assert_eq!(pulse.stuck(later(), limit), None, "threads at rest were called stuck");
        let working = engine.work();
        assert_eq!(pulse.stuck(Instant::now(), limit), None);
        assert_eq!(pulse.stuck(later(), limit), Some("engine"));
        drop(working);
        assert_eq!(pulse.stuck(later(), limit), None);
        let working = writer.work();
        working.progress();
        assert_eq!(pulse.stuck(later(), limit), Some("writer"));
    }
}
