//! What GStreamer complains about, as something to act on. Every foreign text is scrubbed of credentials here.

use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;

use super::plain::words;
use crate::domain::StreamId;
use crate::seams::SourceError;
use crate::secret::scrub;

/// What went wrong, before it is known whether a stream or a question suffers from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The end was asked for.
    Stopped,
    /// Not there, not reachable, not readable, broken off: another try may help.
    Access(String),
    /// Wrong user name or password.
    Unauthorized(String),
    /// There, but not video that can be decoded here.
    Undecodable(String),
    /// What came is not what was expected. For good in a file; a live source may send better next time.
    Damaged(String),
    /// Nothing came for so long.
    Silent(Duration),
}

impl Fault {
    /// The fault of a source that is being opened.
    pub(super) fn into_source_error(self, stream: &StreamId) -> SourceError {
        let stream = stream.clone();
        match self {
            Self::Stopped => SourceError::Stopped,
            Self::Access(reason) => SourceError::Open { stream, reason },
            Self::Unauthorized(reason) => SourceError::Unauthorized { stream, reason },
            Self::Undecodable(reason) | Self::Damaged(reason) => SourceError::Unusable { stream, reason },
            Self::Silent(after) => SourceError::Stalled { stream, after },
        }
    }

    /// The same fault when the source is live.
    pub(super) fn of_live(self) -> Self {
        match self {
            Self::Damaged(reason) => Self::Access(reason),
            other => other,
        }
    }

    /// What happened, for a message.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Stopped => "stopped".to_owned(),
            Self::Access(reason) | Self::Unauthorized(reason) | Self::Undecodable(reason) | Self::Damaged(reason) => {
                reason
            }
            Self::Silent(after) => format!("no picture came within {} s", after.as_secs_f32()),
        }
    }
}

/// The fault behind an error message on the bus. `missing` names plug-ins that were missed before it.
pub(super) fn of_error(message: &gst::message::Error, missing: &[String]) -> Fault {
    let error = message.error();
    let debug = message.debug().map(|text| text.to_string()).unwrap_or_default();
    // Without the number that grows with each attempt: the same trouble reads the same.
    let element = message.src().map(|source| source.name().to_string()).unwrap_or_default();
    let element = element.trim_end_matches(|c: char| c.is_ascii_digit());
    let reason = describe(error.message(), &debug, element);
    if !missing.is_empty() {
        return Fault::Undecodable(missing_text(missing));
    }
    if let Some(kind) = error.kind::<gst::ResourceError>() {
        let refused = kind == gst::ResourceError::NotAuthorized || debug.contains("(401)") || debug.contains("(403)");
        return if refused { Fault::Unauthorized(reason) } else { Fault::Access(reason) };
    }
    match error.kind::<gst::StreamError>() {
        // `Failed` is the echo of somebody else's trouble, often the network's.
        Some(gst::StreamError::Failed) => Fault::Access(reason),
        Some(gst::StreamError::CodecNotFound) | None => Fault::Undecodable(reason),
        Some(_) => Fault::Damaged(reason),
    }
}

/// One line: what it means, or what the element said, its detail, and its name.
fn describe(message: &str, debug: &str, element: &str) -> String {
    // The first line of the detail is a place in GStreamer's source code.
    let detail = debug.lines().skip(1).collect::<Vec<_>>().join(" ");
    let detail = detail.trim();
    let message = message.trim().trim_end_matches('.');
    let text = if detail.is_empty() { message.to_owned() } else { format!("{message}: {detail}") };
    let said = scrub(&format!("{text} ({element})"));
    match words(&said) {
        Some(words) => {
            tracing::debug!(said, "trouble with a source, as GStreamer tells it");
            words.to_owned()
        }
        None => said,
    }
}

/// What to install for plug-ins that were missed.
pub(super) fn missing_text(missing: &[String]) -> String {
    format!(
        "nothing here decodes {}: install the Debian packages gstreamer1.0-libav, gstreamer1.0-plugins-good, \
         gstreamer1.0-plugins-bad and gstreamer1.0-plugins-ugly, or convert it",
        missing.join(" and ")
    )
}

