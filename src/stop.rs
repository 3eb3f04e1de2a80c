//! One way to ask for the end, usable from threads and from async code.
//!
//! A `Stop` is a shared flag that only ever goes up. Cloning is cheap; every clone sees the same flag.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

#[derive(Debug)]
struct Shared {
    /// Wakes async waiters.
    asked: watch::Sender<bool>,
    /// Wakes threads.
    gate: Mutex<bool>,
    opened: Condvar,
}

/// A request to end that is made once and seen by all.
#[derive(Debug, Clone)]
pub struct Stop(Arc<Shared>);

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        Self(Arc::new(Shared { asked: watch::Sender::new(false), gate: Mutex::new(false), opened: Condvar::new() }))
    }

    /// Asks for the end. Asking again changes nothing.
    pub fn ask(&self) {
        *self.0.gate.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.opened.notify_all();
        self.0.asked.send_replace(true);
    }

    /// Whether the end was asked for.
    pub fn is_asked(&self) -> bool {
        *self.0.asked.borrow()
    }

    /// Returns when the end is asked for.
    pub async fn asked(&self) {
        let mut watcher = self.0.asked.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = watcher.wait_for(|asked| *asked).await;
    }

    /// Blocks a thread for `pause` or until the end is asked for; says whether it was.
    pub fn pause(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut asked = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        while !*asked {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            asked = self.0.opened.wait_timeout(asked, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_early_when_asked() {
        let stop = Stop::new();
        assert!(!stop.pause(Duration::from_millis(1)));
        let asker = stop.clone();
        let thread = std::thread::spawn(move || asker.ask());
        assert!(stop.pause(Duration::from_hours(1)));
        thread.join().expect("the asker ends");
        assert!(stop.is_asked());
    }

    #[tokio::test]
    async fn async_waiters_wake() {
        let stop = Stop::new();
        let waiter = tokio::spawn({
            let stop = stop.clone();
            async move { stop.asked().await }
        });
        stop.ask();
        waiter.await.expect("the waiter ends");
        stop.asked().await;
    }
}
