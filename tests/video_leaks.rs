//! Opening and closing streams leaves nothing behind, and GStreamer finds nothing to warn of. A binary of its own: the
//! process is counted as a whole, and runs with `G_DEBUG=fatal_warnings`.

mod common;
#[path = "video/make.rs"]
mod make;

use std::process::Command;
use std::time::Duration;

use common::{RtspServer, clips, temp_dir};
use groundedvqa::stop::Stop;
use groundedvqa::video::StreamConfig;
use make::{at, config, evidence, open, origin, stream, video};

const TENTH: Duration = Duration::from_millis(100);
/// Reconnects after the ones that warm up.
const RECONNECTS: usize = 50;

/// Runs `test` in a process in which any warning of GLib or GStreamer is the end.
fn strictly(test: &str) {
    let status = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("G_DEBUG", "fatal_warnings")
        .status();
    assert!(status.expect("the child starts").success(), "{test} failed: see above");
}

fn is_strict() -> bool {
    std::env::var_os("G_DEBUG").is_some_and(|value| value == "fatal_warnings")
}

#[test]
fn opening_and_closing_leaves_no_thread_and_no_descriptor() {
    strictly("files_and_cameras_in_turns");
}

#[test]
fn files_and_cameras_in_turns() {
    if !is_strict() {
        return;
    }
    let server = RtspServer::ball();
    let camera = |url: &str| StreamConfig::new(url).expect("is an address");
    let configs = [camera(server.url()), config(&clips::bikes()), camera("test://ball?size=64x48")];
    let replay = evidence(&configs[1]);
    let cycle = || {
        for config in &configs {
            let mut source = open(config, TENTH, None).expect("opens");
            assert!(source.next_frame().expect("decodes").is_some());
        }
        replay.frame_at(at(3.0)).expect("is on display");
    };
    // Thread pools and type registrations of the first rounds stay.
    (0..3).for_each(|_| cycle());
    let before = Held::now();
    (0..10).for_each(|_| cycle());
    before.still();
}

#[test]
fn fifty_reconnects_of_a_recorded_camera_leave_nothing_behind() {
    strictly("a_recorded_camera_reconnects");
}

#[test]
fn a_recorded_camera_reconnects() {
    if !is_strict() {
        return;
    }
    let server = RtspServer::ball();
    let camera = StreamConfig::new(server.url()).expect("is an address");
    let dir = temp_dir();
    let (video, _) = video(dir.path(), "max_bytes = 2000000\n");
    let past = video.evidence(&stream(), &camera, make::epoch());
    let mut last = None;
    let mut life = || {
        let mut source = video.open(&stream(), &camera, origin(TENTH, last), &Stop::new()).expect("opens");
        let frame = source.next_frame().expect("decodes").expect("has no end");
        last = Some(frame.at);
        assert!(past.frame_at(frame.at).unwrap_or_else(|error| panic!("{error}")) == frame);
    };
    (0..10).for_each(|_| life());
    let before = Held::now();
    (0..RECONNECTS).for_each(|_| life());
    before.still();
}

/// What this process holds.
#[derive(Debug)]
struct Held {
    threads: usize,
    descriptors: usize,
    resident_kib: u64,
}

impl Held {
    fn now() -> Self {
        let count = |dir: &str| std::fs::read_dir(dir).expect("/proc is mounted").count();
        let status = std::fs::read_to_string("/proc/self/status").expect("/proc is mounted");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("is told");
        let resident_kib = resident.trim().trim_end_matches(" kB").parse().expect("is a number");
        Self { threads: count("/proc/self/task"), descriptors: count("/proc/self/fd"), resident_kib }
    }

    fn still(&self) {
        let now = Self::now();
        assert!(now.descriptors <= self.descriptors + 2, "{self:?} became {now:?}");
        assert!(now.threads <= self.threads + 4, "{self:?} became {now:?}");
        assert!(now.resident_kib <= self.resident_kib + 24 * 1024, "{self:?} became {now:?}");
    }
}
