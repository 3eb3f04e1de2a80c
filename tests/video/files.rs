//! Files: formats, sampling, resuming, evidence, and what is refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use groundedvqa::domain::{Frame, StreamKind, StreamTime};
use groundedvqa::seams::{EvidenceError, SourceError};
use groundedvqa::video::StreamConfig;
use tempfile::TempDir;

use crate::common::{clips, temp_dir};
use crate::make::{at, clip, config, cut, epoch, evidence, millis, open, retimed, sample};

const HALF: Duration = Duration::from_millis(500);
const SECOND: Duration = Duration::from_secs(1);

/// What every readable format must do: keep one frame a slot at its own time, resume at any point as if never
/// interrupted, and give each sampled frame back, pixel by pixel, when its time is asked for.
fn proves(config: &StreamConfig, every: Duration, size: (u32, u32), frames: usize) -> Vec<Frame> {
    let whole = sample(config, every, None);
    assert_eq!(whole.len(), frames, "{:?}", millis(&whole));
    for pair in whole.windows(2) {
        let slot = |frame: &Frame| frame.at.nanos() / every.as_nanos() as u64;
        assert!(slot(&pair[0]) < slot(&pair[1]), "{:?}", millis(&whole));
    }
    for frame in &whole {
        assert_eq!((frame.picture.width(), frame.picture.height()), size);
        assert_eq!(frame.wall, epoch().plus(frame.at.saturating_since(StreamTime::ZERO)));
    }
    resumes(config, every, &whole);
    replays(config, &whole);
    whole
}

fn resumes(config: &StreamConfig, every: Duration, whole: &[Frame]) {
    for n in [0, whole.len() / 3, whole.len() - 2, whole.len() - 1] {
        let rest = sample(config, every, Some(whole[n].at));
        assert_eq!(millis(&rest), millis(&whole[n + 1..]), "resumed after frame {n}");
        assert!(rest == whole[n + 1..], "resumed after frame {n}: other pixels or times");
    }
}

fn replays(config: &StreamConfig, whole: &[Frame]) {
    let evidence = evidence(config);
    assert_eq!(evidence.kind(), StreamKind::File);
    for frame in whole {
        let again = evidence.frame_at(frame.at).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.at, frame.at);
        assert!(again == *frame, "another picture at {}", frame.at);
    }
    // Between two frames the earlier one is on display; pictures of different times differ, or the test proves nothing.
    let between = evidence.frame_at(whole[1].at + Duration::from_millis(1)).expect("is on display");
    assert!(between == whole[1] || between.at == whole[1].at + Duration::from_nanos(1), "{}", between.at);
    assert!(whole[0].picture != whole[1].picture, "the pictures of two samples are the same");
}

fn made(name: &str, launch: &str) -> (TempDir, PathBuf) {
    let dir = temp_dir();
    let path = clip(&dir.path().join(name), launch);
    (dir, path)
}

#[test]
fn h264_in_mp4() {
    proves(&config(&clips::bikes()), SECOND, (640, 272), 10);
}

#[test]
fn h264_in_mp4_with_sound() {
    proves(&config(&clips::bigbuckbunny()), SECOND, (1280, 720), 6);
}

#[test]
fn msmpeg4_in_avi() {
    let whole = proves(&config(&clips::vtest()), Duration::from_secs(5), (768, 576), 16);
    assert_eq!(millis(&whole)[..3], [0, 5000, 10_000]);
}

#[test]
fn cinepak_in_avi_at_a_variable_rate() {
    proves(&config(&clips::tree()), SECOND, (320, 240), 30);
}

#[test]
fn mpeg4_with_reordered_pictures_in_avi() {
    proves(&config(&clips::megamind()), SECOND, (720, 528), 12);
}

#[test]
fn h264_in_matroska_with_open_groups_of_pictures() {
    let launch = "BALL ! x264enc option-string=open-gop=1:scenecut=0 key-int-max=25 bframes=3 b-adapt=false \
                  ! h264parse ! matroskamux ! filesink location=OUT";
    let (_dir, path) = made("a.mkv", launch);
    proves(&config(&path), HALF, (320, 240), 20);
}

#[test]
fn odd_sizes() {
    let launch = "videotestsrc num-buffers=60 pattern=ball ! video/x-raw,format=Y444,framerate=10/1,width=641,height=273 \
                  ! x264enc ! h264parse ! qtmux ! filesink location=OUT";
    let (_dir, path) = made("odd.mp4", launch);
    proves(&config(&path), SECOND, (641, 273), 6);
}

