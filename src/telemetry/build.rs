//! What is running: version, profile, and what the system says of the process.

use prometheus::{IntGaugeVec, Opts, Registry};

/// Registers `gvqa_build_info` and `process_*`. `profile` names the set of models (`edge`, `gpu`).
pub fn register_process(registry: &Registry, profile: &str) -> prometheus::Result<()> {
    let opts = Opts::new("gvqa_build_info", "Always 1; the labels say what is running.");
    let info = IntGaugeVec::new(opts, &["version", "profile"])?;
    info.with_label_values(&[env!("CARGO_PKG_VERSION"), profile]).set(1);
    registry.register(Box::new(info))?;
    register_system(registry)
}

#[cfg(target_os = "linux")]
fn register_system(registry: &Registry) -> prometheus::Result<()> {
    registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))
}

/// The library reads `/proc`, so `process_*` is there on Linux only.
#[cfg(not(target_os = "linux"))]
fn register_system(_: &Registry) -> prometheus::Result<()> {
    Ok(())
}
