//! From an address to a pipeline in `Null`: which elements, with which properties, linked how.
//!
//! Addresses, paths and credentials are set as properties; no text of a user is parsed as a pipeline unless the
//! configuration says so. Only video is decoded; everything else ends in a fakesink, undecoded. Encoded live pictures
//! pass a [`Tap`] between parser and decoder, where they are stamped, recorded, and let through.
//!
//! decodebin takes the decoder with the highest rank of those that are there and can: a hardware decoder, where its
//! driver is (`GST_PLUGIN_FEATURE_RANK` overrides the ranks).

mod replay;
mod rtsp;
mod web;

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::address::{Address, Pattern};
use super::fault::{Fault, make};
use super::pipeline::{NO_VIDEO, Pipeline, Plugged};
use super::stream::StreamConfig;
use super::tap::Tap;

pub(super) use replay::{build_replay, feed};

/// Builds the pipeline of a stream; a live one has a tap.
pub(super) fn build(config: &StreamConfig, tap: Option<&Tap>) -> Result<Pipeline, Fault> {
    let pipeline = gst::Pipeline::new();
    let sink = picture_sink(tap.is_some());
    add(&pipeline, [sink.upcast_ref()])?;
    let plugged = Plugged::default();
    match (tap, sink.static_pad("sink")) {
        (Some(tap), Some(pad)) => tap.pictures(&pad),
        _ => remember_plugged(&pipeline, &plugged),
    }
    let ends = Ends::new(&pipeline, &sink, tap);
    match &config.address {
        Address::File(path) => {
            let source = make("filesrc")?;
            source.set_property("location", path);
            decode(&pipeline, &source, ends)?;
        }
        Address::Device(path) => {
            check_device(path)?;
            let source = make("v4l2src")?;
            source.set_property("device", path.display().to_string());
            decode(&pipeline, &source, ends)?;
        }
        Address::Rtsp(location) => rtsp::plug(&pipeline, location, config, ends)?,
        Address::Http(location) => web::plug(&pipeline, location, config, ends)?,
        Address::Launch(description) => {
            let bin = gst::parse::bin_from_description(description.expose(), true)
                .map_err(|error| Fault::Undecodable(format!("the launch fragment cannot be built: {error}")))?;
            decode(&pipeline, bin.upcast_ref(), ends)?;
        }
        Address::Test(pattern) => test_pattern(&pipeline, pattern, &sink)?,
    }
    Pipeline::new(pipeline, sink, plugged)
}

/// What callbacks need of the pipeline, without keeping it alive.
#[derive(Clone)]
struct Ends {
    pipeline: glib::WeakRef<gst::Pipeline>,
    sink: glib::WeakRef<gst_app::AppSink>,
    tap: Option<Tap>,
    /// Whether a pad was taken for the video of the stream.
    taken: Arc<AtomicBool>,
}

impl Ends {
    fn new(pipeline: &gst::Pipeline, sink: &gst_app::AppSink, tap: Option<&Tap>) -> Self {
        Self { pipeline: pipeline.downgrade(), sink: sink.downgrade(), tap: tap.cloned(), taken: Arc::default() }
    }

    /// Whether nothing was taken yet; then it is now.
    fn take(&self) -> bool {
        !self.taken.swap(true, Ordering::Relaxed)
    }
}

/// Says what is missing before the element says it less clearly.
fn check_device(path: &Path) -> Result<(), Fault> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.file_type().is_char_device() => Ok(()),
        Ok(_) => Err(Fault::Access(format!("{shown} is not a capture device"))),
        Err(error) => Err(Fault::Access(format!("there is no capture device {shown} ({error}): is it connected?"))),
    }
}

/// Live: the newest picture only. File: two, and the decoder waits.
fn picture_sink(live: bool) -> gst_app::AppSink {
    let sink = gst_app::AppSink::builder()
        .caps(&gst::Caps::new_empty_simple("video/x-raw"))
        .max_buffers(if live { 1 } else { 2 })
        .drop(live)
        .sync(false)
        .qos(false)
        .enable_last_sample(false)
        .build();
    sink.set_property("wait-on-eos", false);
    sink
}

fn remember_plugged(pipeline: &gst::Pipeline, plugged: &Plugged) {
    let plugged = Arc::clone(plugged);
    pipeline.connect_deep_element_added(move |_, _, element| {
        plugged.lock().unwrap_or_else(PoisonError::into_inner).push(element.downgrade());
    });
}

fn add<'a>(pipeline: &gst::Pipeline, elements: impl IntoIterator<Item = &'a gst::Element>) -> Result<(), Fault> {
    for element in elements {
        pipeline.add(element).map_err(|error| Fault::Access(format!("the pipeline cannot be built: {error}")))?;
    }
    Ok(())
}

fn link(from: &gst::Element, to: &gst::Element) -> Result<(), Fault> {
    from.link(to).map_err(|error| Fault::Undecodable(error.to_string()))
}

/// `source ! decodebin`, video to the sink.
fn decode(pipeline: &gst::Pipeline, source: &gst::Element, ends: Ends) -> Result<(), Fault> {
    let decoder = decoder("decodebin", ends)?;
    add(pipeline, [source, &decoder])?;
    link(source, &decoder)
}

