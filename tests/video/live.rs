//! Live sources: a camera in another process that is killed, frozen, and refuses.

use std::net::TcpListener;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use groundedvqa::domain::{Clock, Frame, StreamKind, StreamTime, WallTime};
use groundedvqa::seams::{EvidenceError, FrameSource, SourceError};
use groundedvqa::stop::Stop;
use groundedvqa::video::{self, StreamConfig};

use crate::common::{RtspServer, clips};
use crate::make::{self, at, epoch, evidence, open, origin, stream};

const TENTH: Duration = Duration::from_millis(100);
const HOUR: Duration = Duration::from_hours(1);
/// Waited for something that will not come: GStreamer gives up on a silent server after 20 s.
const HANGS: Duration = Duration::from_secs(15);
const PASSWORD: &str = "p@ss/w:rd";

fn from_toml(text: &str) -> StreamConfig {
    toml::from_str(text).expect("is a stream")
}

fn camera(url: &str) -> StreamConfig {
    StreamConfig::new(url).expect("is an address")
}

fn next(source: &mut Box<dyn FrameSource>) -> Frame {
    source.next_frame().expect("a frame comes").expect("a live stream has no end")
}

/// The error that ends a stream; frames before it are passed over.
fn end_of(source: &mut Box<dyn FrameSource>) -> SourceError {
    loop {
        match source.next_frame() {
            Ok(frame) => assert!(frame.is_some(), "a live stream has no end"),
            Err(error) => return error,
        }
    }
}

/// The error with which opening fails.
fn refusal(config: &StreamConfig) -> SourceError {
    open(config, TENTH, None).err().expect("opening is refused")
}

fn is_live(config: &StreamConfig, size: (u32, u32)) {
    assert_eq!(config.kind(), StreamKind::Live);
    let begun = WallTime::now();
    let mut source = open(config, TENTH, None).expect("the camera answers");
    let frames = [next(&mut source), next(&mut source), next(&mut source)];
    for frame in &frames {
        assert_eq!((frame.picture.width(), frame.picture.height()), size);
        let counted = epoch().plus(frame.at.saturating_since(StreamTime::ZERO));
        match frame.clock {
            Clock::Arrival => assert_eq!(frame.wall, counted),
            // The server runs on the clock of this machine.
            Clock::SenderReport => {
                let (wall, slack) = (frame.wall, frame.precision);
                assert!(
                    begun <= wall.plus(slack) && wall <= WallTime::now().plus(slack),
                    "{wall} is not since {begun}"
                );
            }
            Clock::Media => panic!("a live frame has no media clock"),
        }
        assert!(frame.precision >= Duration::from_millis(50), "{:?}", frame.precision);
    }
    let slots = frames.each_ref().map(|frame| frame.at.nanos() / TENTH.as_nanos() as u64);
    assert!(slots[0] < slots[1] && slots[1] < slots[2], "{slots:?}");
}

#[test]
fn h264_over_rtsp() {
    let server = RtspServer::ball();
    is_live(&camera(server.url()), (320, 240));
    is_live(&from_toml(&format!("url = \"{}\"\nprotocol = \"udp\"", server.url())), (320, 240));
}

#[test]
fn h265_and_jpeg_over_rtsp() {
    for codec in ["h265", "jpeg"] {
        let server = RtspServer::start(&["--pattern", "smpte", "--size", "320x240", "--fps", "10", "--codec", codec]);
        is_live(&camera(server.url()), (320, 240));
    }
}

#[test]
fn a_clip_played_as_a_camera_does_not_end() {
    let clip = clips::carphone();
    let path = clip.to_str().expect("is UTF-8");
    let server = RtspServer::start(&["--file", path, "--size", "176x144", "--fps", "15"]);
    let mut source = open(&camera(server.url()), TENTH, None).expect("the camera answers");
    let first = next(&mut source);
    // The clip is 4 s long.
    let last = std::iter::repeat_with(|| next(&mut source))
        .find(|frame| frame.at.saturating_since(first.at) > Duration::from_secs(5))
        .expect("goes on");
    assert!(last.picture != first.picture);
    let brightest = last.picture.rgb().iter().max().expect("has pixels");
    assert!(*brightest > 60, "the loop shows black");
}

#[test]
fn a_pattern_without_end_is_live() {
    is_live(&camera("test://ball?size=64x48&fps=20"), (64, 48));
}

#[test]
fn a_stream_that_is_not_recorded_says_why() {
    let evidence = evidence(&camera("test://ball"));
    assert_eq!(evidence.kind(), StreamKind::Live);
    let error = evidence.frame_at(at(1.0)).expect_err("is not recorded");
    assert!(matches!(&error, EvidenceError::NoFrame { .. }), "{error}");
    assert!(error.to_string().contains("do not come encoded"), "{error}");
    let error = make::evidence(&camera("rtsp://h/live")).frame_at(at(1.0)).expect_err("is not recorded");
    assert!(error.to_string().contains("archive.enabled"), "{error}");
    let error = make::evidence(&from_toml("url = \"rtsp://h/live\"\nrecord = false")).frame_at(at(1.0));
    assert!(error.expect_err("is not recorded").to_string().contains("record = false"));
}

