//! What systemd is told: ready, stopping, alive. Without `NOTIFY_SOCKET` nothing is sent.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

use super::Pulse;
use crate::stop::Stop;

/// Start-up is over; `status` shows in `systemctl status`.
pub fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The configuration is being read again; [`ready`] ends it.
pub fn reloading() {
    tell(&[NotifyState::Reloading]);
}

/// Replaces the line in `systemctl status`.
pub fn status(status: &str) {
    tell(&[NotifyState::Status(status)]);
}

/// The ordered stop has begun.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// Feeds the watchdog at half its interval until `stop`, but only while no heartbeat is stuck. Returns at once if
/// systemd watches nothing. Runs as a task, so it also stands for the runtime itself.
pub async fn watchdog(pulse: Pulse, stop: Stop) {
    let Some(interval) = sd_notify::watchdog_enabled() else { return };
    let mut ticks = tokio::time::interval(half(interval));
    loop {
        tokio::select! {
            biased;
            () = stop.asked() => return,
            _ = ticks.tick() => feed(&pulse, interval),
        }
    }
}

fn feed(pulse: &Pulse, interval: Duration) {
    match pulse.stuck(Instant::now(), half(interval)) {
        None => tell(&[NotifyState::Watchdog]),
        Some(name) => tracing::error!(thread = name, "stuck: the watchdog is not fed"),
    }
}

fn half(interval: Duration) -> Duration {
    // An interval of zero would panic; systemd never sends one, another supervisor may.
    (interval / 2).max(Duration::from_millis(1))
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot notify systemd");
    }
}