#[test]
fn a_variable_frame_rate_with_gaps() {
    let launch =
        "BALL ! identity name=retime ! x264enc bframes=2 key-int-max=20 ! h264parse ! MUX ! filesink location=OUT";
    for mux in ["matroskamux", "qtmux"] {
        let dir = temp_dir();
        let launch = launch.replace("MUX", mux);
        // Two of three pictures go, the rest is shifted by up to 60 ms, and from 4 s to 6.5 s there is nothing.
        let path = retimed(&dir.path().join("vfr"), &launch, |ms| {
            let kept = ms % 300 == 0 && !(4000..6500).contains(&ms);
            kept.then_some(ms + ms / 100 % 7 * 10)
        });
        let whole = proves(&config(&path), SECOND, (320, 240), 8);
        assert!(!millis(&whole).iter().any(|ms| (4000..6500).contains(ms)), "{:?}", millis(&whole));
        // Through the gap the picture before it stays on display.
        let evidence = evidence(&config(&path));
        let before = evidence.frame_at(at(3.99)).expect("is on display");
        assert!(evidence.frame_at(at(5.5)).expect("is on display") == before, "{mux}");
    }
}

#[test]
fn times_that_do_not_start_at_zero() {
    let launch = "BALL ! identity name=retime ! x264enc bframes=2 ! h264parse ! matroskamux ! filesink location=OUT";
    let dir = temp_dir();
    let path = retimed(&dir.path().join("late.mkv"), launch, |ms| Some(ms + 3350));
    let whole = sample(&config(&path), SECOND, None);
    proves(&config(&path), SECOND, (320, 240), whole.len());
    assert!(whole.len() >= 10, "{:?}", millis(&whole));
}

#[test]
fn times_that_run_backwards() {
    let launch = "BALL ! identity name=retime ! jpegenc ! matroskamux ! filesink location=OUT";
    let dir = temp_dir();
    // Every fifth picture claims to be from 1.5 s earlier.
    let path = retimed(&dir.path().join("back.mkv"), launch, |ms| {
        Some(if ms % 500 == 0 { ms.saturating_sub(1500) } else { ms })
    });
    let whole = sample(&config(&path), SECOND, None);
    assert_eq!(whole.len(), 10, "{:?}", millis(&whole));
    replays(&config(&path), &whole);
}

#[test]
fn a_test_pattern_with_an_end_is_a_file() {
    let config = StreamConfig::new("test://ball?duration=10s&size=320x240&fps=10").expect("is an address");
    assert_eq!(config.kind(), StreamKind::File);
    proves(&config, SECOND, (320, 240), 10);
    // Random patterns repeat as well.
    let config = StreamConfig::new("test://snow?duration=3s&size=64x48&fps=10").expect("is an address");
    proves(&config, SECOND, (64, 48), 3);
}

#[test]
fn what_is_out_of_range_says_where_the_video_is() {
    let evidence = evidence(&config(&clips::bikes()));
    assert_eq!(evidence.frame_at(at(9.999)).expect("is on display").at, at(9.96));
    for beyond in [10.0, 12.0, 1e6] {
        let error = evidence.frame_at(at(beyond)).expect_err("is beyond the end");
        assert!(matches!(&error, EvidenceError::NoFrame { .. }), "{error}");
        assert!(error.to_string().contains("10.000 s"), "{error}");
    }
}

/// The frames before the end, and how it ended.
fn play_out(path: &Path) -> (Vec<Frame>, Option<SourceError>) {
    let mut source = match open(&config(path), HALF, None) {
        Ok(source) => source,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut frames = Vec::new();
    loop {
        match source.next_frame() {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error)),
        }
    }
}

#[test]
fn a_truncated_file_plays_what_there_is_and_ends() {
    let dir = temp_dir();
    let faststart = clip(
        &dir.path().join("whole.mp4"),
        "BALL ! x264enc key-int-max=10 ! h264parse ! qtmux faststart=true ! filesink location=OUT",
    );
    let launch = "BALL ! x264enc key-int-max=10 ! h264parse ! matroskamux ! filesink location=OUT";
    let matroska = clip(&dir.path().join("whole.mkv"), launch);
    let wholes = [
        (faststart, "cut.mp4"),
        (matroska, "cut.mkv"),
        (clips::vtest(), "cut-msmpeg4.avi"),
        (clips::tree(), "cut-cinepak.avi"),
    ];
    for (whole, name) in wholes {
        let all = sample(&config(&whole), HALF, None);
        let part = cut(&whole, &dir.path().join(name), 0.6);
        let (frames, error) = play_out(&part);
        assert!(error.is_none(), "{name}: {error:?}");
        assert!(frames.len() > all.len() / 3 && frames.len() < all.len() * 4 / 5, "{name}: {}", frames.len());
        // The last picture may be torn, or another one; those before it are what they were.
        let good = frames.len() - 1;
        assert_eq!(millis(&frames[..good]), millis(&all[..good]), "{name}");
        assert!(frames[..good] == all[..good], "{name}: other pixels");
        replays(&config(&part), &frames[..good]);
        let beyond = evidence(&config(&part)).frame_at(all[all.len() - 1].at).expect_err("was cut off");
        assert!(matches!(&beyond, EvidenceError::NoFrame { .. }), "{name}: {beyond}");
    }
}

