//! Recording of a live camera in another process: what was seen can be shown again, whatever happens to either.

use std::path::{Path, PathBuf};
use std::time::Duration;

use groundedvqa::domain::{Clock, Frame, StreamTime, WallTime};
use groundedvqa::seams::{EvidenceError, FrameSource};
use groundedvqa::stop::Stop;
use groundedvqa::video::StreamConfig;

use crate::child::{self, Disk};
use crate::common::{RtspServer, temp_dir};
use crate::make::{config, epoch, metric, millis, origin, sample, stream, video};

const TENTH: Duration = Duration::from_millis(100);

fn camera(url: &str) -> StreamConfig {
    StreamConfig::new(url).expect("is an address")
}

fn take(source: &mut Box<dyn FrameSource>, count: usize) -> Vec<Frame> {
    (0..count).map(|_| source.next_frame().expect("a frame comes").expect("has no end")).collect()
}

/// The segments of the archive in `dir`, oldest first.
fn segments(dir: &Path) -> Vec<PathBuf> {
    let dir = dir.join("archive/cam").join(epoch().nanos().to_string());
    let entries = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.expect("is listed").path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|kind| kind == "mkv")).collect();
    found.sort();
    found
}

#[test]
fn sampled_frames_of_a_camera_come_back_pixel_by_pixel() {
    for codec in ["h264", "h265", "jpeg"] {
        let server = RtspServer::start(&["--pattern", "ball", "--size", "320x240", "--fps", "10", "--codec", codec]);
        let dir = temp_dir();
        let (video, registry) = video(dir.path(), "");
        let config = camera(server.url());
        let mut source = video.open(&stream(), &config, origin(TENTH, None), &Stop::new()).expect("the camera answers");
        let frames = take(&mut source, 35);
        let evidence = video.evidence(&stream(), &config, epoch());
        let same = |frame: &Frame| {
            let again = evidence.frame_at(frame.at).unwrap_or_else(|error| panic!("{codec}: {error}"));
            assert!(again == *frame, "{codec}: another frame at {}: {again:?}, not {frame:?}", frame.at);
        };
        // The newest first: it is in the segment that is being written.
        frames.iter().rev().step_by(3).for_each(same);
        assert_eq!(source.remark(), "", "{codec}");
        drop(source);
        frames.iter().step_by(4).for_each(same);
        assert!(segments(dir.path()).len() >= 2, "{codec}: {:?}", segments(dir.path()));
        assert!(metric(&registry, "gvqa_archive_pictures_total", "cam") >= 30.0);
        for reason in ["slow", "disk", "space"] {
            assert_eq!(metric(&registry, "gvqa_archive_lost_total", reason), 0.0, "{codec}: {reason}");
        }
        plays_everywhere(&segments(dir.path())[0], codec);
    }
}

/// A segment is a file like any other.
fn plays_everywhere(segment: &Path, codec: &str) {
    let frames = sample(&config(segment), TENTH, None);
    assert!(frames.len() >= 5, "{codec}: {:?}", millis(&frames));
    assert_eq!((frames[0].picture.width(), frames[0].picture.height()), (320, 240), "{codec}");
}

#[test]
fn the_cameras_own_clock_is_used_once_it_is_told() {
    let begun = WallTime::now();
    let server = RtspServer::ball();
    let dir = temp_dir();
    let (video, registry) = video(dir.path(), "");
    let config = camera(server.url());
    let mut source = video.open(&stream(), &config, origin(TENTH, None), &Stop::new()).expect("the camera answers");
    // Sender reports come every few seconds.
    let reported = (0..150).map(|_| take(&mut source, 1).remove(0)).find(|frame| frame.clock == Clock::SenderReport);
    let reported = reported.expect("a sender report comes");
    // The camera runs on the clock of this machine: it took the picture after it was started, and before it arrived.
    let (wall, arrived) = (reported.wall, epoch().plus(reported.at.saturating_since(StreamTime::ZERO)));
    let slack = reported.precision;
    assert!(begun <= wall && wall <= arrived.plus(slack), "{wall} is not between {begun} and {arrived}");
    let again = video.evidence(&stream(), &config, epoch()).frame_at(reported.at).expect("is recorded");
    assert!(again == reported, "{again:?} is not {reported:?}");
    let drift = metric(&registry, "gvqa_stream_clock_drift_seconds", "cam");
    let longest = WallTime::now().saturating_since(begun).as_secs_f64();
    assert!((-longest..=slack.as_secs_f64()).contains(&drift), "{drift} s ahead of arrival");
    assert_eq!(metric(&registry, "gvqa_stream_clock_jumps_total", "cam"), 0.0);
}

