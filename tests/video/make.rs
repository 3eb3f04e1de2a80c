//! Clips that no package carries, made by GStreamer the same way every time, and short cuts to the code under test.
#![allow(dead_code, reason = "two test binaries use different parts")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use groundedvqa::domain::{Frame, StreamId, StreamTime, WallTime};
use groundedvqa::seams::Origin;
use groundedvqa::seams::{EvidenceSource, FrameSource, SourceError};
use groundedvqa::stop::Stop;
use groundedvqa::video::{self, StreamConfig, Video};
use gstreamer as gst;
use gstreamer::prelude::*;
use prometheus::Registry;

/// Ten seconds of a moving ball, as a launch fragment; the codec follows.
const BALL: &str =
    "videotestsrc num-buffers=100 pattern=ball ! video/x-raw,format=I420,framerate=10/1,width=320,height=240";

/// Runs `launch`, in which `OUT` stands for the path, to its end.
pub(crate) fn clip(path: &Path, launch: &str) -> PathBuf {
    retimed(path, launch, Some)
}

/// Like [`clip`]; `retime` gives each picture that passes the element `identity name=retime` a new time in milliseconds,
/// or leaves it out.
pub(crate) fn retimed(path: &Path, launch: &str, retime: fn(u64) -> Option<u64>) -> PathBuf {
    video::init().expect("GStreamer starts");
    let launch = launch.replace("BALL", BALL).replace("OUT", &format!("\"{}\"", path.display()));
    let pipeline = gst::parse::launch(&launch).expect("the encoder is installed: run `make setup`");
    if let Some(element) = pipeline.downcast_ref::<gst::Bin>().and_then(|bin| bin.by_name("retime")) {
        let pad = element.static_pad("src").expect("identity has one");
        pad.add_probe(gst::PadProbeType::BUFFER, move |_, info| {
            let buffer = info.buffer_mut().expect("a buffer passes").make_mut();
            let Some(millis) = retime(buffer.pts().expect("has a time").mseconds()) else {
                return gst::PadProbeReturn::Drop;
            };
            buffer.set_pts(gst::ClockTime::from_mseconds(millis));
            buffer.set_duration(gst::ClockTime::NONE);
            gst::PadProbeReturn::Ok
        });
    }
    pipeline.set_state(gst::State::Playing).expect("the encoder starts");
    let bus = pipeline.bus().expect("a pipeline has a bus");
    let message = bus
        .timed_pop_filtered(gst::ClockTime::from_seconds(60), &[gst::MessageType::Eos, gst::MessageType::Error])
        .expect("encoding ends within a minute");
    pipeline.set_state(gst::State::Null).expect("the encoder stops");
    if let gst::MessageView::Error(error) = message.view() {
        panic!("{launch}: {} {:?}", error.error(), error.debug());
    }
    path.to_path_buf()
}

/// The first `share` of a file.
pub(crate) fn cut(from: &Path, to: &Path, share: f64) -> PathBuf {
    let bytes = std::fs::read(from).expect("the whole file is there");
    let keep = (bytes.len() as f64 * share) as usize;
    std::fs::write(to, &bytes[..keep]).expect("the part is written");
    to.to_path_buf()
}

pub(crate) fn stream() -> StreamId {
    StreamId::new("cam").expect("is a token")
}

pub(crate) fn epoch() -> WallTime {
    WallTime::from_nanos(1_790_000_000_000_000_000).expect("in range")
}

pub(crate) fn origin(every: Duration, after: Option<StreamTime>) -> Origin {
    Origin { epoch: epoch(), after, sample_every: every }
}

pub(crate) fn config(path: &Path) -> StreamConfig {
    StreamConfig::new(path.to_str().expect("is UTF-8")).expect("is a path")
}

pub(crate) fn open(
    config: &StreamConfig,
    every: Duration,
    after: Option<StreamTime>,
) -> Result<Box<dyn FrameSource>, SourceError> {
    video::init().expect("GStreamer starts");
    video::open(&stream(), config, origin(every, after), &Stop::new())
}

pub(crate) fn evidence(config: &StreamConfig) -> Box<dyn EvidenceSource> {
    video::init().expect("GStreamer starts");
    video::evidence(&stream(), config, epoch())
}

/// An archive in `dir` with short segments; `more` is added to its section.
pub(crate) fn video(dir: &Path, more: &str) -> (Video, Registry) {
    let text = format!("dir = {:?}\nsegment = \"1s\"\nmin_free = 0\n{more}", dir.join("archive"));
    let registry = Registry::new();
    let video = Video::start(&toml::from_str(&text).expect("is a section"), &registry).expect("the archive opens");
    (video, registry)
}

/// A counter or gauge with a label of that value.
pub(crate) fn metric(registry: &Registry, name: &str, label: &str) -> f64 {
    let families = registry.gather();
    let of_name =
        families.iter().filter(|family| family.name() == name).flat_map(prometheus::proto::MetricFamily::get_metric);
    let has_label = |metric: &&prometheus::proto::Metric| metric.get_label().iter().any(|pair| pair.value() == label);
    let metric = of_name.into_iter().find(has_label).unwrap_or_else(|| panic!("no {name} of {label}"));
    metric.get_counter().get_value() + metric.get_gauge().get_value()
}

/// Every sampled frame to the end.
pub(crate) fn sample(config: &StreamConfig, every: Duration, after: Option<StreamTime>) -> Vec<Frame> {
    let mut source = open(config, every, after).expect("the source opens");
    std::iter::from_fn(|| source.next_frame().expect("the next frame decodes")).collect()
}

/// Times in milliseconds, for messages that can be read.
pub(crate) fn millis(frames: &[Frame]) -> Vec<u64> {
    frames.iter().map(|frame| frame.at.nanos() / 1_000_000).collect()
}

pub(crate) fn at(seconds: f64) -> StreamTime {
    StreamTime::from_seconds(seconds).expect("is a time")
}
