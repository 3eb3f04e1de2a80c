//! Waits until the clips are in the memory and the camera is live, and says how far it got.

use std::time::Duration;

use anyhow::{bail, ensure};
use tokio::time::{Instant, interval};

use super::children::Daemon;
use super::terminal::Terminal;
use crate::bus::Client;
use crate::bus::wire::StreamInfo;
use crate::domain::{StreamKind, StreamState};

const POLL: Duration = Duration::from_millis(500);
/// Moments of a live stream that are enough to ask about.
const LIVE_MOMENTS: u64 = 3;

/// Returns how the streams fare once all of them can be asked about.
pub(super) async fn until_indexed(
    client: &Client,
    daemon: &mut Daemon,
    terminal: &Terminal,
    patience: Duration,
) -> anyhow::Result<Vec<StreamInfo>> {
    let until = Instant::now() + patience;
    let mut tick = interval(POLL);
    let mut told = String::new();
    loop {
        tick.tick().await;
        daemon.check_alive()?;
        let streams = client.streams().await?.streams;
        let progress = streams.iter().map(describe).collect::<Vec<_>>().join("   ");
        if progress != told {
            terminal.step(&progress);
            told = progress;
        }
        if let Some(failed) = streams.iter().find(|stream| stream.state == StreamState::Failed) {
            bail!("stream {} failed: {}", failed.stream, failed.detail);
        }
        if !streams.is_empty() && streams.iter().all(can_be_asked_about) {
            return Ok(streams);
        }
        ensure!(Instant::now() < until, "the streams are not indexed after {} s: {told}", patience.as_secs());
    }
}

fn can_be_asked_about(stream: &StreamInfo) -> bool {
    match stream.kind {
        StreamKind::File => stream.state == StreamState::Ended,
        StreamKind::Live => stream.state == StreamState::Up && stream.moments >= LIVE_MOMENTS,
    }
}

fn describe(stream: &StreamInfo) -> String {
    let reached = stream.last_timestamp.map(|at| format!(" to {:.0} s", at.seconds())).unwrap_or_default();
    format!("{} {}: {} moments{reached}", stream.stream, stream.state.as_str(), stream.moments)
}
