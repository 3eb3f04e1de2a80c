//! What comes over HTTP: HLS, MJPEG, and files played as a camera would be.

use gstreamer as gst;
use gstreamer::prelude::*;

use super::super::fault::{Fault, make};
use super::super::stream::StreamConfig;
use super::{Ends, add, discard, expect_video, parsers, plug_behind, refuse};
use crate::secret::Secret;

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
        if let Some(pad) = source.static_pad("src") {
            lend(&pad, user.clone(), password.clone());
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

/// Gives the login to demuxers that fetch the pieces of a stream by themselves (HLS, 1.22): they have no property for it,
/// and take it from the address that they ask their source for. It goes to the server of that address alone.
fn lend(pad: &gst::Pad, user: String, password: Secret) {
    // Called once the source has answered.
    pad.add_probe(gst::PadProbeType::QUERY_UPSTREAM | gst::PadProbeType::PULL, move |_, info| {
        if let Some(gst::QueryViewMut::Uri(query)) = info.query_mut().map(gst::QueryRef::view_mut)
            && let Some(uri) = query.uri()
            && let Some(with) = with_login(&uri, &user, &password)
        {
            query.set_uri(with.expose());
        }
        gst::PadProbeReturn::Ok
    });
}

/// An address with its login in it; `None` if it is none, or has one already.
fn with_login(uri: &str, user: &str, password: &Secret) -> Option<Secret> {
    let (scheme, rest) = uri.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let login = format!("{}:{}", escaped(user), escaped(password.expose()));
    (!authority.contains('@')).then(|| Secret::new(format!("{scheme}://{login}@{rest}")))
}

/// Everything but letters and digits as percent escapes.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_put_in_front_of_the_host_and_nowhere_else() {
        let with = |uri: &str| with_login(uri, "cam", &Secret::new("p@ss/w:rd")).map(|uri| uri.expose().to_owned());
        assert_eq!(with("http://h:80/a.m3u8?x=@").as_deref(), Some("http://cam:p%40ss%2Fw%3Ard@h:80/a.m3u8?x=@"));
        assert_eq!(with("https://h").as_deref(), Some("https://cam:p%40ss%2Fw%3Ard@h"));
        assert_eq!((with("http://u:p@h/a"), with("a.m3u8")), (None, None));
    }
}
