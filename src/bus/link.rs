//! The connection to NATS: how it is made, and whether it is up.
//!
//! The client library tells of ups and downs through events that may be lost when there are many, so an event only
//! wakes those who wait; what counts is the connection's own state.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event};
use futures::StreamExt;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::config::Login;
use super::quiet::Quiet;
use super::{BusError, Config, Metrics};

/// How often the state is looked at although nothing was heard.
const LOOK: Duration = Duration::from_millis(500);
/// Unanswered pings take a dead server (not a closed one) at most three of these to be noticed.
const PING: Duration = Duration::from_secs(15);
/// Requests that wait to be decoded, per endpoint. Decoding takes microseconds, so this is a burst, not a queue.
const BURST: usize = 4096;
/// Longest wait for a message to oneself where its coming back is not needed.
pub(super) const SETTLED: Duration = Duration::from_secs(2);
/// Slowest reconnection attempt.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A connection. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Link {
    client: Client,
    news: Arc<Notify>,
    metrics: Metrics,
}

impl Link {
    /// A connection that comes up now or later and is kept up: for the daemon.
    pub(super) async fn keep(cfg: &Config, metrics: Metrics) -> Result<Self, BusError> {
        let news = Arc::new(Notify::new());
        let options = options(cfg)?
            .name(format!("groundedvqa {}", env!("CARGO_PKG_VERSION")))
            .retry_on_initial_connect()
            .max_reconnects(None)
            .reconnect_delay_callback(|attempt| pause_before(attempt, fastrand::f64()))
            .event_callback({
                let (news, metrics, objections) = (Arc::clone(&news), metrics.clone(), Quiet::default());
                move |event| {
                    hear(&event, &news, &metrics, &objections);
                    std::future::ready(())
                }
            });
        let client = options.connect(cfg.servers()?).await.map_err(connect_error)?;
        Ok(Self { client, news, metrics })
    }

    /// The client library's handle.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the connection is up.
    pub(super) fn is_up(&self) -> bool {
        let up = self.client.connection_state() == State::Connected;
        self.metrics.connected(up);
        up
    }

    /// Returns when the connection is up.
    pub(super) async fn up(&self) {
        while !self.is_up() {
            // A lost event costs one look.
            let _ = timeout(LOOK, self.news.notified()).await;
        }
    }

    /// How many times the connection came up: two equal readings around a piece of work say that it was one life.
    pub(super) fn lives(&self) -> u64 {
        self.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// Largest message the server takes; 1 MiB before the first connection.
    pub(super) fn max_payload(&self) -> usize {
        self.client.max_payload()
    }

    /// Ends every subscription and the connection, once what was published is on its way.
    pub(super) async fn close(&self, grace: Duration) {
        if !self.is_up() {
            return;
        }
        // Draining may close before everything written has left; after a round trip nothing is on the way any more.
        let _ = timeout(grace.min(SETTLED), round_trip(&self.client)).await;
        let closed = async {
            let _ = self.client.drain().await;
            // Fails once the connection has ended.
            while self.client.flush().await.is_ok() {
                let _ = timeout(Duration::from_millis(20), self.news.notified()).await;
            }
        };
        if timeout(grace, closed).await.is_err() {
            tracing::warn!("the NATS connection did not close in time");
        }
    }
}

/// A connection for one conversation: fails if no server answers.
pub(super) async fn connect_once(cfg: &Config) -> Result<Client, BusError> {
    let options = options(cfg)?.name("groundedvqa client").max_reconnects(Some(3));
    options.connect(cfg.servers()?).await.map_err(connect_error)
}

/// Whether a message to oneself came back: then the server has seen everything sent before on this connection.
pub(super) async fn round_trip(client: &Client) -> bool {
    let inbox = client.new_inbox();
    let Ok(mut echo) = client.subscribe(inbox.clone()).await else { return false };
    client.publish(inbox, "".into()).await.is_ok() && echo.next().await.is_some()
}

fn options(cfg: &Config) -> Result<ConnectOptions, BusError> {
    let mut options = ConnectOptions::new()
        .ping_interval(PING)
        .connection_timeout(Duration::from_secs(5))
        .subscription_capacity(BURST)
        .require_tls(cfg.tls_required);
    if let Some(ca) = &cfg.tls_ca {
        options = options.add_root_certificates(ca.clone());
    }
    if let (Some(cert), Some(key)) = (&cfg.tls_cert, &cfg.tls_key) {
        options = options.add_client_certificate(cert.clone(), key.clone());
    }
    Ok(match cfg.credentials()? {
        Login::Anonymous => options,
        Login::Password { user, password } => options.user_and_password(user, password.expose().to_owned()),
        Login::Token(token) => options.token(token.expose().to_owned()),
        Login::NkeySeed(seed) => options.nkey(seed.expose().trim().to_owned()),
        // The library wants the line end that was trimmed. The cause may repeat what it failed to read.
        Login::Creds(text) => options.credentials(&format!("{}\n", text.expose())).map_err(|_| BusError::Key {
            key: "creds_file",
            reason: "holds no user JWT with its seed: make one with `nsc generate creds`".to_owned(),
        })?,
    })
}

fn connect_error(error: async_nats::ConnectError) -> BusError {
    BusError::Connect(crate::secret::scrub(&error.to_string()))
}

fn hear(event: &Event, news: &Notify, metrics: &Metrics, objections: &Quiet) {
    match event {
        Event::Connected => {
            metrics.connected(true);
            tracing::info!("connected to NATS");
        }
        Event::Disconnected => {
            metrics.connected(false);
            tracing::warn!("disconnected from NATS, reconnecting");
        }
        Event::SlowConsumer(_) => metrics.slow_consumer(),
        Event::ServerError(error) => {
            if let Some(swallowed) = objections.speak() {
                tracing::warn!(error = %error, swallowed, "the NATS server objects");
            }
        }
        Event::ClientError(error) => tracing::debug!(error = %error, "the NATS client objects"),
        Event::LameDuckMode => tracing::info!("the NATS server is about to end"),
        Event::Draining | Event::Closed => {}
    }
    news.notify_waiters();
}

/// Exponential from 50 ms with full jitter above half, so that daemons of one site do not come back together.
/// `luck` is in [0, 1).
fn pause_before(attempt: usize, luck: f64) -> Duration {
    if attempt <= 1 {
        return Duration::ZERO;
    }
    let doublings = u32::try_from(attempt - 2).unwrap_or(u32::MAX).min(10);
    let longest = (Duration::from_millis(50) * 2_u32.pow(doublings)).min(LONGEST_PAUSE);
    longest.mul_f64(0.5 + 0.5 * luck)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded() {
        assert_eq!(pause_before(1, 0.9), Duration::ZERO);
        assert_eq!(pause_before(2, 0.0), Duration::from_millis(25));
        assert_eq!(pause_before(5, 0.0), Duration::from_millis(200));
        for attempt in [20, usize::MAX] {
            assert!(pause_before(attempt, 0.999) <= LONGEST_PAUSE);
            assert!(pause_before(attempt, 0.0) >= LONGEST_PAUSE / 2);
        }
    }
}
