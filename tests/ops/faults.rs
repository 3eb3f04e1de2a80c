//! Cameras that come back as others, streams that come and go by the dozen, pauses that are changed: in the daemon itself,
//! with warnings of GLib and GStreamer made fatal.

#![allow(clippy::large_futures, reason = "a test is awaited once, on a stack that has room")]

use groundedvqa::bus::Client;
use groundedvqa::bus::wire::{FrameRequest, SightRequest, StreamRequest, V1};
use groundedvqa::domain::{StreamState, StreamTime, WallTime};

use crate::common::RtspServer;
use crate::process::eventually;
use crate::site::{Running, Site, id};

/// A camera of which every sample becomes a moment.
fn camera(url: &str) -> String {
    format!(
        "[streams.cam]\nurl = {url:?}\nsample_every = \"1s\"\nstall_timeout = \"2s\"\n\
         sight = {{ extend_unchanged = false }}\n"
    )
}

/// Width and height of the JPEG of a remembered frame, if that very frame comes back.
async fn size_at(client: &Client, stream: &str, timestamp: StreamTime) -> Option<(u16, u16)> {
    let request = FrameRequest { v: V1, timestamp, deadline_s: None };
    let frame = client.frame(&id(stream), &request).await.ok()?;
    (frame.at == timestamp).then(|| size(&frame.jpeg))
}

/// Out of the header of a JPEG's picture: ITU T.81, B.2.2.
fn size(jpeg: &[u8]) -> (u16, u16) {
    let begin = jpeg.windows(2).position(|marker| marker == [0xff, 0xc0]).expect("is a baseline JPEG");
    let number = |at: usize| u16::from_be_bytes([jpeg[at], jpeg[at + 1]]);
    (number(begin + 7), number(begin + 5))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_camera_comes_back_with_another_size_and_another_codec() {
    let mut server = RtspServer::ball();
    let mut site = Site::new(&camera(server.url())).await;
    let daemon = site.start();
    site.until("cam", StreamState::Up).await;
    let seen = site.moments("cam", 2).await;
    server.kill();
    site.until("cam", StreamState::Down).await;
    let reborn = WallTime::now();
    let shape = ["--pattern", "smpte", "--size", "160x120", "--fps", "10", "--codec", "h265", "--port", server.port()];
    let _server = RtspServer::start(&shape);
    site.until("cam", StreamState::Up).await;
    // Some of the old camera's pictures may still have waited for the captioner.
    site.moments("cam", seen + 6).await;
    let (before, after): (Vec<_>, Vec<_>) =
        site.remembered("cam").await.into_iter().partition(|moment| moment.wall < reborn);
    let [before, after] = [before, after].map(|moments| moments.iter().map(|it| it.timestamp).collect::<Vec<_>>());
    assert!(before.len() >= 2 && after.len() >= 2 && before.last() < after.first(), "{before:?} then {after:?}");
    // The last one may not have reached the disk when the camera was killed, or now.
    for at in &before[..before.len() - 1] {
        assert_eq!(size_at(site.client(), "cam", *at).await, Some((320, 240)), "at {at}");
    }
    for at in &after[..after.len() - 1] {
        assert_eq!(size_at(site.client(), "cam", *at).await, Some((160, 120)), "at {at}");
    }
    assert_eq!(daemon.terminate().code(), Some(0));
}

/// Streams added and removed before and while it is looked at what the daemon holds.
const WARM: usize = 5;
const ROUNDS: usize = 50;

/// What the daemon holds: threads, file descriptors, resident bytes.
fn held(daemon: &Running) -> [f64; 3] {
    ["process_threads", "process_open_fds", "process_resident_memory_bytes"].map(|series| daemon.metric(series))
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_recorded_streams_come_and_go_and_leave_nothing_behind() {
    // Nothing is captioned of the dark, so that only watching and recording are waited for.
    let server = RtspServer::start(&["--pattern", "black", "--size", "320x240", "--fps", "10"]);
    let other = "[streams.other]\nurl = \"test://ball?size=64x48&fps=5\"\n";
    let mut site = Site::new(other).await;
    site.configure(other, "manage_allow = [\"rtsp://\"]\n");
    let daemon = site.start();
    site.until("other", StreamState::Up).await;
    let client = site.client().clone();
    let mut before = [0.0; 3];
    for round in 0..WARM + ROUNDS {
        let name = format!("cam-{round}");
        let sight = Some(SightRequest { extra_every: Some("0s".into()), ..SightRequest::default() });
        let request = StreamRequest { sight, ..StreamRequest::new(id(&name), server.url()) };
        client.add_stream(&request).await.expect("is allowed");
        site.until(&name, StreamState::Up).await;
        client.remove_stream(&id(&name)).await.expect("is allowed");
        site.until(&name, StreamState::Removed).await;
        if round + 1 == WARM {
            before = held(&daemon);
        }
    }
    // The last recorder may still be closing its file.
    let now = eventually("what was opened is closed", || {
        let now = held(&daemon);
        (now[0] <= before[0] + 4.0 && now[1] <= before[1] + 4.0).then_some(now)
    });
    assert!(now[2] <= before[2] + 48.0 * 1024.0 * 1024.0, "{before:?} became {now:?}");
    assert!(!daemon.metrics().contains("gvqa_archive_recording{"), "a removed stream is still measured");
    assert_eq!(daemon.terminate().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_pauses_come_into_force_on_reload() {
    let mut server = RtspServer::ball();
    let port = server.port().to_owned();
    let mut site = Site::new(&camera(server.url())).await;
    let quick = std::fs::read_to_string(site.path("groundedvqa.toml")).expect("was written");
    let slow = quick.replace("shortest = \"50ms\"\nlongest = \"200ms\"", "shortest = \"1h\"\nlongest = \"1h\"");
    assert_ne!(slow, quick);
    site.write("groundedvqa.toml", &slow);
    server.kill();
    let daemon = site.start();
    site.until("cam", StreamState::Down).await;
    site.write("groundedvqa.toml", &quick);
    // The reload itself tries once more; what follows that is the new pauses' doing.
    daemon.reload();
    let tried = "gvqa_stream_reconnects_total{reason=\"open\",stream=\"cam\"}";
    eventually("further attempts", || (daemon.metric(tried) >= 3.0).then_some(()));
    let _server = RtspServer::start(&["--pattern", "ball", "--size", "320x240", "--fps", "10", "--port", &port]);
    site.until("cam", StreamState::Up).await;
    assert!(!daemon.log().contains("needs a restart"), "nothing here does");
    assert_eq!(daemon.terminate().code(), Some(0));
}
