//! One role's way to its endpoint: a call with its tries, its breaker and its counters.
//!
//! Owns the connections and the key. Shared by the threads of the role.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ureq::http::Response;
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, Timeout};

use super::breaker::Breaker;
use super::chat::{Choice, Completion, Request};
use super::config::{Address, Endpoint};
use super::files;
use super::metrics::{Metrics, Role};
use super::retry;
use super::trouble::Trouble;
use crate::domain::Fingerprint;
use crate::seams::ModelError;
use crate::secret::{Secret, scrub};
use crate::stop::Stop;

/// Longest reply that is read: far more than the tokens that are asked for, with their alternatives.
const MAX_REPLY: u64 = 4 << 20;
/// How much of a refusal is quoted.
const MAX_QUOTED: u64 = 2048;
const QUOTED_CHARS: usize = 200;

/// Asks one model of one endpoint.
pub(super) struct Client {
    role: Role,
    endpoint: Endpoint,
    address: Address,
    agent: Agent,
    key: Option<Secret>,
    breaker: Mutex<Breaker>,
    metrics: Metrics,
}

impl Client {
    /// Reads the key and the certificates; makes no connection.
    pub(super) fn new(role: Role, endpoint: &Endpoint, metrics: Metrics) -> Result<Self, ModelError> {
        let refuse = |reason: String| ModelError::Load { model: role.as_str().to_owned(), reason };
        endpoint.check().map_err(|error| refuse(error.to_string()))?;
        let address = endpoint.address().map_err(|error| refuse(error.to_string()))?;
        let key = files::key(endpoint).map_err(refuse)?;
        let agent = agent(endpoint, &address).map_err(refuse)?;
        let breaker = Mutex::new(Breaker::new(endpoint.breaker_failures, endpoint.breaker_pause.0));
        Ok(Self { role, endpoint: endpoint.clone(), address, agent, key, breaker, metrics })
    }

    /// The model's name at the endpoint.
    pub(super) fn model(&self) -> &str {
        &self.endpoint.model
    }

    /// The longest side of a picture that is sent.
    pub(super) fn max_side(&self) -> u32 {
        self.endpoint.max_side
    }

    /// Calls that may be under way at once.
    pub(super) fn concurrency(&self) -> usize {
        self.endpoint.concurrency
    }

    /// The model, the endpoint's host and the version of what we say to it. No path, no key.
    pub(super) fn fingerprint(&self, prompt: &str) -> Fingerprint {
        Fingerprint::new(format!("{}@{}/{prompt}", self.endpoint.model, self.address.authority))
    }

    /// Asks until there is an answer that `read` can use, the tries or the time are used up, or trying is pointless.
    pub(super) fn ask<T>(
        &self,
        request: &Request,
        read: impl Fn(&Choice) -> Result<T, Trouble>,
    ) -> Result<T, ModelError> {
        let model = || format!("{} (remote)", self.role.as_str());
        let body = serde_json::to_vec(request)
            .map_err(|error| ModelError::Run { model: model(), reason: error.to_string() })?;
        let outcome = self.call(&body, read);
        self.metrics.called(self.role, outcome.as_ref().map_or_else(Trouble::outcome, |_| "ok"));
        outcome.map_err(|trouble| trouble.error(model()))
    }

    fn call<T>(&self, body: &[u8], read: impl Fn(&Choice) -> Result<T, Trouble>) -> Result<T, Trouble> {
        self.breaker().admit(Instant::now()).map_err(Trouble::Open)?;
        let outcome = self.tries(body, read);
        let mut breaker = self.breaker();
        match &outcome {
            Ok(_) => breaker.succeeded(),
            Err(_) => breaker.failed(Instant::now()),
        }
        self.metrics.open(self.role, breaker.is_open());
        outcome
    }

    fn tries<T>(&self, body: &[u8], read: impl Fn(&Choice) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let (start, deadline) = (Instant::now(), self.endpoint.deadline.0);
        let left = || deadline.saturating_sub(start.elapsed());
        let mut tried = 0;
        loop {
            let trouble = match self.try_once(body, left().min(self.endpoint.request_timeout.0)) {
                Ok(choice) => match read(&choice) {
                    Ok(value) => return Ok(value),
                    Err(trouble) => trouble,
                },
                Err(trouble) => trouble,
            };
            tried += 1;
            let Some(pause) = retry::pause(&trouble, tried, self.endpoint.retries, left(), fastrand::f64()) else {
                return Err(trouble);
            };
            tracing::debug!(role = self.role.as_str(), %trouble, ms = pause.as_millis(), "a remote call is tried again");
            self.metrics.retried(self.role);
            // Nobody asks for the end: this is a pause that the deadline bounds.
            Stop::new().pause(pause);
        }
    }