#[test]
fn a_camera_that_comes_back_in_another_shape_is_recorded_on() {
    let mut server = RtspServer::ball();
    let dir = temp_dir();
    let (video, _) = video(dir.path(), "");
    let config = camera(server.url());
    let open = |after| video.open(&stream(), &config, origin(TENTH, after), &Stop::new()).expect("the camera answers");
    let mut source = open(None);
    let mut frames = take(&mut source, 12);
    let port = server.port().to_owned();
    server.kill();
    while source.next_frame().is_ok() {}
    drop(source);
    let shape = ["--pattern", "smpte", "--size", "160x120", "--fps", "10", "--codec", "h265", "--port", &port];
    let _server = RtspServer::start(&shape);
    let mut source = open(frames.last().map(|frame| frame.at));
    frames.extend(take(&mut source, 12));
    let evidence = video.evidence(&stream(), &config, epoch());
    for frame in &frames {
        let again = evidence.frame_at(frame.at).unwrap_or_else(|error| panic!("{error}"));
        assert!(again == *frame, "another frame at {}", frame.at);
    }
    assert!(frames[0].picture.width() == 320 && frames[23].picture.width() == 160);
}

#[test]
fn while_a_camera_is_frozen_there_is_a_gap_with_bounds() {
    let server = RtspServer::ball();
    let dir = temp_dir();
    let (video, _) = video(dir.path(), "");
    let config: StreamConfig =
        toml::from_str(&format!("url = {:?}\nstall_timeout = \"2s\"", server.url())).expect("is a stream");
    let open = |after| video.open(&stream(), &config, origin(TENTH, after), &Stop::new()).expect("the camera answers");
    let mut source = open(None);
    let mut frames = take(&mut source, 12);
    server.freeze();
    while let Ok(Some(frame)) = source.next_frame() {
        frames.push(frame);
    }
    drop(source);
    server.thaw();
    let last = frames.last().expect("has frames").at;
    frames.extend(take(&mut open(Some(last)), 5));
    let evidence = video.evidence(&stream(), &config, epoch());
    for frame in &frames {
        assert!(evidence.frame_at(frame.at).unwrap_or_else(|error| panic!("{error}")) == *frame);
    }
    let error = evidence.frame_at(last + Duration::from_millis(1700)).expect_err("nothing was seen");
    let EvidenceError::NoFrame { reason, .. } = &error else { panic!("{error}") };
    assert!(reason.contains("nothing was recorded from") && reason.contains(" to "), "{error}");
}

#[test]
fn what_was_recorded_until_a_kill_9_can_be_shown() {
    let server = RtspServer::ball();
    let dir = temp_dir();
    let (mut child, lines) = child::start(dir.path(), &server, Disk::Roomy);
    let told: Vec<_> = lines.map_while(Result::ok).filter_map(|line| child::told(&line)).take(25).collect();
    assert_eq!(told.len(), 25, "the child ended");
    child.kill().expect("the child is ours");
    child.wait().expect("the child ends");
    let (video, _) = video(dir.path(), "");
    let evidence = video.evidence(&stream(), &camera(server.url()), epoch());
    // The last ones may not have reached the disk yet.
    for (at, ..) in &told[..20] {
        assert_eq!(evidence.frame_at(*at).unwrap_or_else(|error| panic!("{error}")).at, *at);
    }
    let newest = segments(dir.path()).pop().expect("has segments");
    let whole = sample(&config(&newest), Duration::from_millis(10), None);
    assert!(!whole.is_empty(), "another player reads nothing of {}", newest.display());
    // Its last picture may be cut short; that is no reason to fail, and it is not shown.
    let bytes = std::fs::read(&newest).expect("is there");
    std::fs::write(&newest, &bytes[..bytes.len() - 3]).expect("is cut");
    let end = StreamTime::from_nanos(told[24].0.nanos() + 60_000_000_000);
    let error = evidence.frame_at(end).expect_err("nothing is there");
    assert!(matches!(&error, EvidenceError::NoFrame { reason, .. } if reason.contains("after")), "{error}");
    assert!(evidence.frame_at(told[15].0).is_ok());
}
