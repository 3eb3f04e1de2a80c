//! Every kind of live source, on servers in processes of their own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use groundedvqa::domain::{Frame, StreamKind};
use groundedvqa::seams::{FrameSource, SourceError};
use groundedvqa::stop::Stop;
use groundedvqa::video::{StreamConfig, Video};

use crate::common::{HttpServer, RtspServer, temp_dir};
use crate::make::{clip, epoch, metric, open, origin, stream, video};

const TENTH: Duration = Duration::from_millis(100);
const PASSWORD: &str = "p@ss/w:rd";

fn from_toml(text: &str) -> StreamConfig {
    toml::from_str(text).expect("is a stream")
}

fn next(source: &mut Box<dyn FrameSource>) -> Frame {
    source.next_frame().expect("a frame comes").expect("has no end yet")
}

/// The first frames of a live stream.
fn first(config: &StreamConfig, count: usize) -> Vec<Frame> {
    assert_eq!(config.kind(), StreamKind::Live);
    let mut source = open(config, TENTH, None).unwrap_or_else(|error| panic!("{error}"));
    (0..count).map(|_| next(&mut source)).collect()
}

fn refusal(config: &StreamConfig) -> SourceError {
    open(config, TENTH, None).err().expect("opening is refused")
}

/// A self-signed certificate with its key.
fn certificate(dir: &Path) -> PathBuf {
    let (key, pem) = (dir.join("key.pem"), dir.join("both.pem"));
    let arguments = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=camera", "-keyout"];
    let status = Command::new("openssl").args(arguments).arg(&key).arg("-out").arg(&pem).output();
    assert!(status.expect("openssl starts: install it").status.success());
    let both = [std::fs::read(&pem).expect("is made"), std::fs::read(&key).expect("is made")].concat();
    std::fs::write(&pem, both).expect("is written");
    pem
}

#[test]
fn a_camera_may_ask_by_digest() {
    let server = RtspServer::start(&["--pattern", "ball", "--user", "cam", "--password", PASSWORD, "--digest"]);
    let config = |password| from_toml(&format!("url = {:?}\nuser = \"cam\"\npassword = {password:?}", server.url()));
    first(&config(PASSWORD), 2);
    let error = refusal(&config("hunter2"));
    assert!(matches!(&error, SourceError::Unauthorized { .. }), "{error}");
}

#[test]
fn a_camera_may_speak_tls() {
    let dir = temp_dir();
    let pem = certificate(dir.path());
    let server = RtspServer::start(&["--pattern", "ball", "--tls", pem.to_str().expect("is UTF-8")]);
    assert!(server.url().starts_with("rtsps://"));
    first(&from_toml(&format!("url = {:?}\ntls_verify = false", server.url())), 2);
    let error = refusal(&from_toml(&format!("url = {:?}", server.url())));
    assert!(matches!(&error, SourceError::Open { .. }), "nobody signed it: {error}");
}

#[test]
fn a_file_over_http_is_played_as_a_camera_and_ends() {
    let dir = temp_dir();
    let launch = "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,framerate=10/1,width=320,height=240 ! x264enc \
                  key-int-max=10 ! h264parse ! qtmux faststart=true ! filesink location=OUT";
    clip(&dir.path().join("a.mp4"), launch);
    let server = HttpServer::start(dir.path(), &[]);
    let config = from_toml(&format!("url = {:?}", server.url("a.mp4")));
    let played = recorded_to_the_end(&config, dir.path());
    assert!(played.end.is_none(), "{:?}", played.end);
    assert_eq!(played.recorded, 20);
    let lasted = played.frames[played.frames.len() - 1].at.saturating_since(played.frames[0].at);
    assert!(lasted > Duration::from_secs(1), "two seconds are not over in {lasted:?}");
    let error = refusal(&from_toml(&format!("url = {:?}", server.url("none.mp4"))));
    assert!(matches!(&error, SourceError::Open { .. }), "{error}");
}

