//! Packets that are lost on the way: pictures may be smeared or missing, their times are never wrong.

use std::path::Path;
use std::time::Duration;

use groundedvqa::domain::{Frame, Picture};
use groundedvqa::stop::Stop;
use groundedvqa::video::{StreamConfig, Video};

use crate::common::{RtspServer, temp_dir};
use crate::make::{clip, config, epoch, metric, origin, sample, stream, video};

const TENTH: Duration = Duration::from_millis(100);
/// Pictures a second.
const RATE: u32 = 20;
const BALL: [&str; 6] = ["--pattern", "ball", "--size", "320x240", "--fps", "20"];
/// Arrival, which tells the time of a picture, may jitter by so many pictures.
const JITTER: i64 = 6;
/// Points by which a smeared ball may be off.
const SMEARED: f64 = 8.0;

/// Where the ball is: the middle of everything bright.
fn ball(picture: &Picture) -> (f64, f64) {
    let width = picture.width() as usize;
    let bright = picture.rgb().chunks_exact(3).enumerate().filter(|(_, rgb)| rgb[1] > 128);
    let (mut x, mut y, mut count) = (0.0, 0.0, 0.0);
    for (n, _) in bright {
        (x, y, count) = (x + (n % width) as f64, y + (n / width) as f64, count + 1.0);
    }
    (x / count, y / count)
}

fn distance(one: (f64, f64), other: (f64, f64)) -> f64 {
    (one.0 - other.0).hypot(one.1 - other.1)
}

/// Where the ball is in each picture of the camera, from its first one on.
fn course(dir: &Path) -> Vec<(f64, f64)> {
    let launch = "videotestsrc num-buffers=900 pattern=ball ! video/x-raw,format=I420,framerate=20/1,width=320,height=240 \
                  ! x264enc key-int-max=20 speed-preset=ultrafast ! h264parse ! matroskamux ! filesink location=OUT";
    let whole = clip(&dir.join("course.mkv"), launch);
    sample(&config(&whole), Duration::from_millis(50), None).iter().map(|frame| ball(&frame.picture)).collect()
}

/// How many frames show what the camera saw at their time, counted from the first frame, each time moved by `shift`
/// pictures.
fn right(frames: &[Frame], course: &[(f64, f64)], shift: i64) -> usize {
    let start = frames[0].at;
    let first = ball(&frames[0].picture);
    let nearest = |n: &usize| (distance(course[*n], first) * 1000.0) as u64;
    let begin = (0..100).min_by_key(nearest).expect("is not empty") as i64;
    let is_right = |frame: &&Frame| {
        let due = begin + (frame.at.saturating_since(start).as_secs_f64() * f64::from(RATE)).round() as i64 + shift;
        let seen = ball(&frame.picture);
        let near = (due - JITTER..=due + JITTER).filter_map(|n| course.get(usize::try_from(n).ok()?));
        near.into_iter().any(|place| distance(*place, seen) < SMEARED)
    };
    frames.iter().filter(is_right).count()
}

/// Frames of a camera over UDP that loses every n-th packet, over as many lives as that takes.
fn watched(video: &Video, lose: Option<&str>, count: usize) -> Vec<Frame> {
    let lose: Vec<&str> = lose.into_iter().flat_map(|n| ["--lose", n]).collect();
    let server = RtspServer::start(&[&BALL[..], &lose].concat());
    let config: StreamConfig =
        toml::from_str(&format!("url = {:?}\nprotocol = \"udp\"", server.url())).expect("is a stream");
    let mut frames = Vec::<Frame>::new();
    while frames.len() < count {
        let after = frames.last().map(|frame| frame.at);
        let mut source =
            video.open(&stream(), &config, origin(TENTH, after), &Stop::new()).expect("the camera answers");
        loop {
            match source.next_frame() {
                Ok(frame) => frames.push(frame.expect("has no end")),
                Err(error) => {
                    assert!(error.is_transient(), "{error}");
                    break;
                }
            }
            if frames.len() == count {
                break;
            }
        }
    }
    // What was lost is lost in the recording too; what is shown again has its own time.
    let evidence = video.evidence(&stream(), &config, epoch());
    let shown =
        frames.iter().filter(|frame| evidence.frame_at(frame.at).is_ok_and(|again| again.at == frame.at)).count();
    assert!(3 * shown >= 2 * frames.len(), "{shown} of {} frames come back", frames.len());
    assert_eq!(server.said().contains("lost"), !lose.is_empty(), "the camera loses what it was told to lose");
    frames
}

#[test]
fn times_stay_right_when_packets_are_lost() {
    let dir = temp_dir();
    let course = course(dir.path());
    assert!(course.len() > 890, "{}", course.len());
    for (lose, least) in [(None, 40), (Some("15"), 30), (Some("7"), 20)] {
        let dir = temp_dir();
        let (video, registry) = video(dir.path(), "");
        let frames = watched(&video, lose, 40);
        assert!(frames.windows(2).all(|pair| pair[0].at < pair[1].at), "{lose:?}: time goes back");
        let found = right(&frames, &course, 0);
        let wrong = right(&frames, &course, 2 * i64::from(RATE));
        let lasted = frames[39].at.saturating_since(frames[0].at).as_secs_f64();
        let arrived = metric(&registry, "gvqa_archive_pictures_total", "cam") / lasted / f64::from(RATE);
        println!("{lose:?}: {arrived:.2} of the pictures arrived; {found} of 40 right, {wrong} if times were 2 s off");
        assert!(found >= least, "{lose:?}: only {found} of 40 frames show what was there at their time");
        assert!(wrong < least / 2, "{lose:?}: the check passes {wrong} frames whose times are 2 s off");
    }
}
