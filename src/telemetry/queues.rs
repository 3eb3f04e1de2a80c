//! How full the bounded queues are: two gauges, labelled by queue, shared by every module that owns one.

use prometheus::{IntGauge, IntGaugeVec, Opts, Registry};

/// The queue gauges; cheap to clone, every clone writes the same series.
#[derive(Debug, Clone)]
pub struct Queues {
    depth: IntGaugeVec,
    capacity: IntGaugeVec,
}

/// The depth of one queue.
#[derive(Debug, Clone)]
pub struct QueueGauge(IntGauge);

impl Queues {
    /// Registers both gauges; a queue appears in them once it is [opened](Self::open).
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let gauge = |name: &str, help: &str| {
            let gauge = IntGaugeVec::new(Opts::new(name, help), &["queue"])?;
            registry.register(Box::new(gauge.clone()))?;
            Ok::<_, prometheus::Error>(gauge)
        };
        Ok(Self {
            depth: gauge("gvqa_queue_depth", "Items waiting in a bounded queue.")?,
            capacity: gauge("gvqa_queue_capacity", "Items a bounded queue holds at most.")?,
        })
    }

    /// Announces an empty queue that holds `capacity` items at most. `queue` is one of a fixed set of names.
    pub fn open(&self, queue: &'static str, capacity: usize) -> QueueGauge {
        self.capacity.with_label_values(&[queue]).set(capacity as i64);
        let depth = self.depth.with_label_values(&[queue]);
        depth.set(0);
        QueueGauge(depth)
    }
}

impl QueueGauge {
    /// States how many items wait now.
    pub fn set(&self, waiting: usize) {
        self.0.set(waiting as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_shows_its_depth_beside_its_capacity() {
        let registry = Registry::new();
        let queues = Queues::register(&registry).expect("registers");
        queues.open("index", 8).set(3);
        let text = prometheus::TextEncoder::new().encode_to_string(&registry.gather()).expect("encodes");
        assert!(text.contains("gvqa_queue_depth{queue=\"index\"} 3"), "{text}");
        assert!(text.contains("gvqa_queue_capacity{queue=\"index\"} 8"), "{text}");
        assert!(Queues::register(&registry).is_err());
    }
}
