//! Where live pictures get their times, leave for the archive, and are let through to the decoder or not.
//!
//! Runs in the streaming thread and never waits. The stamp travels on the picture through the decoder, so that a frame
//! has the very time under which it was recorded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use gstreamer as gst;
use gstreamer::prelude::*;

use super::archive::{Codec, Coding, Feed, Unit};
use super::clock::{LiveClock, Passing, Stamp};
use super::gate::{Choice, Gate};
use super::metrics::Clocks;
use super::whole::is_whole;
use crate::domain::{Clock, StreamId, StreamTime, WallTime};

/// Marks stream time and precision, and time of day by either clock, on a buffer.
const STREAM_TIME: &str = "timestamp/x-gvqa-stream-time";
const ARRIVAL: &str = "timestamp/x-gvqa-arrival";
const REPORTED: &str = "timestamp/x-gvqa-reported";
/// What `rtspsrc` marks after the first sender report.
const NTP: &str = "timestamp/x-ntp";
/// NTP counts from 1900.
const NTP_EPOCH: Duration = Duration::from_hours(613_608);

/// One life of a live stream. Clones are the same one.
#[derive(Clone)]
pub(super) struct Tap(Arc<Mutex<Inner>>);

struct Inner {
    stream: StreamId,
    clock: LiveClock,
    gate: Gate,
    opened: Instant,
    /// When a picture came last, decoded or not.
    heard: Instant,
    feed: Option<Feed>,
    clocks: Option<Clocks>,
    /// The caps seen last, and what the archive makes of them.
    codec: Option<(gst::Caps, Option<Arc<Codec>>)>,
}

impl Tap {
    /// One life begins now.
    pub(super) fn new(stream: &StreamId, clock: LiveClock, gate: Gate) -> Self {
        let stream = stream.clone();
        let opened = Instant::now();
        let inner = Inner { stream, clock, gate, opened, heard: opened, feed: None, clocks: None, codec: None };
        Self(Arc::new(Mutex::new(inner)))
    }

    /// Records what passes, and shows how the clocks agree.
    pub(super) fn serve(&self, feed: Option<Feed>, clocks: Clocks) {
        let mut inner = self.lock();
        (inner.feed, inner.clocks) = (feed, Some(clocks));
    }

    /// Stamps and records what leaves `pad`, encoded pictures one a buffer, and holds back what is not to be decoded.
    pub(super) fn encoded(&self, pad: &gst::Pad) {
        let tap = self.clone();
        pad.add_probe(gst::PadProbeType::BUFFER, move |pad, info| {
            let passes = info.buffer_mut().is_none_or(|buffer| tap.lock().encoded(pad, buffer));
            if passes { gst::PadProbeReturn::Ok } else { gst::PadProbeReturn::Drop }
        });
    }

    /// Counts pictures that come to `pad`, and stamps those that come unstamped, because their source does not encode
    /// them.
    pub(super) fn pictures(&self, pad: &gst::Pad) {
        let tap = self.clone();
        pad.add_probe(gst::PadProbeType::BUFFER, move |_, info| {
            if let Some(buffer) = info.buffer_mut() {
                let mut inner = tap.lock();
                inner.heard = Instant::now();
                inner.gate.came_out();
                if stamp_of(buffer).is_none() {
                    inner.stamp(buffer);
                }
            }
            gst::PadProbeReturn::Ok
        });
    }

    /// Whether it is stalled when no decoded picture has come for `idle`: nothing comes at all, or what comes should have
    /// been decoded by now. A camera whose next key picture is still to come is neither.
    pub(super) fn is_stalled(&self, idle: Duration, patience: Duration) -> bool {
        let inner = self.lock();
        idle >= patience && (inner.heard.elapsed() >= patience || idle >= patience + inner.gate.slack())
    }

