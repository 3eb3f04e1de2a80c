//! What is measured of a stream.

use std::time::Duration;

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry,
};

use super::board::DropReason;
use super::sightings::{SightMetrics, StreamSight};
use crate::domain::{StreamId, StreamState, WallTime};
use crate::telemetry::BUCKETS;

/// The reasons for which a source is opened again, as [`crate::seams::SourceError::kind`] names them.
const RECONNECT_REASONS: [&str; 4] = ["open", "unauthorized", "lost", "stalled"];

/// The families of all streams.
#[derive(Debug, Clone)]
pub struct Metrics {
    up: IntGaugeVec,
    state: IntGaugeVec,
    reconnects: IntCounterVec,
    last_frame: GaugeVec,
    frames: IntCounterVec,
    dropped: IntCounterVec,
    moments: IntCounterVec,
    lag: HistogramVec,
    sight: SightMetrics,
}

/// The series of one stream; present from its start.
#[derive(Debug, Clone)]
pub(super) struct StreamMetrics {
    stream: String,
    up: IntGauge,
    state: IntGaugeVec,
    reconnects: IntCounterVec,
    last_frame: Gauge,
    frames: IntCounter,
    dropped: IntCounterVec,
    moments: IntCounter,
    lag: Histogram,
    pub(super) sight: StreamSight,
}

impl Metrics {
    /// Registers every family.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let stream = ["stream"];
        let with_reason = ["stream", "reason"];
        let lag = "Time from a frame's arrival to its committed caption, in seconds.";
        Ok(Self {
            sight: SightMetrics::register(registry)?,
            up: add(
                registry,
                IntGaugeVec::new(
                    Opts::new("gvqa_stream_up", "1 while frames arrive and once a file was read to its end, else 0."),
                    &stream,
                )?,
            )?,
            state: add(
                registry,
                IntGaugeVec::new(
                    Opts::new("gvqa_stream_state", "1 for the state that a stream is in, 0 for every other one."),
                    &["stream", "state"],
                )?,
            )?,
            reconnects: add(
                registry,
                IntCounterVec::new(
                    Opts::new("gvqa_stream_reconnects_total", "Attempts to open a source again."),
                    &with_reason,
                )?,
            )?,
            last_frame: add(
                registry,
                GaugeVec::new(
                    Opts::new("gvqa_stream_last_frame_timestamp_seconds", "Arrival of the last frame, Unix time."),
                    &stream,
                )?,
            )?,
            frames: add(registry, IntCounterVec::new(Opts::new("gvqa_frames_total", "Sampled frames."), &stream)?)?,
            dropped: add(
                registry,
                IntCounterVec::new(
                    Opts::new("gvqa_frames_dropped_total", "Sampled frames without a caption."),
                    &with_reason,
                )?,
            )?,
            moments: add(
                registry,
                IntCounterVec::new(Opts::new("gvqa_moments_total", "Captions committed."), &stream)?,
            )?,
            lag: add(
                registry,
                HistogramVec::new(
                    HistogramOpts::new("gvqa_caption_lag_seconds", lag).buckets(BUCKETS.to_vec()),
                    &stream,
                )?,
            )?,
        })
    }

    /// The series of one stream.
    pub(super) fn of(&self, id: &StreamId) -> StreamMetrics {
        let stream = id.as_str();
        for state in StreamState::ALL {
            self.state.with_label_values(&[stream, state.as_str()]);
        }
        for reason in RECONNECT_REASONS {
            self.reconnects.with_label_values(&[stream, reason]);
        }
        for reason in DropReason::ALL {
            self.dropped.with_label_values(&[stream, reason.as_str()]);
        }
        StreamMetrics {
            stream: stream.to_owned(),
            up: self.up.with_label_values(&[stream]),
            state: self.state.clone(),
            reconnects: self.reconnects.clone(),
            last_frame: self.last_frame.with_label_values(&[stream]),
            frames: self.frames.with_label_values(&[stream]),
            dropped: self.dropped.clone(),
            moments: self.moments.with_label_values(&[stream]),
            lag: self.lag.with_label_values(&[stream]),
            sight: self.sight.of(id),
        }
    }

    /// Shows nothing of a stream any more: it is watched no longer, and no alert shall wait for it.
    pub(super) fn forget(&self, id: &StreamId) {
        self.sight.forget(id);
        let stream = id.as_str();
        // Each fails only where there is no such series, which is what is wanted.
        let _ = self.up.remove_label_values(&[stream]);
        let _ = self.last_frame.remove_label_values(&[stream]);
        let _ = self.frames.remove_label_values(&[stream]);
        let _ = self.moments.remove_label_values(&[stream]);
        let _ = self.lag.remove_label_values(&[stream]);
        for state in StreamState::ALL {
            let _ = self.state.remove_label_values(&[stream, state.as_str()]);
        }
        for reason in RECONNECT_REASONS {
            let _ = self.reconnects.remove_label_values(&[stream, reason]);
        }
        for reason in DropReason::ALL {
            let _ = self.dropped.remove_label_values(&[stream, reason.as_str()]);
        }
    }
}

impl StreamMetrics {
    pub(super) fn set_state(&self, now: StreamState) {
        self.up.set(i64::from(matches!(now, StreamState::Up | StreamState::Ended)));
        for state in StreamState::ALL {
            self.state.with_label_values(&[self.stream.as_str(), state.as_str()]).set(i64::from(state == now));
        }
    }

    pub(super) fn count_reconnect(&self, reason: &'static str) {
        self.reconnects.with_label_values(&[self.stream.as_str(), reason]).inc();
    }

    pub(super) fn count_frame(&self, arrived: WallTime) {
        self.frames.inc();
        self.last_frame.set(arrived.seconds());
    }

    pub(super) fn count_drop(&self, reason: DropReason) {
        self.dropped.with_label_values(&[self.stream.as_str(), reason.as_str()]).inc();
    }

    pub(super) fn count_moment(&self, lag: Duration) {
        self.moments.inc();
        self.lag.observe(lag.as_secs_f64());
    }
}

fn add<C: Collector + Clone + 'static>(registry: &Registry, family: C) -> prometheus::Result<C> {
    registry.register(Box::new(family.clone()))?;
    Ok(family)
}
