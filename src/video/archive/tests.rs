//! Real encoded pictures recorded under chosen times, and asked for again.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use prometheus::Registry;
use tempfile::TempDir;

use super::super::clock::Stamp;
use super::super::picture::ToPicture;
use super::super::reader::Reader;
use super::super::tap::codec_of;
use super::track::MAX_WAITING;
use super::*;
use crate::config::Span;
use crate::domain::{Clock, Frame, Picture, StreamTime};
use crate::seams::{EvidenceError, EvidenceSource as _};
use crate::stop::Stop;

const BALL: &str =
    "videotestsrc pattern=ball num-buffers=100 ! video/x-raw,format=I420,framerate=10/1,width=160,height=120";
const AVC: &str = "h264parse ! video/x-h264,stream-format=avc,alignment=au";

fn cam() -> StreamId {
    StreamId::new("cam").expect("is a token")
}

fn epoch() -> WallTime {
    WallTime::from_nanos(1_790_000_000_000_000_000).expect("in range")
}

fn at(ms: u64) -> StreamTime {
    StreamTime::from_nanos(ms * 1_000_000)
}

/// A hundred pictures in ten seconds, in the order in which they are sent.
fn encoded(codec: &str) -> (Arc<Codec>, Vec<Unit>) {
    gst::init().expect("GStreamer starts");
    let launch = format!("{BALL} ! {codec} ! appsink name=out sync=false");
    let pipeline = gst::parse::launch(&launch).expect("the encoder is installed: run `make setup`");
    let sink = pipeline.downcast_ref::<gst::Bin>().and_then(|bin| bin.by_name("out")).expect("has a sink");
    let sink = sink.downcast::<gst_app::AppSink>().expect("is an appsink");
    pipeline.set_state(gst::State::Playing).expect("the encoder starts");
    let (mut known, mut first, mut units) = (None, None, Vec::new());
    while let Ok(sample) = sink.pull_sample() {
        known = known.or_else(|| codec_of(sample.caps().expect("has caps")));
        let buffer = sample.buffer().expect("has data");
        let pts = buffer.pts().expect("has a time");
        let first = *first.get_or_insert(pts);
        units.push(Unit {
            stamp: stamp(at((pts - first).mseconds())),
            key: !buffer.flags().contains(gst::BufferFlags::DELTA_UNIT),
            data: buffer.map_readable().expect("can be read").to_vec().into(),
        });
    }
    pipeline.set_state(gst::State::Null).expect("the encoder stops");
    assert_eq!(units.len(), 100);
    (Arc::new(known.expect("is recordable")), units)
}

fn stamp(at: StreamTime) -> Stamp {
    let wall = epoch().plus(at.saturating_since(StreamTime::ZERO));
    Stamp { at, wall, clock: Clock::SenderReport, precision: Duration::from_millis(70) }
}

/// Every later picture comes so much later.
fn delayed(units: &[Unit], from: StreamTime, by: Duration) -> Vec<Unit> {
    let time = |at: StreamTime| if at >= from { at + by } else { at };
    units.iter().map(|unit| Unit { stamp: stamp(time(unit.stamp.at)), ..unit.clone() }).collect()
}

/// What a decoder that gets everything makes of it.
fn decoded(codec: &Codec, units: &[Unit]) -> BTreeMap<StreamTime, Picture> {
    let (stop, patience) = (Stop::new(), Duration::from_secs(20));
    let mut reader = Reader::open_units(codec, units, &stop, patience).expect("decodes");
    reader.play().expect("plays");
    let mut pictures = BTreeMap::new();
    while let Some(decoded) = reader.next(&stop, patience).expect("decodes") {
        pictures.insert(decoded.at, ToPicture::default().convert(&decoded.sample).expect("converts"));
    }
    pictures
}

struct Set {
    dir: TempDir,
    archive: Archive,
    registry: Registry,
}

impl Set {
    fn new(change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = Config {
            dir: dir.path().join("archive"),
            segment: Span(Duration::from_secs(3)),
            min_free: 0,
            ..Config::default()
        };
        change(&mut config);
        let registry = Registry::new();
        let metrics = Metrics::register(&registry).expect("registers");
        Self { archive: Archive::open(&config, metrics).expect("opens"), dir, registry }
    }

    /// Records everything; the last segment stays open while the feed lives.
    fn record(&self, codec: &Arc<Codec>, units: &[Unit]) -> Feed {
        let mut feed = self.archive.feed(&cam(), epoch()).expect("starts");
        for unit in units {
            feed.offer(codec, unit.clone());
        }
        feed.track().catch_up(StreamTime::MAX, Duration::from_secs(20));
        feed
    }

