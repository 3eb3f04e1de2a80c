//! What the bus counts.

use prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use super::subjects::{Topic, Verb};
use super::wire::ErrorCode;

/// Counters and gauges of the bus; cheap to clone, every clone counts into the same series.
#[derive(Debug, Clone)]
pub struct Metrics {
    connected: IntGauge,
    dropped: IntCounterVec,
    waiting: IntGaugeVec,
    requests: IntCounterVec,
    slow: IntCounter,
}

impl Metrics {
    /// Registers everything with every label value present from the start.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let metrics = Self {
            connected: IntGauge::new("gvqa_nats_connected", "1 while connected to a NATS server, else 0.")?,
            dropped: by(
                "gvqa_outbox_dropped_total",
                "Events that were never published, because the server was away for too long or refused them.",
                &["kind"],
            )?,
            waiting: IntGaugeVec::new(
                Opts::new("gvqa_outbox_waiting", "Events not yet known to have reached the server."),
                &["kind"],
            )?,
            requests: by(
                "gvqa_requests_total",
                "Requests replied to, by endpoint and outcome.",
                &["endpoint", "code"],
            )?,
            slow: IntCounter::new(
                "gvqa_nats_slow_consumer_total",
                "Incoming messages lost because they arrived faster than they were taken.",
            )?,
        };
        registry.register(Box::new(metrics.connected.clone()))?;
        registry.register(Box::new(metrics.dropped.clone()))?;
        registry.register(Box::new(metrics.waiting.clone()))?;
        registry.register(Box::new(metrics.requests.clone()))?;
        registry.register(Box::new(metrics.slow.clone()))?;
        for topic in Topic::ALL {
            metrics.dropped.with_label_values(&[topic.as_str()]);
            metrics.waiting.with_label_values(&[topic.as_str()]);
        }
        for verb in Verb::ALL {
            metrics.requests.with_label_values(&[verb.as_str(), "ok"]);
            for code in ErrorCode::ALL {
                metrics.requests.with_label_values(&[verb.as_str(), code.name()]);
            }
        }
        Ok(metrics)
    }

    pub(super) fn connected(&self, connected: bool) {
        self.connected.set(i64::from(connected));
    }

    pub(super) fn dropped(&self, topic: Topic) {
        self.dropped.with_label_values(&[topic.as_str()]).inc();
    }

    pub(super) fn waiting(&self, topic: Topic, count: usize) {
        self.waiting.with_label_values(&[topic.as_str()]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(super) fn replied(&self, verb: Verb, error: Option<ErrorCode>) {
        self.requests.with_label_values(&[verb.as_str(), error.map_or("ok", ErrorCode::name)]).inc();
    }

    pub(super) fn slow_consumer(&self) {
        self.slow.inc();
    }
}

fn by(name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntCounterVec> {
    IntCounterVec::new(Opts::new(name, help), labels)
}
