//! From an address to a pipeline in `Null`: which elements, with which properties, linked how.
//!
//! Addresses, paths and credentials are set as properties; no text of a user is ever parsed as a pipeline. Only video is
//! decoded; everything else ends in a fakesink, undecoded. The recording archive will tee off between parser and
//! decoder of [`rtsp`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::address::{Address, Pattern};
use super::clock::LiveClock;
use super::fault::{Fault, make};
use super::pipeline::{NO_VIDEO, Pipeline, Plugged};
use super::stream::{Protocol, StreamConfig};
use crate::domain::{StreamKind, StreamTime, WallTime};

/// Milliseconds that rtspsrc waits for packets that are out of order.
const RTSP_LATENCY_MS: u32 = 200;
/// Marks the arrival time on a buffer; see [`arrival`].
const ARRIVAL_CAPS: &str = "timestamp/x-gvqa-stream-time";

/// Builds the pipeline of a stream. Live pictures are stamped with the stream time of their arrival, counted from `epoch`.
pub(super) fn build(config: &StreamConfig, epoch: WallTime) -> Result<Pipeline, Fault> {
    let pipeline = gst::Pipeline::new();
    let live = config.kind() == StreamKind::Live;
    let sink = picture_sink(live);
    add(&pipeline, [sink.upcast_ref()])?;
    let plugged = Plugged::default();
    if live {
        stamp_arrivals(&sink, LiveClock::new(epoch, WallTime::now()));
    } else {
        remember_plugged(&pipeline, &plugged);
    }
    let ends = Ends { pipeline: pipeline.downgrade(), sink: sink.downgrade() };
    match &config.address {
        Address::File(path) => {
            let source = make("filesrc")?;
            source.set_property("location", path);
            decode(&pipeline, &source, ends)?;
        }
        Address::Device(path) => {
            let source = make("v4l2src")?;
            source.set_property("device", path.display().to_string());
            decode(&pipeline, &source, ends)?;
        }
        Address::Rtsp(location) => rtsp(&pipeline, location, config, ends)?,
        Address::Http(location) => http(&pipeline, location, config, ends)?,
        Address::Test(pattern) => test_pattern(&pipeline, pattern, &sink)?,
    }
    Pipeline::new(pipeline, sink, plugged)
}

/// The stream time at which a live picture arrived.
pub(super) fn arrival(buffer: &gst::BufferRef) -> Option<StreamTime> {
    buffer
        .iter_meta::<gst::ReferenceTimestampMeta>()
        .find(|meta| meta.reference().structure(0).is_some_and(|s| s.name() == ARRIVAL_CAPS))
        .map(|meta| StreamTime::from_nanos(meta.timestamp().nseconds()))
}

/// What callbacks need of the pipeline, without keeping it alive.
#[derive(Clone)]
struct Ends {
    pipeline: glib::WeakRef<gst::Pipeline>,
    sink: glib::WeakRef<gst_app::AppSink>,
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

fn stamp_arrivals(sink: &gst_app::AppSink, clock: LiveClock) {
    let (clock, opened) = (Mutex::new(clock), Instant::now());
    let caps = gst::Caps::new_empty_simple(ARRIVAL_CAPS);
    let Some(pad) = sink.static_pad("sink") else { return };
    pad.add_probe(gst::PadProbeType::BUFFER, move |_, info| {
        if let Some(buffer) = info.buffer_mut() {
            let mut clock = clock.lock().unwrap_or_else(PoisonError::into_inner);
            let at = clock.stamp(WallTime::now(), opened.elapsed());
            let time = gst::ClockTime::from_nseconds(at.nanos());
            gst::ReferenceTimestampMeta::add(buffer.make_mut(), &caps, time, gst::ClockTime::NONE);
        }
        gst::PadProbeReturn::Ok
    });
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

/// `rtspsrc ! depayloader ! parser ! decodebin`, video to the sink. Other media are not even set up.
fn rtsp(pipeline: &gst::Pipeline, location: &str, config: &StreamConfig, ends: Ends) -> Result<(), Fault> {
    let source = make("rtspsrc")?;
    source.set_property("location", location);
    source.set_property("latency", RTSP_LATENCY_MS);
    source.set_property_from_str("protocols", protocols(config.protocol));
    log_in(&source, config, "user-id", "user-pw")?;
    source.connect("select-stream", false, |arguments| {
        let caps = arguments.get(2).and_then(|value| value.get::<gst::Caps>().ok());
        Some(caps.is_some_and(|caps| rtp_field(&caps, "media").as_deref() == Some("video")).to_value())
    });
    add(pipeline, [&source])?;
    let no_more = ends.clone();
    source.connect_pad_added(move |_, pad| {
        if let Err(fault) = take_rtp(&ends, pad) {
            refuse(&ends, &fault.reason());
        }
    });
    source.connect_no_more_pads(move |source| {
        // The decoder behind a pad is linked later; without a pad there is nothing to wait for.
        if source.src_pads().is_empty() {
            expect_video(&no_more);
        }
    });
    Ok(())
}

fn protocols(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    }
}

fn rtp_field(caps: &gst::Caps, field: &str) -> Option<String> {
    caps.structure(0)?.get::<String>(field).ok()
}

/// Runs in the streaming thread: plugs what turns RTP packets into pictures.
fn take_rtp(ends: &Ends, pad: &gst::Pad) -> Result<(), Fault> {
    let Some(pipeline) = ends.pipeline.upgrade() else { return Ok(()) };
    let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
    let encoding = rtp_field(&caps, "encoding-name").unwrap_or_default();
    let mut chain = match encoding.as_str() {
        "H264" => vec![make("rtph264depay")?, make("h264parse")?],
        "H265" => vec![make("rtph265depay")?, make("h265parse")?],
        "JPEG" => vec![make("rtpjpegdepay")?],
        // decodebin knows the rest.
        _ => Vec::new(),
    };
    chain.push(decoder("decodebin", ends.clone())?);
    add(&pipeline, &chain)?;
    for pair in chain.windows(2) {
        link(&pair[0], &pair[1])?;
    }
    let entry = chain[0].static_pad("sink").ok_or_else(|| Fault::Undecodable("no entry".to_owned()))?;
    pad.link(&entry).map_err(|error| Fault::Undecodable(format!("{encoding}: {error}")))?;
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

/// `uridecodebin`, video to the sink.
fn http(pipeline: &gst::Pipeline, location: &str, config: &StreamConfig, ends: Ends) -> Result<(), Fault> {
    let decoder = decoder("uridecodebin", ends)?;
    decoder.set_property("uri", location);
    let login = config.credentials().map_err(Fault::Access)?;
    decoder.connect("source-setup", false, move |arguments| {
        let source = arguments.get(1).and_then(|value| value.get::<gst::Element>().ok())?;
        let (user, password) = login.as_ref()?;
        if source.find_property("user-id").is_some() && source.find_property("user-pw").is_some() {
            source.set_property("user-id", user);
            source.set_property("user-pw", password.expose());
        }
        None
    });
    add(pipeline, [&decoder])
}

fn log_in(source: &gst::Element, config: &StreamConfig, user: &str, password: &str) -> Result<(), Fault> {
    if let Some((name, secret)) = config.credentials().map_err(Fault::Access)? {
        source.set_property(user, name);
        source.set_property(password, secret.expose());
    }
    Ok(())
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