    fn try_once(&self, body: &[u8], limit: Duration) -> Result<Choice, Trouble> {
        let mut request = self.agent.post(&self.address.completions).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {}", key.expose()));
        }
        let request = request.config().timeout_global(Some(limit)).build();
        let mut response = request.send(body).map_err(|error| self.trouble(error))?;
        if response.status().is_success() {
            let bytes = response.body_mut().with_config().limit(MAX_REPLY).read_to_vec();
            return choice(&bytes.map_err(|error| self.trouble(error))?);
        }
        Err(self.refusal(response))
    }

    fn refusal(&self, mut response: Response<Body>) -> Trouble {
        let code = response.status().as_u16();
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = header.and_then(|header| retry::retry_after(header, Timestamp::now()));
        // Endpoints like to repeat a wrong key, or most of it.
        let is_about_keys = matches!(code, 401 | 403 | 407);
        let bytes = response.body_mut().with_config().limit(MAX_QUOTED).read_to_vec().unwrap_or_default();
        let said = if is_about_keys { "check key_file".to_owned() } else { quoted(&self.scrubbed(&said(&bytes))) };
        Trouble::Status { code, retry_after, said }
    }

    fn trouble(&self, error: ureq::Error) -> Trouble {
        let text = self.scrubbed(&error.to_string());
        match error {
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                Trouble::Unreachable("no connection in time".to_owned())
            }
            ureq::Error::Timeout(at) => Trouble::Timeout(match at {
                Timeout::SendRequest | Timeout::SendBody => "sending",
                Timeout::RecvResponse => "waiting",
                Timeout::RecvBody => "reading",
                _ => "in all",
            }),
            ureq::Error::BodyExceedsLimit(limit) => Trouble::TooLarge(limit),
            ureq::Error::Io(error) if is_about_connecting(&error) => Trouble::Unreachable(text),
            ureq::Error::Io(_) | ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
                Trouble::Broken(text)
            }
            _ => Trouble::Unreachable(text),
        }
    }

    /// Takes the key and credentials in addresses out of a text.
    fn scrubbed(&self, text: &str) -> String {
        let text = scrub(text);
        match &self.key {
            Some(key) => text.replace(key.expose(), "***"),
            None => text,
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_about_connecting(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, InvalidData, NetworkUnreachable, NotFound,
    };
    // rustls tells a certificate that it does not trust as invalid data.
    matches!(
        error.kind(),
        ConnectionRefused | HostUnreachable | NetworkUnreachable | AddrNotAvailable | NotFound | InvalidData
    )
}

/// The only answer of a reply.
fn choice(bytes: &[u8]) -> Result<Choice, Trouble> {
    let completion: Completion =
        serde_json::from_slice(bytes).map_err(|error| Trouble::unusable(format!("no chat completion: {error}")))?;
    completion.choices.into_iter().next().ok_or_else(|| Trouble::unusable("it holds no choice"))
}

/// The beginning of what was said. It is cut after the key was taken out: a cut key would not be known as one.
fn quoted(said: &str) -> String {
    said.chars().take(QUOTED_CHARS).collect()
}

/// An error's message in one line, as far as it was read.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let json: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let message = json.as_ref().and_then(|json| json.pointer("/error/message")?.as_str());
    let words = message.unwrap_or(&text).split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn agent(endpoint: &Endpoint, address: &Address) -> Result<Agent, String> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        // A request with a key and pictures goes where it was told to, and nowhere else.
        .max_redirects(0)
        .https_only(address.is_https)
        .max_idle_connections_per_host(endpoint.concurrency)
        .max_idle_connections(endpoint.concurrency)
        .user_agent(concat!("groundedvqa/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(endpoint.connect_timeout.0))
        .timeout_connect(Some(endpoint.connect_timeout.0));
    if address.is_https {
        config = config.tls_config(TlsConfig::builder().root_certs(files::roots(endpoint)?).build());
    }
    if address.is_local {
        config = config.proxy(None);
    }
    Ok(config.build().new_agent())
}
