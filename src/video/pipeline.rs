//! One GStreamer pipeline that ends in an appsink, from building to `Null`. Its owner drains the bus; nobody else does.
//!
//! No callback here holds a strong reference to the pipeline or changes its state: a cycle would leak it, and a state
//! change from a streaming thread would wait for itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gstreamer as gst;
use gstreamer::glib;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::fault::{self, Fault};

/// Name of the message with which the wiring says that no pad carries video.
pub(super) const NO_VIDEO: &str = "gvqa-no-video";

/// The elements that were plugged, in order.
pub(super) type Plugged = Arc<Mutex<Vec<glib::WeakRef<gst::Element>>>>;

/// Set to `Null` when dropped.
pub(super) struct Pipeline {
    inner: gst::Pipeline,
    bus: gst::Bus,
    sink: gst_app::AppSink,
    plugged: Plugged,
    /// What decoders were missed, as the bus told.
    missing: Vec<String>,
    /// The first fault that the bus told.
    fault: Option<Fault>,
    /// Whether setting it to `Null` may block for ever.
    hung: bool,
}

impl Pipeline {
    /// Takes a pipeline that holds `sink`.
    pub(super) fn new(inner: gst::Pipeline, sink: gst_app::AppSink, plugged: Plugged) -> Result<Self, Fault> {
        let bus = inner.bus().ok_or_else(|| Fault::Access("the pipeline has no bus".to_owned()))?;
        Ok(Self { inner, bus, sink, plugged, missing: Vec::new(), fault: None, hung: false })
    }

    /// Where the pictures come out.
    pub(super) fn sink(&self) -> &gst_app::AppSink {
        &self.sink
    }

    /// Factory names of the elements that were plugged so far.
    pub(super) fn plugged(&self) -> Vec<String> {
        self.elements().filter_map(|element| Some(element.factory()?.name().to_string())).collect()
    }

    /// Whether a demuxer has stopped reading without having found a stream. It says so on the bus as well, but decodebin
    /// (1.22) swallows what an element says while it is being plugged.
    pub(super) fn gave_up(&self) -> bool {
        self.elements().any(|element| {
            let demuxer = element.factory().is_some_and(|factory| factory.has_type(gst::ElementFactoryType::DEMUXER));
            let paused = element.static_pad("sink").is_some_and(|pad| pad.task_state() == gst::TaskState::Paused);
            demuxer && paused && element.num_src_pads() == 0
        })
    }

    fn elements(&self) -> impl Iterator<Item = gst::Element> {
        let plugged = self.plugged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        plugged.into_iter().filter_map(|element| element.upgrade())
    }

    /// The length that the container claims.
    pub(super) fn duration(&self) -> Option<Duration> {
        self.inner.query_duration::<gst::ClockTime>().map(Into::into)
    }

    /// Asks for a state; whether it is reached is told by the bus and the sink.
    pub(super) fn set_state(&mut self, state: gst::State) -> Result<(), Fault> {
        if self.inner.set_state(state).is_ok() {
            return Ok(());
        }
        self.check()?;
        Err(Fault::Access("the source cannot be started".to_owned()))
    }

    /// Reads what the bus has to say; a fault is kept for [`Self::check`], so that pictures before it come first.
    pub(super) fn drain(&mut self) {
        while let Some(message) = self.bus.pop() {
            let fault = self.listen(&message);
            self.fault = self.fault.take().or(fault);
        }
    }

    /// Reads what the bus has to say; an error is the first fault that it ever told.
    pub(super) fn check(&mut self) -> Result<(), Fault> {
        self.drain();
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Declares that a streaming thread is stuck: dropping will not wait for it.
    pub(super) fn give_up(&mut self) {
        self.hung = true;
    }

    fn listen(&mut self, message: &gst::Message) -> Option<Fault> {
        match message.view() {
            gst::MessageView::Error(error) => Some(fault::of_error(error, &self.missing)),
            gst::MessageView::Application(note) if note.structure().is_some_and(|s| s.name() == NO_VIDEO) => {
                Some(Fault::Undecodable(if self.missing.is_empty() {
                    "there is no video stream in it".to_owned()
                } else {
                    fault::missing_text(&self.missing)
                }))
            }
            gst::MessageView::Element(note) => {
                let structure = note.structure()?;
                self.missing.extend(fault::missing_name(structure));
                let timeout = structure.name() == "GstRTSPSrcTimeout";
                timeout.then(|| Fault::Access("the server sends nothing any more".to_owned()))
            }
            _ => None,
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        if !self.hung {
            // A failure to reach Null leaves nothing to be done; GStreamer has logged it.
            let _ = self.inner.set_state(gst::State::Null);
            return;
        }
        let inner = self.inner.clone();
        let spawned = std::thread::Builder::new().name("gvqa-teardown".to_owned()).spawn(move || {
            let _ = inner.set_state(gst::State::Null);
        });
        if let Err(error) = spawned {
            tracing::warn!(%error, "a stuck pipeline cannot be taken down");
        }
    }
}