/// A decodebin or uridecodebin that leaves sound undecoded and hands its pads to [`take_pad`].
fn decoder(factory: &'static str, ends: Ends) -> Result<gst::Element, Fault> {
    let decoder = make(factory)?;
    decoder.connect("autoplug-continue", false, |arguments| {
        let caps = arguments.get(2).and_then(|value| value.get::<gst::Caps>().ok());
        let sound = caps.is_some_and(|caps| caps.structure(0).is_some_and(|s| s.name().starts_with("audio/")));
        Some((!sound).to_value())
    });
    let no_more = ends.clone();
    decoder.connect_pad_added(move |_, pad| take_pad(&ends, pad));
    decoder.connect_no_more_pads(move |_| expect_video(&no_more));
    Ok(decoder)
}

/// Links the first video pad to the sink and every other to a fakesink.
fn take_pad(ends: &Ends, pad: &gst::Pad) {
    let (Some(pipeline), Some(sink)) = (ends.pipeline.upgrade(), ends.sink.upgrade()) else { return };
    let Some(entry) = sink.static_pad("sink") else { return };
    let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
    let video = caps.structure(0).is_some_and(|s| s.name() == "video/x-raw");
    if video && !entry.is_linked() && pad.link(&entry).is_ok() {
        return;
    }
    if let Err(fault) = discard(&pipeline, pad) {
        tracing::debug!(reason = fault.reason(), "a stream beside the video cannot be discarded");
    }
}

fn discard(pipeline: &gst::Pipeline, pad: &gst::Pad) -> Result<(), Fault> {
    let fakesink = make("fakesink")?;
    // Outside the preroll, so that a sound stream of one packet cannot hold up the video.
    fakesink.set_property("async", false);
    add(pipeline, [&fakesink])?;
    let failed = |error: &dyn std::fmt::Display| Fault::Undecodable(error.to_string());
    fakesink.sync_state_with_parent().map_err(|error| failed(&error))?;
    let entry = fakesink.static_pad("sink").ok_or_else(|| failed(&"fakesink has no pad"))?;
    pad.link(&entry).map_err(|error| failed(&error))?;
    Ok(())
}

/// Tells the owner if every pad has come and none was video.
fn expect_video(ends: &Ends) {
    let (Some(pipeline), Some(sink)) = (ends.pipeline.upgrade(), ends.sink.upgrade()) else { return };
    if sink.static_pad("sink").is_some_and(|entry| !entry.is_linked()) {
        let note = gst::message::Application::new(gst::Structure::new_empty(NO_VIDEO));
        // A bus that is being flushed belongs to a pipeline that is being taken down.
        let _ = pipeline.post_message(note);
    }
}

/// What turns encoded pictures into whole ones with their lengths, as files keep them; nothing for what needs no parser.
fn parsers(caps_name: &str) -> Result<Vec<gst::Element>, Fault> {
    Ok(match caps_name {
        "video/x-h264" => vec![make("h264parse")?, units(caps_name, "avc")?],
        "video/x-h265" => vec![make("h265parse")?, units(caps_name, "hvc1")?],
        // Finds the size, which HTTP does not tell.
        "image/jpeg" => vec![make("jpegparse")?],
        _ => Vec::new(),
    })
}

fn units(name: &str, format: &str) -> Result<gst::Element, Fault> {
    let filter = make("capsfilter")?;
    let caps = gst::Caps::builder(name).field("stream-format", format).field("alignment", "au").build();
    filter.set_property("caps", &caps);
    Ok(filter)
}

/// Runs in the streaming thread: plugs `chain` and a decoder behind `pad`. What leaves the chain passes the tap.
fn plug_behind(ends: &Ends, pad: &gst::Pad, mut chain: Vec<gst::Element>) -> Result<(), Fault> {
    let Some(pipeline) = ends.pipeline.upgrade() else { return Ok(()) };
    if let (Some(tap), Some(pad)) = (&ends.tap, chain.last().and_then(|last| last.static_pad("src"))) {
        tap.encoded(&pad);
    }
    chain.push(decoder("decodebin", ends.clone())?);
    add(&pipeline, &chain)?;
    for pair in chain.windows(2) {
        link(&pair[0], &pair[1])?;
    }
    let entry = chain[0].static_pad("sink").ok_or_else(|| Fault::Undecodable("no entry".to_owned()))?;
    pad.link(&entry).map_err(|error| Fault::Undecodable(error.to_string()))?;
    // From the sink upwards, so that no element hands on to one that still sleeps.
    for element in chain.iter().rev() {
        element.sync_state_with_parent().map_err(|error| Fault::Undecodable(error.to_string()))?;
    }
    Ok(())
}

/// Tells the owner why a source cannot be used.
fn refuse(ends: &Ends, reason: &str) {
    if let Some(pipeline) = ends.pipeline.upgrade() {
        let message = gst::message::Error::builder(gst::CoreError::Pad, reason).src(&pipeline).build();
        let _ = pipeline.post_message(message);
    }
}

/// `videotestsrc ! capsfilter`, the same pictures at every run if it has an end.
fn test_pattern(pipeline: &gst::Pipeline, pattern: &Pattern, sink: &gst_app::AppSink) -> Result<(), Fault> {
    let source = make("videotestsrc")?;
    source.set_property_from_str("pattern", &pattern.name);
    match pattern.frames {
        Some(frames) => source.set_property("num-buffers", frames as i32),
        None => source.set_property("is-live", true),
    }
    let filter = make("capsfilter")?;
    let caps = gst::Caps::builder("video/x-raw")
        .field("format", "I420")
        .field("width", pattern.width as i32)
        .field("height", pattern.height as i32)
        .field("framerate", gst::Fraction::new(pattern.fps as i32, 1))
        .build();
    filter.set_property("caps", &caps);
    add(pipeline, [&source, &filter])?;
    link(&source, &filter)?;
    link(&filter, sink.upcast_ref())
}
