//! What is measured of sources and their recordings.

use prometheus::core::Collector;
use prometheus::{Gauge, GaugeVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use super::archive::DELETIONS;
use super::clock::Agreement;
use crate::domain::StreamId;

/// Why a live picture is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// The disk takes them more slowly than they come.
    Slow,
    /// The disk refuses them.
    Disk,
    /// The disk has less left than it shall have.
    Space,
}

impl Loss {
    const ALL: [Self; 3] = [Self::Slow, Self::Disk, Self::Space];

    fn as_str(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Disk => "disk",
            Self::Space => "space",
        }
    }
}

/// The families of all streams.
#[derive(Debug, Clone)]
pub(super) struct Metrics {
    pictures: IntCounterVec,
    lost: IntCounterVec,
    recording: IntGaugeVec,
    bytes: IntGaugeVec,
    segments: IntGaugeVec,
    deleted: IntCounterVec,
    drift: GaugeVec,
    jumps: IntCounterVec,
    keys_only: IntGaugeVec,
}

/// The recording of one stream.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pictures: IntCounter,
    /// In the order of [`Loss::ALL`].
    lost: [IntCounter; 3],
    recording: IntGauge,
}

/// The clocks of one stream, and what of it is decoded.
#[derive(Debug, Clone)]
pub(super) struct Clocks {
    drift: Gauge,
    jumps: IntCounter,
    keys_only: IntGauge,
}

impl Metrics {
    /// Registers every family.
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let (stream, reason) = (["stream"], ["stream", "reason"]);
        let counter = |name: &str, help: &str, labels: &[&str]| {
            IntCounterVec::new(Opts::new(name, help), labels).and_then(|family| add(registry, family))
        };
        let gauge = |name: &str, help: &str| {
            IntGaugeVec::new(Opts::new(name, help), &stream).and_then(|family| add(registry, family))
        };
        let deleted = counter("gvqa_archive_deleted_total", "Segments deleted by retention.", &["reason"])?;
        for reason in DELETIONS {
            deleted.with_label_values(&[reason]);
        }
        let drift = "How far the camera's clock, or without one the media time, is ahead of arrival, in seconds.";
        Ok(Self {
            pictures: counter("gvqa_archive_pictures_total", "Live pictures recorded.", &stream)?,
            lost: counter("gvqa_archive_lost_total", "Live pictures that should have been recorded.", &reason)?,
            recording: gauge("gvqa_archive_recording", "1 while a live stream is recorded.")?,
            bytes: gauge("gvqa_archive_bytes", "Bytes of recorded segments.")?,
            segments: gauge("gvqa_archive_segments", "Recorded segments.")?,
            deleted,
            drift: add(registry, GaugeVec::new(Opts::new("gvqa_stream_clock_drift_seconds", drift), &stream)?)?,
            jumps: counter("gvqa_stream_clock_jumps_total", "Jumps of a live stream's media time.", &stream)?,
            keys_only: gauge("gvqa_stream_key_frames_only", "1 while only key pictures of a live stream are decoded.")?,
        })
    }

    /// The series of a recording.
    pub(super) fn recorded(&self, stream: &StreamId) -> Recorded {
        let stream = stream.as_str();
        self.set_held(stream, 0, 0);
        Recorded {
            pictures: self.pictures.with_label_values(&[stream]),
            lost: Loss::ALL.map(|loss| self.lost.with_label_values(&[stream, loss.as_str()])),
            recording: self.recording.with_label_values(&[stream]),
        }
    }

    /// The series of a live stream's clocks.
    pub(super) fn clocks(&self, stream: &StreamId) -> Clocks {
        let stream = [stream.as_str()];
        Clocks {
            drift: self.drift.with_label_values(&stream),
            jumps: self.jumps.with_label_values(&stream),
            keys_only: self.keys_only.with_label_values(&stream),
        }
    }

    /// Shows nothing of a source and its recorder any more. Each removal fails only where there is no such series.
    pub(super) fn forget(&self, stream: &StreamId) {
        let stream = stream.as_str();
        for loss in Loss::ALL {
            let _ = self.lost.remove_label_values(&[stream, loss.as_str()]);
        }
        let _ = self.pictures.remove_label_values(&[stream]);
        let _ = self.recording.remove_label_values(&[stream]);
        let _ = self.drift.remove_label_values(&[stream]);
        let _ = self.jumps.remove_label_values(&[stream]);
        let _ = self.keys_only.remove_label_values(&[stream]);
    }

    /// Shows nothing of a stream's recordings any more: there are none.
    pub(super) fn forget_held(&self, stream: &str) {
        let _ = self.bytes.remove_label_values(&[stream]);
        let _ = self.segments.remove_label_values(&[stream]);
    }

    /// What a stream's recordings take.
    pub(super) fn set_held(&self, stream: &str, bytes: u64, segments: usize) {
        self.bytes.with_label_values(&[stream]).set(i64::try_from(bytes).unwrap_or(i64::MAX));
        self.segments.with_label_values(&[stream]).set(i64::try_from(segments).unwrap_or(i64::MAX));
    }

    /// A segment was deleted.
    pub(super) fn count_deletion(&self, reason: &'static str) {
        self.deleted.with_label_values(&[reason]).inc();
    }
}

impl Recorded {
    pub(super) fn count(&self) {
        self.pictures.inc();
    }

    pub(super) fn count_loss(&self, loss: Loss) {
        self.lost[loss as usize].inc();
    }

    pub(super) fn set_recording(&self, is_recording: bool) {
        self.recording.set(i64::from(is_recording));
    }
}

impl Clocks {
    /// How the clocks agree now, and before the last picture.
    pub(super) fn set(&self, now: Agreement, before: Agreement) {
        self.drift.set(now.ahead_ns as f64 / 1e9);
        self.jumps.inc_by(now.jumps.saturating_sub(before.jumps));
    }

    pub(super) fn set_keys_only(&self, is_so: bool) {
        self.keys_only.set(i64::from(is_so));
    }
}

fn add<C: Collector + Clone + 'static>(registry: &Registry, family: C) -> prometheus::Result<C> {
    registry.register(Box::new(family.clone()))?;
    Ok(family)
}
