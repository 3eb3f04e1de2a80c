//! Where a remote model is, and how patient we are with it. Owns no state.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use ureq::http::Uri;

use crate::config::{SecretFile, Span};

/// One remote model: `kind = "remote"` in `[models.captioner]`, `[models.drafter]`, `[models.judge]` or
/// `[models.chat_judge]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Endpoint {
    /// The address up to, and without, `/chat/completions`, such as `https://gpu.example/v1`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The file that holds the key; without it none is sent.
    pub key_file: Option<SecretFile>,
    /// A PEM file of certificates that are trusted for this address instead of the system's.
    pub tls_ca: Option<PathBuf>,
    /// Longest wait for a name and a connection.
    pub connect_timeout: Span,
    /// Longest single try, from the first byte sent to the last byte received.
    pub request_timeout: Span,
    /// Longest call with all its tries and pauses.
    pub deadline: Span,
    /// Tries after the first one.
    pub retries: u32,
    /// Calls under way at once.
    pub concurrency: usize,
    /// Calls that may fail one after the other before no more are made for `breaker_pause`.
    pub breaker_failures: u32,
    /// How long no calls are made then.
    pub breaker_pause: Span,
    /// Longest side of a picture that is sent; larger ones are scaled down.
    pub max_side: u32,
}

impl Default for Endpoint {
    fn default() -> Self {
        let seconds = |seconds| Span(Duration::from_secs(seconds));
        Self {
            url: String::new(),
            model: String::new(),
            key_file: None,
            tls_ca: None,
            connect_timeout: seconds(5),
            request_timeout: seconds(30),
            deadline: seconds(60),
            retries: 2,
            concurrency: 4,
            breaker_failures: 5,
            breaker_pause: seconds(30),
            max_side: 1280,
        }
    }
}

/// A value that cannot be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {problem}")]
pub struct EndpointError {
    /// The key inside the section.
    pub key: &'static str,
    /// What to write instead.
    pub problem: &'static str,
}

/// An address that was taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Where chat completions are asked for.
    pub(super) completions: String,
    /// Host and, if it was written, port.
    pub(super) authority: String,
    pub(super) is_https: bool,
    /// Whether it is this machine.
    pub(super) is_local: bool,
}

impl Endpoint {
    /// Refuses what could not work. Reads no file.
    pub fn check(&self) -> Result<(), EndpointError> {
        let address = self.address()?;
        let may_send = self.key_file.is_none() || address.is_https || address.is_local;
        let span = |span: Span| !span.0.is_zero() && span.0 <= Duration::from_hours(1);
        let rules = [
            ("model", !self.model.trim().is_empty(), "is missing: write the model's name at the endpoint"),
            ("key_file", may_send, "is refused: a key is sent over https or to this machine only"),
            ("connect_timeout", span(self.connect_timeout), "must be longer than 0s and at most an hour"),
            ("request_timeout", span(self.request_timeout), "must be longer than 0s and at most an hour"),
            ("deadline", span(self.deadline), "must be longer than 0s and at most an hour"),
            ("retries", self.retries <= 10, "must be at most 10"),
            ("concurrency", (1..=256).contains(&self.concurrency), "must be between 1 and 256"),
            ("breaker_failures", self.breaker_failures >= 1, "must be at least 1"),
            ("breaker_pause", span(self.breaker_pause), "must be longer than 0s and at most an hour"),
            ("max_side", (64..=8192).contains(&self.max_side), "must be between 64 and 8192"),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((key, _, problem)) => Err(EndpointError { key, problem }),
            None => Ok(()),
        }
    }

    /// Takes the address apart. The refusals do not quote it: it may hold a password.
    pub(super) fn address(&self) -> Result<Address, EndpointError> {
        let refuse = |problem| EndpointError { key: "url", problem };
        if self.url.is_empty() {
            return Err(refuse("is missing: write an address such as \"https://gpu.example/v1\""));
        }
        let uri: Uri = self.url.parse().map_err(|_| refuse("is not an address such as \"https://gpu.example/v1\""))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(refuse("must begin with https:// or http://"));
        };
        if !matches!(scheme, "https" | "http") {
            return Err(refuse("must begin with https:// or http://"));
        }
        if authority.as_str().contains('@') {
            return Err(refuse("holds credentials: write the key into a file and its path into key_file"));
        }
        if uri.query().is_some() {
            return Err(refuse("holds a question mark: write it without parameters"));
        }
        let path = uri.path().trim_end_matches('/');
        if path.ends_with("/chat/completions") {
            return Err(refuse("must end before /chat/completions"));
        }
        Ok(Address {
            completions: format!("{scheme}://{authority}{path}/chat/completions"),
            authority: authority.to_string(),
            is_https: scheme == "https",
            is_local: is_local(authority.host()),
        })
    }
}

pub(crate) fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint { url: url.into(), model: "m".into(), ..Endpoint::default() }
    }

    #[test]
    fn addresses_are_taken_apart() {
        for (url, completions, authority, is_local) in [
            ("https://gpu.example/v1", "https://gpu.example/v1/chat/completions", "gpu.example", false),
            ("https://gpu.example:8443/v1/", "https://gpu.example:8443/v1/chat/completions", "gpu.example:8443", false),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/chat/completions", "127.0.0.1:8080", true),
            ("http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions", "[::1]:8080", true),
            ("http://localhost/v1", "http://localhost/v1/chat/completions", "localhost", true),
        ] {
            let address = endpoint(url).address().expect(url);
            let read = (address.completions.as_str(), address.authority.as_str(), address.is_local);
            assert_eq!(read, (completions, authority, is_local));
        }
    }

    #[test]
    fn what_cannot_work_is_refused_by_key() {
        let key = || Some(SecretFile::new("key"));
        let table = [
            (Endpoint::default(), "url is missing"),
            (endpoint("gpu.example"), "url must begin with https:// or http://"),
            (endpoint("ftp://gpu.example/v1"), "url must begin with https:// or http://"),
            (endpoint("https://user:hunter2@gpu.example/v1"), "url holds credentials"),
            (endpoint("https://gpu.example/v1?key=hunter2"), "url holds a question mark"),
            (endpoint("https://gpu.example/v1/chat/completions"), "url must end before /chat/completions"),
            (endpoint("http://a b"), "url is not an address"),
            (Endpoint { model: " ".into(), ..endpoint("https://h/v1") }, "model is missing"),
            (Endpoint { key_file: key(), ..endpoint("http://gpu.example/v1") }, "key_file is refused"),
            (Endpoint { concurrency: 0, ..endpoint("https://h/v1") }, "concurrency must be between"),
            (Endpoint { deadline: Span(Duration::ZERO), ..endpoint("https://h/v1") }, "deadline must be"),
            (Endpoint { max_side: 1, ..endpoint("https://h/v1") }, "max_side must be"),
        ];
        for (endpoint, due) in table {
            let refused = endpoint.check().expect_err(due).to_string();
            assert!(refused.starts_with(due) && !refused.contains("hunter2"), "{refused:?} instead of {due:?}");
        }
        for url in ["https://gpu.example/v1", "http://127.0.0.1:1/v1"] {
            Endpoint { key_file: key(), ..endpoint(url) }.check().expect("a key may go there");
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        let refused = toml::from_str::<Endpoint>("url = 'https://h/v1'\nretrys = 1").expect_err("misspelt");
        assert!(refused.to_string().contains("retrys"), "{refused}");
    }
}
