//! One GET after the other until somebody sends the file.

use std::io::Read;

use ureq::http::{HeaderMap, Response, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::error::{HubError, refusal};
use super::{Hub, Wanted};
use crate::models::manifest::Sha;
use crate::remote::{is_local, system_roots};
use crate::secret::{Secret, scrub};

/// A repository that was renamed sends once, its store of large files once more.
const MOST_REDIRECTS: usize = 6;

/// What the hub tells of a file before it sends it.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The commit that the revision leads to.
    pub(super) commit: Option<String>,
    /// Changes with the content.
    pub(super) tag: Option<String>,
    /// Its digest, which large files have.
    pub(super) sha256: Option<Sha>,
    /// Its whole size.
    pub(super) bytes: Option<u64>,
}

/// A file, or the rest of it, that is being sent.
pub(super) struct Answer {
    pub(super) told: Told,
    /// The first byte that is sent.
    pub(super) start: u64,
    pub(super) body: Box<dyn Read>,
}

/// Asks one hub.
pub(super) struct Client<'a> {
    agent: Agent,
    endpoint: &'a str,
    token: Option<&'a Secret>,
}

impl<'a> Client<'a> {
    pub(super) fn new(hub: &'a Hub) -> Result<Self, HubError> {
        let uri: Option<Uri> = hub.endpoint.parse().ok();
        let is_local = uri.as_ref().and_then(Uri::host).is_some_and(is_local);
        if hub.token.is_some() && hub.endpoint.starts_with("http:") && !is_local {
            return Err(HubError::TokenInTheOpen);
        }
        let roots = system_roots();
        if roots.is_none() && hub.endpoint.starts_with("https:") {
            let none = "this system has no certificates: install ca-certificates";
            return Err(HubError::Unreachable(none.to_owned()));
        }
        let roots = roots.unwrap_or_else(|| RootCerts::from(Vec::new()));
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_connect(Some(hub.patience))
            .timeout_recv_response(Some(hub.patience))
            .timeout_per_read(Some(hub.patience))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .user_agent(concat!("groundedvqa/", env!("CARGO_PKG_VERSION")))
            .build();
        let endpoint = hub.endpoint.trim_end_matches('/');
        Ok(Self { agent: config.into(), endpoint, token: hub.token.as_ref() })
    }

    /// Asks for the file from the byte on that `have` says is missing of the content with a given tag.
    pub(super) fn open(&self, wanted: &Wanted<'_>, have: impl Fn(&str) -> u64) -> Result<Answer, HubError> {
        let asked = wanted.commit.as_deref().unwrap_or(&wanted.repository.revision);
        let revision = asked.replace('/', "%2F");
        let mut url = format!("{}/{}/resolve/{revision}/{}", self.endpoint, wanted.repository.name, wanted.file.path);
        let (mut told, mut offset) = (Told::default(), 0);
        for _ in 0..MOST_REDIRECTS {
            let response = self.get(&url, offset)?;
            told.learn(response.headers());
            let kept = told.tag.as_deref().map_or(0, &have);
            let status = response.status().as_u16();
            if matches!(status, 200 | 206 | 416) {
                told.is_from_a_hub(asked)?;
            }
            match status {
                200 | 206 if is_page(response.headers()) => return Err(HubError::NotAHub("it sends a page of HTML")),
                301 | 302 | 303 | 307 | 308 => {
                    url = redirect(&url, response.headers())?;
                    offset = kept;
                }
                // Sent at once, and a beginning of it is here: only the rest.
                200 if offset == 0 && kept > 0 => offset = kept,
                200 if !told.is_measured(wanted, response.headers()) => return Err(HubError::Unmeasured),
                200 => return Ok(told.answer(0, response)),
                206 if first_byte(response.headers()) == Some(offset) => return Ok(told.answer(offset, response)),
                // Nothing is missing.
                416 if offset > 0 => return Ok(Answer { told, start: offset, body: Box::new(std::io::empty()) }),
                _ => {
                    let code = text(response.headers(), "x-error-code").unwrap_or_default();
                    return Err(refusal(status, &code, text(response.headers(), "retry-after")));
                }
            }
        }
        Err(HubError::Redirect(format!("more than {MOST_REDIRECTS} times")))
    }

    fn get(&self, url: &str, offset: u64) -> Result<Response<Body>, HubError> {
        let mut request = self.agent.get(url).header("accept-encoding", "identity");
        if offset > 0 {
            request = request.header("range", format!("bytes={offset}-"));
        }
        if let Some(token) = self.token.filter(|_| origin(url).is_some() && origin(url) == origin(self.endpoint)) {
            request = request.header("authorization", format!("Bearer {}", token.expose()));
        }
        request.call().map_err(|error| HubError::Unreachable(scrub(&error.to_string())))
    }
}

impl Told {
    /// Takes what the headers add; the first to speak is the hub, those after it are its stores.
    fn learn(&mut self, headers: &HeaderMap) {
        let linked = text(headers, "x-linked-etag");
        if self.commit.is_none() {
            self.commit = text(headers, "x-repo-commit");
        }
        if let Some(tag) = &linked {
            self.sha256 = Sha::try_from(plain(tag)).ok();
            self.tag = Some(plain(tag));
        } else if self.tag.is_none() {
            self.tag = text(headers, "etag").map(|tag| plain(&tag));
        }
        if self.bytes.is_none() {
            self.bytes = text(headers, "x-linked-size").and_then(|size| size.parse().ok());
        }
    }

