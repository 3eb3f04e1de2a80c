//! `groundedvqa run`: the daemon.

use std::path::Path;
use std::process::ExitCode;

use crate::stop::Stop;
use crate::{app, config, telemetry};

/// Runs until a signal or a failure. A second signal ends the process at once.
pub(super) fn run(path: &Path) -> anyhow::Result<ExitCode> {
    let config = config::load(path)?;
    telemetry::init_tracing(&config.telemetry)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let outcome = runtime.block_on(async {
        let stop = Stop::new();
        signals(stop.clone())?;
        app::run(config, stop).await
    });
    // What still blocks was given its time: models that are being loaded would be waited for without a bound.
    runtime.shutdown_background();
    outcome?;
    Ok(ExitCode::SUCCESS)
}

/// First SIGTERM or SIGINT: ordered stop. Second: out.
fn signals(stop: Stop) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if stop.is_asked() {
                tracing::warn!("second signal: ending at once");
                std::process::exit(130);
            }
            tracing::info!("stopping");
            stop.ask();
        }
    });
    Ok(())
}
