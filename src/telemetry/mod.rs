//! Tracing subscriber, /metrics /livez /readyz, sd_notify.

mod queues;
mod stages;

pub use queues::{QueueGauge, Queues};
pub use stages::{BUCKETS, Stage, Stages};
