//! What comes over HTTP: HLS, MJPEG, and files played as a camera would be.

use gstreamer as gst;
use gstreamer::prelude::*;

use super::super::fault::{Fault, make};
use super::super::stream::StreamConfig;
use super::{Ends, add, discard, expect_video, parsers, plug_behind, refuse};

/// `urisourcebin ! parsebin ! clocksync ! decodebin`, video to the sink.
///
/// A server gives what it has as fast as it can; clocksync lets each picture pass at its own pace, as a camera would send
/// it, so that arrival tells its time.
pub(super) fn plug(pipeline: &gst::Pipeline, location: &str, config: &StreamConfig, ends: Ends) -> Result<(), Fault> {
    let source = make("urisourcebin")?;
    source.set_property("uri", location);
    let (login, verify) = (config.credentials().map_err(Fault::Access)?, config.tls_verify);
    source.connect("source-setup", false, move |arguments| {
        let source = arguments.get(1).and_then(|value| value.get::<gst::Element>().ok())?;
        if source.find_property("ssl-strict").is_some() {
            source.set_property("ssl-strict", verify);
        }
        let (user, password) = login.as_ref()?;
        if source.find_property("user-id").is_some() && source.find_property("user-pw").is_some() {
            source.set_property("user-id", user);
            source.set_property("user-pw", password.expose());
        }
        None
    });
    add(pipeline, [&source])?;
    source.connect_pad_added(move |_, pad| {
        if let Err(fault) = take_source(&ends, pad) {
            refuse(&ends, &fault.reason());
        }
    });
    Ok(())
}

/// Runs in the streaming thread: plugs what takes the source apart.
fn take_source(ends: &Ends, pad: &gst::Pad) -> Result<(), Fault> {
    let Some(pipeline) = ends.pipeline.upgrade() else { return Ok(()) };
    let parser = make("parsebin")?;
    let (taker, no_more) = (ends.clone(), ends.clone());
    parser.connect_pad_added(move |_, pad| {
        if let Err(fault) = take_parsed(&taker, pad) {
            refuse(&taker, &fault.reason());
        }
    });
    parser.connect_no_more_pads(move |_| {
        // The decoder behind a pad that was taken is linked later.
        if no_more.take() {
            expect_video(&no_more);
        }
    });
    add(&pipeline, [&parser])?;
    let failed = |error: &dyn std::fmt::Display| Fault::Undecodable(error.to_string());
    parser.sync_state_with_parent().map_err(|error| failed(&error))?;
    let entry = parser.static_pad("sink").ok_or_else(|| failed(&"parsebin has no pad"))?;
    pad.link(&entry).map(|_| ()).map_err(|error| failed(&error))
}

/// Runs in the streaming thread: plugs what paces and decodes the first video.
fn take_parsed(ends: &Ends, pad: &gst::Pad) -> Result<(), Fault> {
    let Some(pipeline) = ends.pipeline.upgrade() else { return Ok(()) };
    let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
    let name = caps.structure(0).map(|s| s.name().to_string()).unwrap_or_default();
    if !(name.starts_with("video/") || name.starts_with("image/")) || !ends.take() {
        return discard(&pipeline, pad);
    }
    let mut chain = parsers(&name)?;
    chain.push(make("clocksync")?);
    plug_behind(ends, pad, chain)
}