/// The name in a "missing-plugin" message, if it is one.
pub(super) fn missing_name(structure: &gst::StructureRef) -> Option<String> {
    if structure.name() != "missing-plugin" {
        return None;
    }
    let name = structure.get::<String>("name").ok();
    let detail = structure.get::<String>("detail").ok();
    let detail = detail.or_else(|| structure.get::<gst::Caps>("detail").ok().map(|caps| caps.to_string()));
    match (name, detail) {
        (Some(name), Some(detail)) => Some(format!("{name} ({detail})")),
        (name, detail) => name.or(detail),
    }
}

/// An element of GStreamer, or which Debian package to install for it.
pub(super) fn make(factory: &'static str) -> Result<gst::Element, Fault> {
    gst::ElementFactory::make(factory).build().map_err(|_| {
        let package = package_of(factory);
        Fault::Undecodable(format!("GStreamer's element {factory} is missing: install the Debian package {package}"))
    })
}

fn package_of(factory: &str) -> &'static str {
    match factory {
        "rtspsrc" | "rtph264depay" | "rtph265depay" | "rtpjpegdepay" | "v4l2src" => "gstreamer1.0-plugins-good",
        "h264parse" | "h265parse" | "jpegparse" => "gstreamer1.0-plugins-bad",
        "filesrc" | "capsfilter" | "fakesink" | "clocksync" => "libgstreamer1.0-0",
        _ => "gstreamer1.0-plugins-base",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault<T: gst::MessageErrorDomain>(kind: T, text: &str, debug: &str, missing: &[String]) -> Fault {
        gst::init().expect("GStreamer starts");
        let message = gst::message::Error::builder(kind, text).debug(debug).build();
        let gst::MessageView::Error(error) = message.view() else { panic!("is an error") };
        of_error(error, missing)
    }

    #[test]
    fn errors_become_something_to_act_on() {
        use gst::{CoreError, ResourceError, StreamError};
        let text = |fault: &Fault| fault.clone().reason();
        let refused = fault(ResourceError::NotAuthorized, "Unauthorized", "", &[]);
        assert!(matches!(refused, Fault::Unauthorized(_)), "{refused:?}");
        let refused = fault(ResourceError::Read, "Could not read.", "gstrtspsrc.c(1): f ():\nUnauthorized (401)", &[]);
        assert!(matches!(refused, Fault::Unauthorized(_)), "{refused:?}");
        assert!(text(&refused).contains("missing or wrong"), "{refused:?}");
        for access in [
            fault(ResourceError::NotFound, "x", "", &[]),
            fault(ResourceError::OpenReadWrite, "x", "", &[]),
            fault(StreamError::Failed, "Internal data stream error.", "", &[]),
        ] {
            assert!(matches!(access, Fault::Access(_)), "{access:?}");
        }
        for damaged in [
            fault(StreamError::WrongType, "This appears to be a text file", "", &[]),
            fault(StreamError::Demux, "x", "", &[]),
        ] {
            assert!(matches!(damaged, Fault::Damaged(_)), "{damaged:?}");
            let stream = StreamId::new("cam").expect("is a token");
            assert!(damaged.clone().of_live().into_source_error(&stream).is_transient());
            assert!(!damaged.into_source_error(&stream).is_transient());
        }
        for unusable in [
            fault(CoreError::MissingPlugin, "x", "", &[]),
            fault(StreamError::Failed, "x", "", &["H.267 decoder".to_owned()]),
        ] {
            assert!(matches!(unusable, Fault::Undecodable(_)), "{unusable:?}");
        }
    }

    #[test]
    fn foreign_texts_lose_their_credentials() {
        let debug = "gstrtspsrc.c(1): f ():\nFailed to connect to rtsp://cam:hunter2@10.0.0.1/live";
        let reason = fault(gst::ResourceError::OpenRead, "rtsp://cam:hunter2@10.0.0.1 refused", debug, &[]).reason();
        assert!(!reason.contains("hunter2") && reason.contains("***@10.0.0.1"), "{reason}");
    }

    #[test]
    fn a_missing_element_names_its_package() {
        gst::init().expect("GStreamer starts");
        let reason = make("nosuchelement").expect_err("does not exist").reason();
        assert!(reason.contains("nosuchelement") && reason.contains("gstreamer1.0-plugins-base"), "{reason}");
    }
}