    fn frame(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        self.archive.recall(&cam(), epoch()).frame_at(at)
    }

    fn segments(&self) -> Vec<shelf::Segment> {
        shelf::Shelf::list(&self.archive.dir(&cam(), epoch())).expect("can be listed").segments
    }

    fn metric(&self, name: &str, label: &str) -> f64 {
        let families = self.registry.gather();
        let family = families.iter().find(|family| family.name() == name).unwrap_or_else(|| panic!("no {name}"));
        let has = |metric: &&prometheus::proto::Metric| {
            metric.get_label().iter().any(|pair| pair.value() == label) || label.is_empty()
        };
        let metric = family.get_metric().iter().find(has).unwrap_or_else(|| panic!("no {name} of {label}"));
        metric.get_counter().get_value() + metric.get_gauge().get_value()
    }
}

#[test]
fn every_picture_comes_back_as_it_was() {
    let codecs = [
        format!("x264enc key-int-max=10 bframes=2 b-adapt=false ! {AVC}"),
        format!("x264enc key-int-max=20 option-string=open-gop=1:scenecut=0 bframes=3 b-adapt=false ! {AVC}"),
        "x265enc key-int-max=10 option-string=bframes=2:b-adapt=0:log-level=error ! h265parse \
         ! video/x-h265,stream-format=hvc1,alignment=au"
            .to_owned(),
        "jpegenc ! image/jpeg".to_owned(),
    ];
    for encoder in codecs {
        let (codec, units) = encoded(&encoder);
        let whole = decoded(&codec, &units);
        assert!(whole.len() >= 98, "{encoder}: {}", whole.len());
        let set = Set::new(|_| ());
        let _open = set.record(&codec, &units);
        assert!(set.segments().len() >= 3, "{encoder}: {:?}", set.segments());
        // Each second picture keeps the test short; the borders of segments are among them.
        for (time, picture) in whole.iter().step_by(2) {
            let frame = set.frame(*time).unwrap_or_else(|error| panic!("{encoder}: {error}"));
            assert_eq!(
                (frame.at, frame.clock, frame.precision),
                (*time, Clock::SenderReport, Duration::from_millis(70))
            );
            assert_eq!(frame.wall, stamp(*time).wall);
            assert!(frame.picture == *picture, "{encoder}: another picture at {time}");
        }
        let between = set.frame(at(1234)).expect("is on display");
        assert_eq!(between.at, at(1200), "{encoder}");
    }
}

#[test]
fn gaps_have_bounds_and_codecs_may_change() {
    let (codec, units) = encoded(&format!("x264enc key-int-max=10 ! {AVC}"));
    let (other, later) = encoded("jpegenc ! image/jpeg");
    let set = Set::new(|_| ());
    drop(set.record(&codec, &delayed(&units, at(5000), Duration::from_secs(10))));
    drop(set.record(&other, &delayed(&later, at(0), Duration::from_secs(30))));
    let reason = |ms: u64| match set.frame(at(ms)) {
        Err(EvidenceError::NoFrame { reason, .. }) => reason,
        found => panic!("{ms}: {found:?}"),
    };
    assert_eq!(reason(7000), "nothing was recorded from 4.900 s to 15.000 s");
    assert_eq!(reason(25_000), "nothing was recorded from 19.900 s to 30.000 s");
    assert_eq!(reason(99_000), "nothing was recorded after 39.900 s");
    for (asked, found) in [(5000, 4900), (15_000, 15_000), (20_000, 19_900), (30_000, 30_000), (40_000, 39_900)] {
        assert_eq!(set.frame(at(asked)).expect("is on display").at, at(found));
    }
    let none = Set::new(|_| ());
    assert!(matches!(none.frame(at(0)), Err(EvidenceError::NoFrame { reason, .. }) if reason == "nothing is recorded"));
    drop(none.record(&other, &delayed(&later, at(0), Duration::from_secs(30))));
    let error = none.frame(at(29_000)).expect_err("is before");
    assert!(matches!(error, EvidenceError::NoFrame { reason, .. } if reason == "the recording begins at 30.000 s"));
}