    /// Refuses a sender that no hub led to, and a hub that leads to another commit than the one `asked` for.
    fn is_from_a_hub(&self, asked: &str) -> Result<(), HubError> {
        let named = self.commit.as_deref().filter(|commit| !commit.is_empty() && is_hex(commit));
        let sent = named.ok_or(HubError::NotAHub("it names no commit (X-Repo-Commit)"))?;
        if is_commit(asked) && !asked.eq_ignore_ascii_case(sent) {
            return Err(HubError::OtherCommit { asked: asked.to_owned(), sent: sent.to_owned() });
        }
        Ok(())
    }

    /// Whether a file that breaks off can be told from a whole one: by its length, its checksum, or the marks between its
    /// parts.
    fn is_measured(&self, wanted: &Wanted<'_>, headers: &HeaderMap) -> bool {
        let known = self.bytes.is_some() || self.sha256.is_some() || wanted.file.sha256.is_some();
        known || headers.contains_key("content-length") || headers.contains_key("transfer-encoding")
    }

    fn answer(mut self, start: u64, response: Response<Body>) -> Answer {
        let length = text(response.headers(), "content-length").and_then(|length| length.parse::<u64>().ok());
        self.bytes = self.bytes.or(length.map(|length| start + length));
        Answer { told: self, start, body: Box::new(response.into_body().into_reader()) }
    }
}

/// Whether `revision` is a whole commit and no branch or tag.
pub(super) fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && is_hex(revision)
}

fn is_hex(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Whether a page for people is sent: no file of a model is one.
fn is_page(headers: &HeaderMap) -> bool {
    let kind = text(headers, "content-type").unwrap_or_default().to_lowercase();
    kind.starts_with("text/html") || kind.starts_with("application/xhtml")
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// A tag without its quotes and its mark of weakness.
fn plain(tag: &str) -> String {
    tag.trim_start_matches("W/").trim_matches('"').to_owned()
}

/// The first byte of `bytes 100-199/200`.
fn first_byte(headers: &HeaderMap) -> Option<u64> {
    text(headers, "content-range")?.strip_prefix("bytes ")?.split('-').next()?.parse().ok()
}

/// Scheme and host.
fn origin(url: &str) -> Option<(String, String)> {
    let uri: Uri = url.parse().ok()?;
    Some((uri.scheme_str()?.to_lowercase(), uri.authority()?.as_str().to_lowercase()))
}

/// Where an answer sends.
fn redirect(from: &str, headers: &HeaderMap) -> Result<String, HubError> {
    let to = text(headers, "location").ok_or_else(|| HubError::Redirect("without an address".to_owned()))?;
    let (scheme, host) = origin(from).ok_or_else(|| HubError::Redirect("from no address".to_owned()))?;
    if to.starts_with('/') && !to.starts_with("//") {
        return Ok(format!("{scheme}://{host}{to}"));
    }
    match origin(&to) {
        Some((next, _)) if next == "https" || (next == "http" && scheme == "http") => Ok(to),
        // The address may be signed: it is not told.
        Some((next, host)) => Err(HubError::Redirect(format!("from {scheme} to {next}://{host}"))),
        None => Err(HubError::Redirect("to no address".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(to: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("location", to.parse().expect("a header"));
        headers
    }

    #[test]
    fn redirects_never_leave_https() {
        let from = "https://hub.example/a/resolve/main/m";
        for (to, expected) in [
            ("/b/resolve/main/m", Some("https://hub.example/b/resolve/main/m")),
            ("https://store.example/x?sig=1", Some("https://store.example/x?sig=1")),
            ("http://store.example/x?sig=secret", None),
            ("//store.example/x", None),
            ("ftp://store.example/x", None),
            ("m2", None),
        ] {
            let got = redirect(from, &location(to));
            assert_eq!(got.as_deref().ok(), expected, "{to}");
            assert!(!got.is_err_and(|error| error.to_string().contains("secret")));
        }
        assert_eq!(redirect("http://h:1/a", &location("http://h:2/b")).as_deref(), Ok("http://h:2/b"));
        assert_eq!(origin("HTTPS://Hub.example/x"), origin("https://hub.example"));
        assert_ne!(origin("https://hub.example:8443/x"), origin("https://hub.example/x"));
    }

    #[test]
    fn answers_are_understood() {
        for (status, code, expected) in [
            (401, "", HubError::Unauthorized { status: 401 }),
            (403, "GatedRepo", HubError::Gated),
            (401, "RepoNotFound", HubError::NoRepository),
            (404, "RevisionNotFound", HubError::NoRevision),
            (404, "EntryNotFound", HubError::NoFile),
            (404, "", HubError::NoFile),
            (503, "", HubError::Status { status: 503 }),
            (206, "", HubError::Status { status: 206 }),
        ] {
            assert_eq!(refusal(status, code, None), expected);
        }
    }
}