#[test]
fn a_killed_camera_is_lost_and_found_again() {
    let mut server = RtspServer::ball();
    let config = camera(server.url());
    let mut source = open(&config, TENTH, None).expect("the camera answers");
    let before = next(&mut source).at;
    server.kill();
    let error = end_of(&mut source);
    assert!(matches!(&error, SourceError::Lost { .. }), "{error}");
    assert!(error.is_transient());
    let error = refusal(&config);
    assert!(matches!(&error, SourceError::Open { .. }), "{error}");

    let port = server.port().to_owned();
    let _server = RtspServer::start(&["--pattern", "ball", "--size", "320x240", "--fps", "10", "--port", &port]);
    let mut source = open(&config, TENTH, Some(before)).expect("the camera is back");
    assert!(next(&mut source).at > before);
}

#[test]
fn a_frozen_camera_is_stalled_in_time() {
    let server = RtspServer::ball();
    let config = from_toml(&format!("url = \"{}\"\nstall_timeout = \"2s\"", server.url()));
    let mut source = open(&config, TENTH, None).expect("the camera answers");
    next(&mut source);
    server.freeze();
    let error = end_of(&mut source);
    // Told by the count of `stall_timeout`, not by a connection that gave up.
    assert!(matches!(&error, SourceError::Stalled { after, .. } if *after == Duration::from_secs(2)), "{error}");
    let closing = Instant::now();
    drop(source);
    assert!(closing.elapsed() < HANGS, "closing took {:?}", closing.elapsed());
}

#[test]
fn credentials_open_the_camera_and_never_show() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let server = RtspServer::start(&["--pattern", "ball", "--user", "cam", "--password", PASSWORD]);
    tracing::subscriber::with_default(subscriber, || {
        let keys = from_toml(&format!("url = \"{}\"\nuser = \"cam\"\npassword = \"{PASSWORD}\"", server.url()));
        is_live(&keys, (640, 360));
        let in_url = camera(&server.url().replace("://", "://cam:p%40ss%2Fw%3Ard@"));
        is_live(&in_url, (640, 360));
        let wrong = from_toml(&format!("url = \"{}\"\nuser = \"cam\"\npassword = \"hunter2\"", server.url()));
        for config in [&wrong, &camera(server.url())] {
            let error = refusal(config);
            assert!(matches!(&error, SourceError::Unauthorized { .. }), "{error}");
            log.write_line(&format!("{error} {error:?}"));
        }
        log.write_line(&format!("{keys:?} {in_url:?} {wrong:?}"));
    });
    let text = log.text();
    assert!(text.contains("refused the credentials"), "the log was not taken: {text}");
    for secret in [PASSWORD, "p%40ss", "hunter2"] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn a_changed_password_file_is_read_again() {
    let server = RtspServer::start(&["--pattern", "ball", "--user", "cam", "--password", PASSWORD]);
    let dir = crate::common::temp_dir();
    let file = dir.path().join("password");
    let config =
        from_toml(&format!("url = \"{}\"\nuser = \"cam\"\npassword_file = \"{}\"", server.url(), file.display()));
    let error = refusal(&config);
    assert!(error.to_string().contains("password"), "{error}");
    std::fs::write(&file, format!("{PASSWORD}\n")).expect("is written");
    is_live(&config, (640, 360));
}

#[test]
fn nobody_listening_and_no_such_path_are_told() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("has an address").port();
    drop(listener);
    for url in [format!("rtsp://127.0.0.1:{port}/live"), format!("http://127.0.0.1:{port}/a.mkv")] {
        let error = refusal(&camera(&url));
        assert!(matches!(&error, SourceError::Open { .. }), "{url}: {error}");
    }
    let server = RtspServer::ball();
    let error = refusal(&camera(&server.url().replace("/live", "/other")));
    assert!(matches!(&error, SourceError::Open { .. }), "{error}");
}

#[test]
fn a_server_that_accepts_and_says_nothing_is_stalled() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("has an address").port();
    let config = from_toml(&format!("url = \"rtsp://127.0.0.1:{port}/live\"\nstall_timeout = \"1s\""));
    let error = refusal(&config);
    assert!(matches!(&error, SourceError::Stalled { .. }), "{error}");
}

#[test]
fn a_stop_ends_the_wait_for_a_frame() {
    let config = camera("test://ball?size=64x48&fps=20");
    video::init().expect("GStreamer starts");
    let stop = Stop::new();
    // The first slot is used up by the first frame; the second begins in an hour.
    let mut source = video::open(&stream(), &config, origin(HOUR, None), &stop).expect("opens");
    next(&mut source);
    let (waiting, told) = mpsc::sync_channel(1);
    let asker = std::thread::spawn(move || {
        told.recv().expect("the waiter lives");
        stop.ask();
        Instant::now()
    });
    waiting.send(()).expect("the asker lives");
    let error = source.next_frame().expect_err("was stopped");
    let asked = asker.join().expect("the asker ends");
    assert!(matches!(error, SourceError::Stopped), "{error}");
    assert!(asked.elapsed() < HANGS, "it took {:?}", asked.elapsed());
}

/// A log that can be read back.
#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn write_line(&self, line: &str) {
        self.0.lock().expect("nobody panicked").extend_from_slice(line.as_bytes());
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("nobody panicked")).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> tracing_subscriber::fmt::MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