#[test]
fn what_retention_deleted_has_expired() {
    let (codec, units) = encoded(&format!("x264enc key-int-max=10 ! {AVC}"));
    let set = Set::new(|config| config.max_bytes = 1);
    let open = set.record(&codec, &delayed(&units, at(0), Duration::from_millis(500)));
    set.archive.0.sweep();
    let left = set.segments();
    assert_eq!(left.len(), 1, "the open one stays: {left:?}");
    assert!(matches!(set.frame(at(1000)), Err(EvidenceError::Expired { .. })));
    let early = set.frame(at(400)).expect_err("was never recorded");
    assert!(matches!(&early, EvidenceError::NoFrame { .. }), "{early}");
    assert!(early.to_string().contains("began at 0.500 s"), "{early}");
    assert_eq!(set.frame(left[0].start).expect("is there").at, left[0].start);
    drop(open);
    // Once the recorder has closed it.
    let gone = until(|| {
        set.archive.0.sweep();
        set.segments().is_empty()
    });
    assert!(gone, "the last segment stays: {:?}", set.segments());
    assert!(matches!(set.frame(at(9900)), Err(EvidenceError::Expired { .. })));
    assert!(matches!(set.frame(at(99_000)), Err(EvidenceError::NoFrame { .. })));
    assert!(set.metric("gvqa_archive_deleted_total", "bytes") >= 3.0);
    assert_eq!((set.metric("gvqa_archive_segments", "cam"), set.metric("gvqa_archive_bytes", "cam")), (0.0, 0.0));
}

/// Tries for ten seconds.
fn until(mut done: impl FnMut() -> bool) -> bool {
    let stop = Stop::new();
    (0..1000).any(|_| done() || stop.pause(Duration::from_millis(10)))
}

/// A recording without a keeper, whose recorder starts when it is told to.
struct Bare {
    dir: TempDir,
    track: Arc<Track>,
    feed: Feed,
    room: Arc<AtomicBool>,
    items: Receiver<track::Item>,
}

impl Bare {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let recorded = Metrics::register(&Registry::new()).expect("registers").recorded(&cam());
        let room = Arc::new(AtomicBool::new(true));
        let track = Arc::new(Track::new(cam(), dir.path().to_owned(), recorded, Arc::clone(&room)));
        let (queue, items) = sync_channel(MAX_WAITING);
        Self { dir, feed: Feed::new(Arc::clone(&track), queue), track, room, items }
    }

    /// Lets a recorder deal with everything that waits.
    fn work(&self, recorder: &mut recorder::Recorder) {
        while let Ok(item) = self.items.try_recv() {
            recorder.deal_with(item);
        }
    }

    fn recorder(&self) -> recorder::Recorder {
        recorder::Recorder::new(Arc::clone(&self.track), Duration::from_mins(1), sync_channel(1).0)
    }

    /// Offers the `n`-th picture of an endless camera.
    fn offer(&mut self, codec: &Arc<Codec>, units: &[Unit], n: u64) {
        let unit = units[(n % 100) as usize].clone();
        self.feed.offer(codec, Unit { stamp: stamp(at(n * 100)), ..unit });
    }

    /// The times in each segment.
    fn held(&self) -> Vec<Vec<StreamTime>> {
        let segments = shelf::Shelf::list(self.dir.path()).expect("can be listed").segments;
        let times = |segment: &shelf::Segment| {
            let reading = segment::Reading::open(&segment.path).expect("can be read").expect("has a head");
            reading.entries.iter().map(|entry| entry.note.stamp.at).collect()
        };
        segments.iter().map(times).collect()
    }
}

#[test]
fn a_disk_that_hangs_loses_pictures_and_nothing_else() {
    let (codec, units) = encoded("jpegenc ! image/jpeg");
    let mut bare = Bare::new();
    let mut recorder = bare.recorder();
    // Nobody writes meanwhile.
    (0..MAX_WAITING as u64 + 50).for_each(|n| bare.offer(&codec, &units, n));
    let trouble = bare.track.trouble().expect("is told");
    assert!(trouble.contains("too slow"), "{trouble}");
    bare.work(&mut recorder);
    assert!(bare.track.trouble().is_some(), "there was nothing after the loss yet");
    bare.offer(&codec, &units, 400);
    bare.work(&mut recorder);
    assert_eq!(bare.track.trouble(), None);
    let held = bare.held();
    assert_eq!((held[0].len(), &held[1]), (MAX_WAITING, &vec![at(40_000)]), "a new segment after the loss");
}

