//! `groundedvqa run`: the daemon.

use std::path::Path;
use std::process::ExitCode;

use tokio::sync::mpsc;

use crate::stop::Stop;
use crate::{app, config, telemetry};

/// Runs until a signal or a failure. SIGHUP reads the configuration again. A second SIGTERM or SIGINT ends the process at
/// once.
pub(super) fn run(path: &Path) -> anyhow::Result<ExitCode> {
    let config = config::load(path)?;
    telemetry::init_tracing(&config.telemetry)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let outcome = runtime.block_on(async {
        let stop = Stop::new();
        signals(stop.clone())?;
        Box::pin(app::run(path.to_path_buf(), config, hangups()?, stop)).await
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

/// One for each SIGHUP; those that come while one waits are the same.
fn hangups() -> std::io::Result<mpsc::Receiver<()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = signal(SignalKind::hangup())?;
    let (tell, told) = mpsc::channel(1);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            // Full: one is waiting already.
            let _ = tell.try_send(());
        }
    });
    Ok(told)
}
