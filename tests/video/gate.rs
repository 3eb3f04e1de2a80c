//! Which pictures of a camera are decoded: key pictures where that is enough, all of them where it is not.

use std::time::Duration;

use groundedvqa::domain::{Frame, StreamTime};
use groundedvqa::seams::EvidenceSource;
use groundedvqa::stop::Stop;
use groundedvqa::video::StreamConfig;

use crate::common::{RtspServer, temp_dir};
use crate::make::{epoch, metric, open, origin, stream, video};
use crate::sources::come_back;

/// One frame for so much.
const EVERY: Duration = Duration::from_millis(600);
/// From one picture of the camera to the next.
const PICTURE: Duration = Duration::from_millis(50);

/// Whether key pictures alone are decoded after `count` sampled frames of a camera that sends a key picture every `group`
/// pictures. Every frame comes back from the recording, and no sample is missing of which the recording has pictures.
fn keys_only(codec: &str, group: &str, decode: &str, count: usize) -> bool {
    let size = ["--pattern", "ball", "--size", "320x240", "--fps", "20"];
    let server = RtspServer::start(&[&size[..], &["--gop", group, "--codec", codec]].concat());
    let config: StreamConfig =
        toml::from_str(&format!("url = {:?}\ndecode = {decode:?}", server.url())).expect("is a stream");
    let dir = temp_dir();
    let (video, registry) = video(dir.path(), "");
    let mut source = video.open(&stream(), &config, origin(EVERY, None), &Stop::new()).expect("the camera answers");
    let frames: Vec<Frame> =
        (0..count).map(|_| source.next_frame().expect("a frame comes").expect("has no end")).collect();
    come_back(&video, &config, &frames);
    let evidence = video.evidence(&stream(), &config, epoch());
    let starved: Vec<u64> =
        missing(&frames).into_iter().filter(|slot| pictures_came(evidence.as_ref(), *slot)).collect();
    assert!(starved.is_empty(), "{codec}, {group}, {decode}: pictures came, and no sample, in the slots {starved:?}");
    metric(&registry, "gvqa_stream_key_frames_only", "cam") == 1.0
}

/// The slots between the first and the last frame that have none.
fn missing(frames: &[Frame]) -> Vec<u64> {
    let slots: Vec<u64> = frames.iter().map(|frame| frame.at.nanos() / EVERY.as_nanos() as u64).collect();
    (slots[0]..slots[slots.len() - 1]).filter(|slot| !slots.contains(slot)).collect()
}

/// Whether the recording has new pictures all through a slot: a busy server that stutters is no fault of the sampler.
fn pictures_came(evidence: &dyn EvidenceSource, slot: u64) -> bool {
    let begin = StreamTime::from_nanos(slot * EVERY.as_nanos() as u64);
    let probes = (0..=EVERY.as_millis() / PICTURE.as_millis()).map(|n| begin + PICTURE * n as u32);
    probes.into_iter().all(|at| evidence.frame_at(at).is_ok_and(|frame| at.saturating_since(frame.at) < 3 * PICTURE))
}

#[test]
fn key_pictures_alone_are_decoded_where_that_is_enough() {
    for codec in ["h264", "h265"] {
        assert!(keys_only(codec, "10", "auto", 8), "{codec}");
    }
    assert!(!keys_only("h264", "10", "all", 4));
    assert!(keys_only("h264", "10", "keyframes", 4));
}

#[test]
fn key_pictures_that_come_too_seldom_are_not_relied_on() {
    assert!(!keys_only("h264", "30", "auto", 8), "one every 1.5 s is too few for one frame every 0.6 s");
    assert!(!keys_only("h264-refresh", "10", "auto", 8), "there is one key picture, the first");
}

/// Key pictures that lean on the group before them: whether they decode alone depends on the decoder. Either way nothing
/// is missing.
#[test]
fn open_groups_of_pictures_do_not_starve() {
    keys_only("h264-open", "10", "auto", 12);
}

/// A second viewer joins in the middle of a group of four seconds. It waits for the key picture, longer than it would wait
/// for a camera that is silent, and shows nothing that the recording does not hold.
#[test]
fn who_joins_in_the_middle_of_a_group_waits_for_its_end() {
    let server =
        RtspServer::start(&["--pattern", "ball", "--size", "320x240", "--fps", "10", "--gop", "40", "--codec", "h264"]);
    let settings = |decode| format!("url = {:?}\ndecode = {decode:?}\nstall_timeout = \"2s\"", server.url());
    let watch = |decode, count| {
        let config: StreamConfig = toml::from_str(&settings(decode)).expect("is a stream");
        let dir = temp_dir();
        let (video, _) = video(dir.path(), "");
        let mut source = video.open(&stream(), &config, origin(EVERY, None), &Stop::new()).expect("the camera answers");
        let frames: Vec<Frame> =
            (0..count).map(|_| source.next_frame().expect("a frame comes").expect("has no end")).collect();
        come_back(&video, &config, &frames);
        frames
    };
    // Without a viewer the camera would begin anew, with a key picture, for each one who comes.
    let config: StreamConfig = toml::from_str(&settings("all")).expect("is a stream");
    let _other = open(&config, EVERY, None).expect("the camera answers");
    let keys = watch("keyframes", 3);
    assert!(keys[2].at.saturating_since(keys[0].at) > Duration::from_secs(6), "these are key pictures");
    // One that ended with a key picture is followed by one that joins behind it.
    for decode in ["all", "auto"] {
        watch(decode, 4);
    }
}