#[test]
fn a_disk_without_room_pauses_the_recording_until_there_is_some() {
    let (codec, units) = encoded(&format!("x264enc key-int-max=10 ! {AVC}"));
    let mut bare = Bare::new();
    let mut recorder = bare.recorder();
    let record = |bare: &mut Bare, recorder: &mut recorder::Recorder, pictures: std::ops::Range<u64>| {
        pictures.for_each(|n| bare.offer(&codec, &units, n));
        bare.work(recorder);
        bare.track.trouble()
    };
    assert_eq!(record(&mut bare, &mut recorder, 0..15), None);
    bare.room.store(false, Ordering::Relaxed);
    assert_eq!(record(&mut bare, &mut recorder, 15..20), None, "the group of pictures is finished");
    let trouble = record(&mut bare, &mut recorder, 20..35).expect("is told");
    assert!(trouble.contains("archive.min_free"), "{trouble}");
    bare.room.store(true, Ordering::Relaxed);
    assert_eq!(record(&mut bare, &mut recorder, 35..50), None);
    let held = bare.held();
    assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [20, 10]);
    assert_eq!(held[1][0], at(4000), "from the next key picture on");
}

#[test]
fn a_segment_that_somebody_deleted_is_begun_anew_with_the_next_key_picture() {
    let (codec, units) = encoded(&format!("x264enc key-int-max=10 ! {AVC}"));
    let mut bare = Bare::new();
    let mut recorder = bare.recorder();
    (0..15).for_each(|n| bare.offer(&codec, &units, n));
    bare.work(&mut recorder);
    let open = &shelf::Shelf::list(bare.dir.path()).expect("can be listed").segments[0].path;
    fs::remove_file(open).expect("is there");
    (15..40).for_each(|n| bare.offer(&codec, &units, n));
    bare.work(&mut recorder);
    assert_eq!(bare.held(), [(20..40).map(|n| at(n * 100)).collect::<Vec<_>>()]);
}

#[test]
fn what_the_disk_refuses_is_told_and_tried_again() {
    let (codec, units) = encoded(&format!("x264enc key-int-max=10 ! {AVC}"));
    let set = Set::new(|_| ());
    // A file where the stream's directory should be: nothing can be written below it, also by root.
    let place = set.archive.dir(&cam(), epoch());
    fs::create_dir_all(&set.archive.0.config.dir).expect("is made");
    fs::write(place.parent().expect("has a parent"), "").expect("is written");
    let feed = set.record(&codec, &units);
    assert!(until(|| feed.track().trouble().is_some_and(|text| text.contains("is interrupted"))));
    drop(feed);
    fs::remove_file(place.parent().expect("has a parent")).expect("is removed");
    let feed = set.record(&codec, &delayed(&units, at(0), Duration::from_secs(20)));
    assert_eq!((feed.track().trouble(), set.frame(at(21_000)).expect("is recorded").at), (None, at(21_000)));
    assert!(set.metric("gvqa_archive_lost_total", "disk") >= 100.0);
    let dir = set.dir.path().join("archive");
    assert!(dir.is_dir());
}

#[test]
fn a_damaged_or_foreign_file_harms_nothing_else() {
    let (codec, units) = encoded(&format!("x264enc key-int-max=10 ! {AVC}"));
    let set = Set::new(|_| ());
    drop(set.record(&codec, &units));
    let segments = set.segments();
    let path = &segments[1].path;
    let mut bytes = fs::read(path).expect("is there");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0x55);
    fs::write(path, bytes).expect("is damaged");
    fs::write(path.with_file_name("00000000000000000000_x.mkv"), "not Matroska").expect("is written");
    assert!(
        set.frame(at(0)).is_err_and(|error| matches!(error, EvidenceError::NoFrame { .. })) || set.frame(at(0)).is_ok()
    );
    let last = segments.last().expect("has segments").start;
    assert_eq!(set.frame(last).expect("is whole").at, last);
    let outcomes: Vec<_> = (0..100).map(|n| set.frame(at(n * 100))).collect();
    assert!(outcomes.iter().any(Result::is_err), "the damage was not met");
    for (n, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(frame) => assert!(frame.at <= at(n as u64 * 100)),
            Err(EvidenceError::Decode { .. } | EvidenceError::NoFrame { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn another_memory_sees_nothing_of_the_old_recordings() {
    let (codec, units) = encoded("jpegenc ! image/jpeg");
    let set = Set::new(|_| ());
    drop(set.record(&codec, &units));
    let other = set.archive.recall(&cam(), epoch().plus(Duration::from_secs(5)));
    assert!(matches!(other.frame_at(at(1000)), Err(EvidenceError::NoFrame { .. })));
    assert_eq!(other.kind(), crate::domain::StreamKind::Live);
}