    /// Why the stream is not recorded at present, if it should be.
    pub(super) fn trouble(&self) -> Option<String> {
        self.lock().feed.as_ref().and_then(|feed| feed.track().trouble())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Says whether the picture goes on to the decoder.
    fn encoded(&mut self, pad: &gst::Pad, buffer: &mut gst::Buffer) -> bool {
        self.heard = Instant::now();
        let stamp = self.stamp(buffer);
        let key = !buffer.flags().contains(gst::BufferFlags::DELTA_UNIT);
        let mut alone = key;
        // Memory that cannot be read cannot be decoded either, which the decoder will say.
        if let Some(codec) = self.codec(pad)
            && let Ok(mapped) = buffer.clone().into_mapped_buffer_readable()
        {
            alone = key && is_whole(codec.coding, &mapped);
            if let Some(feed) = &mut self.feed {
                feed.offer(&codec, Unit { stamp, key, data: Bytes::from_owner(mapped) });
            }
        }
        let before = self.gate.choice();
        let passes = self.gate.pass(stamp.at, key, alone);
        let now = self.gate.choice();
        if std::mem::discriminant(&now) != std::mem::discriminant(&before) {
            tracing::info!(stream = %self.stream, "{now}");
        }
        if let Some(clocks) = &self.clocks {
            clocks.set_keys_only(matches!(now, Choice::Keys(_)));
        }
        passes
    }

    fn stamp(&mut self, buffer: &mut gst::Buffer) -> Stamp {
        let passing = Passing {
            media: buffer.pts().map(Into::into),
            reported: reported(buffer),
            now: WallTime::now(),
            ticks: self.opened.elapsed(),
        };
        let before = self.clock.agreement();
        let stamp = self.clock.stamp(&passing);
        if let Some(clocks) = &self.clocks {
            clocks.set(self.clock.agreement(), before);
        }
        mark(buffer.make_mut(), &stamp);
        stamp
    }

    fn codec(&mut self, pad: &gst::Pad) -> Option<Arc<Codec>> {
        let caps = pad.current_caps()?;
        if self.codec.as_ref().is_none_or(|(known, _)| *known != caps) {
            let codec = codec_of(&caps).map(Arc::new);
            self.codec = Some((caps, codec));
        }
        self.codec.as_ref().and_then(|(_, codec)| codec.clone())
    }
}

/// The times that were marked on a picture.
pub(super) fn stamp_of(buffer: &gst::BufferRef) -> Option<Stamp> {
    let (mut stream_time, mut wall) = (None, None);
    for meta in buffer.iter_meta::<gst::ReferenceTimestampMeta>() {
        let Some(kind) = meta.reference().structure(0) else { continue };
        let nanos = meta.timestamp().nseconds();
        match kind.name().as_str() {
            STREAM_TIME => stream_time = Some((nanos, meta.duration().unwrap_or_default())),
            ARRIVAL => wall = Some((nanos, Clock::Arrival)),
            REPORTED => wall = Some((nanos, Clock::SenderReport)),
            _ => {}
        }
    }
    let ((at, precision), (wall, clock)) = (stream_time?, wall?);
    let wall = WallTime::from_nanos(i64::try_from(wall).ok()?).ok()?;
    Some(Stamp { at: StreamTime::from_nanos(at), wall, clock, precision: precision.into() })
}

fn mark(buffer: &mut gst::BufferRef, stamp: &Stamp) {
    let time = gst::ClockTime::from_nseconds;
    let precision = time(stamp.precision.as_nanos() as u64);
    let caps = gst::Caps::new_empty_simple(STREAM_TIME);
    gst::ReferenceTimestampMeta::add(buffer, &caps, time(stamp.at.nanos()), precision);
    let caps = gst::Caps::new_empty_simple(if stamp.clock == Clock::SenderReport { REPORTED } else { ARRIVAL });
    let wall = time(u64::try_from(stamp.wall.nanos()).unwrap_or(0));
    gst::ReferenceTimestampMeta::add(buffer, &caps, wall, gst::ClockTime::NONE);
}

/// When the camera says that it took the picture.
fn reported(buffer: &gst::BufferRef) -> Option<WallTime> {
    let mut metas = buffer.iter_meta::<gst::ReferenceTimestampMeta>();
    let meta = metas.find(|meta| meta.reference().structure(0).is_some_and(|s| s.name() == NTP))?;
    let since_1970 = Duration::from(meta.timestamp()).checked_sub(NTP_EPOCH)?;
    WallTime::from_nanos(i64::try_from(since_1970.as_nanos()).ok()?).ok()
}

/// What the archive can keep as it is.
pub(super) fn codec_of(caps: &gst::CapsRef) -> Option<Codec> {
    let structure = caps.structure(0)?;
    let format = structure.get::<&str>("stream-format").unwrap_or_default();
    let coding = match structure.name().as_str() {
        "video/x-h264" if format == "avc" => Coding::H264,
        "video/x-h265" if format == "hvc1" => Coding::H265,
        "image/jpeg" => Coding::Jpeg,
        _ => return None,
    };
    let private = match structure.get::<gst::Buffer>("codec_data") {
        Ok(data) => data.map_readable().ok()?.to_vec(),
        Err(_) if coding == Coding::Jpeg => Vec::new(),
        Err(_) => return None,
    };
    let side = |name| structure.get::<i32>(name).ok().and_then(|side| u32::try_from(side).ok());
    Some(Codec { coding, private, width: side("width")?, height: side("height")? })
}

/// The reverse of [`codec_of`].
pub(super) fn caps_of(codec: &Codec) -> gst::Caps {
    let (name, format) = match codec.coding {
        Coding::H264 => ("video/x-h264", "avc"),
        Coding::H265 => ("video/x-h265", "hvc1"),
        Coding::Jpeg => return sized(gst::Caps::builder("image/jpeg"), codec),
    };
    let data = gst::Buffer::from_slice(codec.private.clone());
    let caps = gst::Caps::builder(name).field("stream-format", format).field("alignment", "au");
    sized(caps.field("codec_data", data), codec)
}

fn sized(caps: gst::caps::Builder<gst::caps::NoFeature>, codec: &Codec) -> gst::Caps {
    caps.field("width", codec.width as i32).field("height", codec.height as i32).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_travels_on_a_buffer() {
        gst::init().expect("GStreamer starts");
        for clock in [Clock::Arrival, Clock::SenderReport] {
            let stamp = Stamp {
                at: StreamTime::from_nanos(12_345_678_901),
                wall: WallTime::from_nanos(1_790_000_000_123_456_789).expect("in range"),
                clock,
                precision: Duration::from_millis(270),
            };
            let mut buffer = gst::Buffer::with_size(4).expect("is small");
            assert_eq!(stamp_of(&buffer), None);
            mark(buffer.make_mut(), &stamp);
            assert_eq!(stamp_of(&buffer), Some(stamp));
        }
    }

    #[test]
    fn a_codec_becomes_caps_and_back() {
        gst::init().expect("GStreamer starts");
        for (coding, private) in [(Coding::H264, vec![1, 100]), (Coding::H265, vec![1, 2]), (Coding::Jpeg, vec![])] {
            let codec = Codec { coding, private, width: 640, height: 360 };
            assert_eq!(codec_of(&caps_of(&codec)), Some(codec));
        }
        let stream = gst::Caps::builder("video/x-h264").field("stream-format", "byte-stream").build();
        assert_eq!(codec_of(&stream), None);
    }

    #[test]
    fn a_sender_report_counts_from_1900() {
        gst::init().expect("GStreamer starts");
        let mut buffer = gst::Buffer::with_size(4).expect("is small");
        let ntp = gst::ClockTime::from_seconds(2_208_988_800 + 1_790_000_000);
        let caps = gst::Caps::new_empty_simple(NTP);
        gst::ReferenceTimestampMeta::add(buffer.make_mut(), &caps, ntp, gst::ClockTime::NONE);
        assert_eq!(reported(&buffer).map(WallTime::nanos), Some(1_790_000_000_000_000_000));
    }
}