#[test]
fn hls_is_played_and_recorded() {
    let dir = temp_dir();
    let playlist = dir.path().join("a.m3u8");
    let launch = format!(
        "videotestsrc num-buffers=30 pattern=ball ! video/x-raw,framerate=10/1,width=320,height=240 ! x264enc \
         key-int-max=10 ! h264parse ! hlssink2 target-duration=1 playlist-length=0 max-files=0 \
         location=\"{}/s%03d.ts\" playlist-location=OUT",
        dir.path().display()
    );
    clip(&playlist, &launch);
    for login in [&[][..], &["--user", "cam", "--password", PASSWORD]] {
        let server = HttpServer::start(dir.path(), login);
        let url = server.url("a.m3u8");
        let keys = if login.is_empty() { String::new() } else { format!("user = \"cam\"\npassword = {PASSWORD:?}") };
        let recordings = temp_dir();
        let config = from_toml(&format!("url = {url:?}\n{keys}"));
        let played = recorded_to_the_end(&config, recordings.path());
        assert!(played.end.is_none(), "{login:?}: {:?}", played.end);
        assert_eq!(played.recorded, 30, "{login:?}");
        if !login.is_empty() {
            for keys in ["", "user = \"cam\"\npassword = \"hunter2\""] {
                let error = refusal(&from_toml(&format!("url = {url:?}\n{keys}")));
                assert!(matches!(&error, SourceError::Unauthorized { .. }), "{error}");
            }
        }
    }
}

/// A stream that was played to its end.
struct Played {
    /// The newest whenever one was asked for: how many there are depends on the machine.
    frames: Vec<Frame>,
    /// Pictures in the archive, which misses none.
    recorded: u64,
    end: Option<SourceError>,
}

/// Plays a stream to its end, recording it; every frame must come back.
fn recorded_to_the_end(config: &StreamConfig, dir: &Path) -> Played {
    assert_eq!(config.kind(), StreamKind::Live);
    let (video, registry) = video(dir, "");
    let mut source = video.open(&stream(), config, origin(TENTH, None), &Stop::new()).expect("the server answers");
    let mut frames = Vec::new();
    let end = loop {
        match source.next_frame() {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    come_back(&video, config, &frames);
    let recorded = metric(&registry, "gvqa_archive_pictures_total", "cam") as u64;
    Played { frames, recorded, end }
}

pub(crate) fn come_back(video: &Video, config: &StreamConfig, frames: &[Frame]) {
    let evidence = video.evidence(&stream(), config, epoch());
    for frame in frames {
        let again = evidence.frame_at(frame.at).unwrap_or_else(|error| panic!("{error}"));
        assert!(again == *frame, "another frame at {}: {again:?}, not {frame:?}", frame.at);
    }
}

#[test]
fn mjpeg_over_http_is_watched_and_recorded() {
    let dir = temp_dir();
    let launch = "videotestsrc num-buffers=10 pattern=ball ! video/x-raw,framerate=10/1,width=320,height=240 ! jpegenc \
                  ! multifilesink location=OUT";
    clip(&dir.path().join("p%02d.jpg"), launch);
    let server = HttpServer::start(dir.path(), &["--user", "cam", "--password", PASSWORD]);
    let url = server.url("camera");
    let config = from_toml(&format!("url = {url:?}\nuser = \"cam\"\npassword = {PASSWORD:?}"));
    let (video, registry) = video(dir.path(), "");
    let mut source = video.open(&stream(), &config, origin(TENTH, None), &Stop::new()).expect("the camera answers");
    let frames: Vec<Frame> = (0..12).map(|_| next(&mut source)).collect();
    assert!(frames[0].picture != frames[3].picture);
    come_back(&video, &config, &frames);
    assert_eq!(metric(&registry, "gvqa_stream_clock_jumps_total", "cam"), 0.0);
    let error = refusal(&from_toml(&format!("url = {url:?}\nuser = \"cam\"\npassword = \"hunter2\"")));
    assert!(matches!(&error, SourceError::Unauthorized { .. }), "{error}");
}

#[test]
fn a_device_that_is_not_there_is_told() {
    let error = refusal(&from_toml("url = \"v4l2:///dev/video99\""));
    assert!(matches!(&error, SourceError::Open { .. }), "{error}");
    assert!(error.to_string().contains("no capture device /dev/video99"), "{error}");
    let error = refusal(&from_toml("url = \"v4l2:///dev/../tmp\""));
    assert!(error.to_string().contains("is not a capture device"), "{error}");
}

#[test]
fn a_launch_fragment_is_played_if_it_is_allowed() {
    let fragment = "url = \"videotestsrc is-live=true pattern=ball ! video/x-raw,width=64,height=48,framerate=20/1 \
                    ! videoconvert\"";
    let frames = first(&from_toml(&format!("{fragment}\nallow_launch = true")), 3);
    assert_eq!((frames[0].picture.width(), frames[0].picture.height()), (64, 48));
    let error = toml::from_str::<StreamConfig>(fragment).expect_err("is not allowed").to_string();
    assert!(error.contains("allow_launch"), "{error}");
    let broken = from_toml("url = \"nosuchelement ! fakesink\"\nallow_launch = true");
    let error = refusal(&broken);
    assert!(matches!(&error, SourceError::Unusable { .. }), "{error}");
}
