//! Recorded pictures, decoded again.

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::super::archive::{Codec, Unit};
use super::super::fault::Fault;
use super::super::pipeline::{Pipeline, Plugged};
use super::super::tap::caps_of;
use super::{Ends, add, decode, picture_sink};

/// Builds a pipeline that decodes recorded pictures, and where to put them.
pub(in crate::video) fn build_replay(codec: &Codec) -> Result<(Pipeline, gst_app::AppSrc), Fault> {
    let pipeline = gst::Pipeline::new();
    let sink = picture_sink(false);
    add(&pipeline, [sink.upcast_ref()])?;
    let caps = caps_of(codec);
    // Everything waits inside: how much that is was decided before.
    let source = gst_app::AppSrc::builder().caps(&caps).format(gst::Format::Time).max_bytes(0).build();
    let ends = Ends::new(&pipeline, &sink, None);
    decode(&pipeline, source.upcast_ref(), ends)?;
    Ok((Pipeline::new(pipeline, sink, Plugged::default())?, source))
}

/// Hands recorded pictures to a replay, each with its stream time as its media time.
pub(in crate::video) fn feed(source: &gst_app::AppSrc, units: &[Unit]) -> Result<(), Fault> {
    let failed = |_| Fault::Access("the decoder takes no pictures".to_owned());
    for unit in units {
        let mut buffer = gst::Buffer::from_slice(unit.data.clone());
        {
            let buffer = buffer.make_mut();
            buffer.set_pts(gst::ClockTime::from_nseconds(unit.stamp.at.nanos()));
            if !unit.key {
                buffer.set_flags(gst::BufferFlags::DELTA_UNIT);
            }
        }
        source.push_buffer(buffer).map_err(failed)?;
    }
    source.end_of_stream().map(|_| ()).map_err(failed)
}
