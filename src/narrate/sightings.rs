//! What is measured and told about pictures that are not captioned: those that show nothing, and those that show
//! nothing new.

use std::time::Duration;

use prometheus::{IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry};
use tokio::sync::mpsc::error::TrySendError;

use super::teller::Teller;
use crate::domain::{BlindSpan, Blindness, Event, Moment, StreamId, WallTime};

/// The families of all streams.
#[derive(Debug, Clone)]
pub(super) struct SightMetrics {
    blind: IntGaugeVec,
    unobservable: IntCounterVec,
    unchanged: IntCounterVec,
    extra: IntCounterVec,
}

/// The series of one stream; present from its start.
#[derive(Debug, Clone)]
pub(super) struct StreamSight {
    stream: String,
    blind: IntGaugeVec,
    unobservable: IntCounterVec,
    unchanged: IntCounter,
    extra: IntCounter,
}

impl SightMetrics {
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let blind = IntGaugeVec::new(
            Opts::new("gvqa_stream_blind", "1 while the pictures that arrive show nothing, by why."),
            &["stream", "reason"],
        )?;
        registry.register(Box::new(blind.clone()))?;
        let counter = |name: &str, help: &str, labels: &[&str]| {
            let family = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(family.clone()))?;
            Ok::<_, prometheus::Error>(family)
        };
        Ok(Self {
            blind,
            unobservable: counter(
                "gvqa_frames_unobservable_total",
                "Sampled frames that showed nothing and were not captioned, by why.",
                &["stream", "reason"],
            )?,
            unchanged: counter(
                "gvqa_frames_unchanged_total",
                "Sampled frames that extended the last moment instead of being captioned.",
                &["stream"],
            )?,
            extra: counter(
                "gvqa_frames_extra_total",
                "Frames taken between two samples because of a sudden change.",
                &["stream"],
            )?,
        })
    }

    pub(super) fn of(&self, stream: &StreamId) -> StreamSight {
        let stream = stream.as_str();
        for why in Blindness::ALL {
            self.blind.with_label_values(&[stream, why.as_str()]);
            self.unobservable.with_label_values(&[stream, why.as_str()]);
        }
        StreamSight {
            stream: stream.to_owned(),
            blind: self.blind.clone(),
            unobservable: self.unobservable.clone(),
            unchanged: self.unchanged.with_label_values(&[stream]),
            extra: self.extra.with_label_values(&[stream]),
        }
    }

    /// Shows nothing of a stream any more.
    pub(super) fn forget(&self, stream: &StreamId) {
        let stream = stream.as_str();
        // Each fails only where there is no such series, which is what is wanted.
        let _ = self.unchanged.remove_label_values(&[stream]);
        let _ = self.extra.remove_label_values(&[stream]);
        for why in Blindness::ALL {
            let _ = self.blind.remove_label_values(&[stream, why.as_str()]);
            let _ = self.unobservable.remove_label_values(&[stream, why.as_str()]);
        }
    }
}

impl StreamSight {
    fn set_blind(&self, now: Option<Blindness>) {
        for why in Blindness::ALL {
            self.blind.with_label_values(&[self.stream.as_str(), why.as_str()]).set(i64::from(now == Some(why)));
        }
    }
}

impl Teller {
    /// What the pictures show, told when it changes. Like a state, it is left out if nobody takes events at the moment.
    pub(super) fn sight(&self, blind: Option<Blindness>, wall: WallTime) {
        if !self.board.set_blind(&self.stream, blind) {
            return;
        }
        self.metrics.sight.set_blind(blind);
        let sight = blind.map_or("recovered", Blindness::as_str);
        tracing::info!(stream = %self.stream, sight, "what the pictures show");
        let event = Event::Sight { stream: self.stream.clone(), blind, wall };
        if let Err(TrySendError::Full(_)) = self.events.try_send(event) {
            tracing::warn!(stream = %self.stream, sight, "not announced: too many events wait");
        }
    }

    /// What was told before this process began: shown, and not told again.
    pub(super) fn resume_sight(&self, blind: Option<Blindness>, total: Duration) {
        self.board.set_unobservable(&self.stream, total);
        self.board.set_blind(&self.stream, blind);
        self.metrics.sight.set_blind(blind);
    }

    /// A frame that showed nothing was noted; `total` is the stream time in which nothing was seen, all in all.
    pub(super) fn unobservable(&self, span: &BlindSpan, total: Duration) {
        self.metrics.sight.unobservable.with_label_values(&[self.stream.as_str(), span.why.as_str()]).inc();
        self.board.set_unobservable(&self.stream, total);
        self.sight(Some(span.why), span.wall);
    }

    /// A moment was made longer, and that was committed.
    pub(super) async fn extended(&self, moment: Moment) {
        self.metrics.sight.unchanged.inc();
        self.announce(Event::Extended(moment)).await;
    }

    /// A frame was taken between two samples.
    pub(super) fn extra(&self) {
        self.metrics.sight.extra.inc();
    }
}
