//! Tracing subscriber, /metrics /livez /readyz, sd_notify.

mod stages;

pub use stages::{BUCKETS, Stage, Stages};