#[test]
fn a_file_without_its_index_at_the_end_is_unusable() {
    let dir = temp_dir();
    let whole = clip(&dir.path().join("a.mp4"), "BALL ! x264enc ! h264parse ! qtmux ! filesink location=OUT");
    let (frames, error) = play_out(&cut(&whole, &dir.path().join("cut.mp4"), 0.6));
    assert!(frames.is_empty());
    assert!(matches!(&error, Some(SourceError::Unusable { .. })), "{error:?}");
}

#[test]
fn what_is_no_video_is_refused_with_the_reason() {
    let dir = temp_dir();
    let sound = "audiotestsrc num-buffers=100 ! audioconvert ! vorbisenc ! matroskamux ! filesink location=OUT";
    let m4a = "audiotestsrc num-buffers=100 ! audioconvert ! avenc_aac ! qtmux ! filesink location=OUT";
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "A street with cyclists.\n".repeat(200)).expect("is written");
    let noise = dir.path().join("noise.mp4");
    let mut rng = fastrand::Rng::with_seed(3);
    std::fs::write(&noise, (0..100_000).map(|_| rng.u8(..)).collect::<Vec<u8>>()).expect("is written");
    let empty = dir.path().join("empty.mp4");
    std::fs::write(&empty, "").expect("is written");
    let unusable = [
        (clip(&dir.path().join("a.mka"), sound), "no video stream"),
        (clip(&dir.path().join("a.m4a"), m4a), "no video stream"),
        (text, "text file"),
        (noise, ""),
        (empty, "is empty"),
        (dir.path().to_path_buf(), "is a directory"),
        (unknown_codec(dir.path()), "gstreamer1.0-libav"),
    ];
    for (path, part) in unusable {
        let error = open(&config(&path), SECOND, None).err().expect("is refused");
        assert!(matches!(&error, SourceError::Unusable { .. }), "{}: {error:?}", path.display());
        assert!(error.to_string().contains(part), "{}: {error}", path.display());
        assert!(!error.is_transient());
        let error = evidence(&config(&path)).frame_at(at(0.0)).expect_err("is refused");
        assert!(error.to_string().contains(part), "{}: {error}", path.display());
    }
    let error = open(&config(&dir.path().join("none.mp4")), SECOND, None).err().expect("is refused");
    assert!(matches!(&error, SourceError::Open { .. }) && error.to_string().contains("does not exist"), "{error}");
}

/// A cinepak AVI whose codec claims to be one that nobody knows.
fn unknown_codec(dir: &Path) -> PathBuf {
    let mut bytes = std::fs::read(clips::tree()).expect("the clip is there");
    let fourcc: Vec<usize> = (0..2000).filter(|&n| bytes[n..n + 4].eq_ignore_ascii_case(b"cvid")).collect();
    assert!(!fourcc.is_empty());
    for n in fourcc {
        bytes[n..n + 4].copy_from_slice(b"ZQZQ");
    }
    let path = dir.join("unknown.avi");
    std::fs::write(&path, bytes).expect("is written");
    path
}

#[test]
fn a_file_that_changed_is_no_evidence() {
    let dir = temp_dir();
    let path = dir.path().join("a.mp4");
    std::fs::copy(clips::bikes(), &path).expect("is copied");
    let evidence = evidence(&config(&path));
    evidence.frame_at(at(1.0)).expect("is on display");
    std::fs::copy(clips::carphone(), &path).expect("is copied");
    let error = evidence.frame_at(at(1.0)).expect_err("is another file");
    assert!(matches!(&error, EvidenceError::NoFrame { .. }) && error.to_string().contains("changed"), "{error}");
    std::fs::remove_file(&path).expect("is removed");
    let error = evidence.frame_at(at(1.0)).expect_err("is gone");
    assert!(matches!(&error, EvidenceError::NoFrame { .. }) && error.to_string().contains("not exist"), "{error}");
}

#[test]
fn damage_in_the_middle_is_survived() {
    let dir = temp_dir();
    for (n, clip) in [clips::bikes(), clips::vtest(), clips::tree()].into_iter().enumerate() {
        let mut bytes = std::fs::read(&clip).expect("the clip is there");
        let (from, to) = (bytes.len() * 4 / 10, bytes.len() * 5 / 10);
        let mut rng = fastrand::Rng::with_seed(n as u64);
        bytes[from..to].iter_mut().for_each(|byte| *byte = rng.u8(..));
        let path = dir.path().join(format!("damaged-{n}"));
        std::fs::write(&path, bytes).expect("is written");
        let (frames, error) = play_out(&path);
        assert!(frames.len() > 3, "{}: {} frames, {error:?}", clip.display(), frames.len());
        assert!(matches!(&error, None | Some(SourceError::Unusable { .. })), "{error:?}");
    }
}
