//! Cameras: RTSP over TCP, UDP or TLS.

use gstreamer as gst;
use gstreamer::prelude::*;

use super::super::fault::{Fault, make};
use super::super::stream::{Protocol, StreamConfig};
use super::{Ends, add, discard, expect_video, parsers, plug_behind, refuse};

/// Milliseconds that rtspsrc waits for packets that are out of order.
const LATENCY_MS: u32 = 200;

/// `rtspsrc ! depayloader ! parser ! decodebin`, video to the sink. Other media are not even set up.
pub(super) fn plug(pipeline: &gst::Pipeline, location: &str, config: &StreamConfig, ends: Ends) -> Result<(), Fault> {
    let source = make("rtspsrc")?;
    source.set_property("location", location);
    source.set_property("latency", LATENCY_MS);
    source.set_property("add-reference-timestamp-meta", true);
    source.set_property_from_str("protocols", protocols(config.protocol));
    if !config.tls_verify {
        source.set_property_from_str("tls-validation-flags", "0");
    }
    if let Some((user, password)) = config.credentials().map_err(Fault::Access)? {
        source.set_property("user-id", user);
        source.set_property("user-pw", password.expose());
    }
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
    if !ends.take() {
        return ends.pipeline.upgrade().map_or(Ok(()), |pipeline| discard(&pipeline, pad));
    }
    let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
    let encoding = rtp_field(&caps, "encoding-name").unwrap_or_default();
    let mut chain = match encoding.as_str() {
        "H264" => vec![make("rtph264depay")?],
        "H265" => vec![make("rtph265depay")?],
        "JPEG" => vec![make("rtpjpegdepay")?],
        // decodebin knows the rest; it is not recorded.
        _ => Vec::new(),
    };
    chain.extend(parsers(match encoding.as_str() {
        "H264" => "video/x-h264",
        "H265" => "video/x-h265",
        _ => "",
    })?);
    plug_behind(ends, pad, chain).map_err(|fault| Fault::Undecodable(format!("{encoding}: {}", fault.reason())))
}
