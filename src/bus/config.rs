//! What the bus is told at start, and how credentials are found: in files, or in the address, never in a log.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::config::Span;
use crate::secret::Secret;

use super::BusError;
use super::address;
use super::subjects::Subjects;

/// The `[bus]` section.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Servers of one cluster, separated by commas: `nats://host:4222,nats://other:4222`. May carry `user:password@`
    /// or `token@`; better kept in a file.
    pub url: Secret,
    /// First tokens of every subject.
    pub prefix: String,
    /// User name that goes with `password_file`.
    pub user: Option<String>,
    /// File that holds the password.
    pub password_file: Option<PathBuf>,
    /// File that holds a token.
    pub token_file: Option<PathBuf>,
    /// A `.creds` file: user JWT and seed.
    pub creds_file: Option<PathBuf>,
    /// File that holds an NKey seed (`SU…`).
    pub nkey_seed_file: Option<PathBuf>,
    /// Certificate authority to trust, PEM.
    pub tls_ca: Option<PathBuf>,
    /// Own certificate, PEM; goes with `tls_key`.
    pub tls_cert: Option<PathBuf>,
    /// Own key, PEM; goes with `tls_cert`.
    pub tls_key: Option<PathBuf>,
    /// Refuse servers without TLS.
    pub tls_required: bool,
    /// Questions and verifications at work at once; more are answered `busy`.
    pub max_questions: usize,
    /// Searches and frames at work at once; more are answered `busy`.
    pub max_lookups: usize,
    /// How long a request may take unless it says otherwise.
    pub deadline: Span,
    /// The most a request may ask for.
    pub max_deadline: Span,
    /// Longest request body; longer ones are refused unread.
    pub max_request_bytes: usize,
    /// Largest evidence picture that is published; the server's max payload bounds it further.
    pub max_evidence_bytes: usize,
    /// Captions and state changes kept while the server is away; the oldest go first.
    pub outbox_events: usize,
    /// Bytes of verdicts and evidence kept while the server is away; the oldest go first.
    pub outbox_verdict_bytes: usize,
    /// Beginnings of addresses that streams added over the bus may have, such as `rtsp://10.0.0.11/` or `rtsps://`. Empty:
    /// nobody can add, change or remove streams over the bus.
    pub manage_allow: Vec<String>,
    /// Directory of the files that such streams may name as `password_file`; without it none may.
    pub manage_passwords: Option<PathBuf>,
    /// Most streams that are watched at once because they were added over the bus.
    pub manage_streams: usize,
    /// How long requests at work and unsent events are waited for at the end.
    pub grace: Span,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            url: Secret::new("nats://127.0.0.1:4222"),
            prefix: "gvqa".to_owned(),
            user: None,
            password_file: None,
            token_file: None,
            creds_file: None,
            nkey_seed_file: None,
            tls_ca: None,
            tls_cert: None,
            tls_key: None,
            tls_required: false,
            max_questions: 8,
            max_lookups: 8,
            deadline: Span(Duration::from_mins(1)),
            max_deadline: Span(Duration::from_mins(10)),
            max_request_bytes: 64 * 1024,
            max_evidence_bytes: 512 * 1024,
            outbox_events: 1024,
            outbox_verdict_bytes: 64 * 1024 * 1024,
            manage_allow: Vec::new(),
            manage_passwords: None,
            manage_streams: 32,
            grace: Span(Duration::from_secs(10)),
        }
    }
}

impl Config {
    /// Says what is wrong before anything is connected. Files are looked at, so that a missing one is found at once.
    pub fn check(&self) -> Result<(), BusError> {
        Subjects::new(&self.prefix)?;
        self.credentials()?;
        let counts = [
            ("max_questions", self.max_questions),
            ("max_lookups", self.max_lookups),
            ("max_request_bytes", self.max_request_bytes),
            ("outbox_events", self.outbox_events),
        ];
        if let Some((key, _)) = counts.into_iter().find(|(_, value)| *value == 0) {
            return Err(BusError::Key { key, reason: "must not be 0".to_owned() });
        }
        if self.deadline > self.max_deadline {
            return Err(BusError::Key { key: "deadline", reason: "is longer than max_deadline".to_owned() });
        }
        if let Some(beginning) = self.manage_allow.iter().find(|text| !is_beginning(text)) {
            let shown = crate::secret::scrub(beginning);
            let reason = format!("holds {shown:?}, which is no scheme:// and no scheme://host/ with its slash");
            return Err(BusError::Key { key: "manage_allow", reason });
        }
        if self.manage_passwords.as_ref().is_some_and(|dir| !dir.is_dir()) {
            return Err(key("manage_passwords", "is not a directory"));
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return Err(BusError::Key { key: "tls_cert", reason: "needs tls_key, and the reverse".to_owned() });
        }
        check_pem("tls_ca", self.tls_ca.as_deref(), "CERTIFICATE")?;
        check_pem("tls_cert", self.tls_cert.as_deref(), "CERTIFICATE")?;
        check_pem("tls_key", self.tls_key.as_deref(), "PRIVATE KEY")?;
        Ok(())
    }

    /// The servers without credentials.
    pub(super) fn servers(&self) -> Result<Vec<String>, BusError> {
        Ok(address::parse(self.url.expose())?.servers)
    }

    /// The one way to log in, read from its file.
    pub(super) fn credentials(&self) -> Result<Login, BusError> {
        let mut ways = Vec::new();
        if let Some(login) = address::parse(self.url.expose())?.login {
            ways.push(("url", login));
        }
        if let Some(file) = &self.password_file {
            let user = self.user.clone().ok_or_else(|| key("password_file", "needs user"))?;
            ways.push(("password_file", Login::Password { user, password: read("password_file", file)? }));
        } else if self.user.is_some() {
            return Err(key("user", "needs password_file"));
        }
        if let Some(file) = &self.token_file {
            ways.push(("token_file", Login::Token(read("token_file", file)?)));
        }
        if let Some(file) = &self.creds_file {
            ways.push(("creds_file", Login::Creds(read("creds_file", file)?)));
        }
        if let Some(file) = &self.nkey_seed_file {
            ways.push(("nkey_seed_file", Login::NkeySeed(read("nkey_seed_file", file)?)));
        }
        match ways.as_slice() {
            [_, (second, _), ..] => Err(key(second, "is a second way to log in: keep one")),
            _ => Ok(ways.pop().map_or(Login::Anonymous, |(_, login)| login)),
        }
    }
}

/// How to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Login {
    /// Not at all.
    Anonymous,
    /// With a user name and a password.
    Password { user: String, password: Secret },
    /// With a token.
    Token(Secret),
    /// With the text of a `.creds` file.
    Creds(Secret),
    /// With the seed of an NKey.
    NkeySeed(Secret),
}

/// A scheme, or a scheme with a host and perhaps a path, up to a slash: `rtsp://10.0.0.1` would also allow
/// `rtsp://10.0.0.100/`.
fn is_beginning(text: &str) -> bool {
    text.ends_with('/')
        && text.split_once("://").is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.contains('@'))
}

fn key(key: &'static str, reason: &str) -> BusError {
    BusError::Key { key, reason: reason.to_owned() }
}

/// The file without the line end that editors add.
fn read(key: &'static str, file: &Path) -> Result<Secret, BusError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| BusError::Key { key, reason: format!("{} cannot be read: {error}", file.display()) })?;
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(BusError::Key { key, reason: format!("{} is empty", file.display()) });
    }
    Ok(Secret::new(text))
}

/// A file that holds none would be found out only when the server is there, and then again and again.
fn check_pem(key: &'static str, file: Option<&Path>, what: &str) -> Result<(), BusError> {
    let Some(file) = file else { return Ok(()) };
    let shown = file.display();
    let text = std::fs::read(file)
        .map_err(|error| BusError::Key { key, reason: format!("{shown} cannot be read: {error}") })?;
    let end = format!("{what}-----");
    let is_there = String::from_utf8_lossy(&text)
        .lines()
        .any(|line| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(&end));
    let reason = format!("{shown} holds no {} in PEM", what.to_lowercase());
    if is_there { Ok(()) } else { Err(BusError::Key { key, reason }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dir: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("writable");
        path
    }

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bus").join(name)
    }

    #[test]
    fn the_default_is_valid_and_anonymous() {
        let config = Config::default();
        config.check().expect("valid");
        let own = (Some(fixture("client.pem")), Some(fixture("client.key")));
        let tls = Config { tls_ca: Some(fixture("ca.pem")), tls_cert: own.0, tls_key: own.1, ..Config::default() };
        tls.check().expect("valid");
        assert_eq!(config.credentials().expect("valid"), Login::Anonymous);
    }

    #[test]
    fn one_way_to_log_in() {
        let dir = tempfile::tempdir().expect("temp dir");
        let password_file = Some(file(&dir, "password", "hunter2\n"));
        let with_user = Config { user: Some("me".to_owned()), password_file, ..Config::default() };
        let due = Login::Password { user: "me".to_owned(), password: Secret::new("hunter2") };
        assert_eq!(with_user.credentials().expect("valid"), due);
        let two = Config { token_file: Some(file(&dir, "token", "t")), ..with_user.clone() };
        assert!(two.check().expect_err("two ways").to_string().contains("token_file"));
        let in_url = Config { url: Secret::new("nats://me:x@localhost"), ..with_user };
        assert!(in_url.check().is_err());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let dir = tempfile::tempdir().expect("temp dir");
        let cases = [
            (Config { max_questions: 0, ..Config::default() }, "max_questions"),
            (Config { deadline: Span(Duration::from_secs(9999)), ..Config::default() }, "deadline"),
            (Config { tls_key: Some("k".into()), ..Config::default() }, "tls_cert"),
            (
                Config { tls_ca: Some("/nowhere/ca.pem".into()), ..Config::default() },
                "tls_ca /nowhere/ca.pem cannot be",
            ),
            (Config { tls_ca: Some(file(&dir, "ca", "hunter2")), ..Config::default() }, "tls_ca"),
            (
                Config { tls_cert: Some(fixture("client.pem")), tls_key: Some(fixture("ca.pem")), ..Config::default() },
                "ca.pem holds no private key",
            ),
            (Config { user: Some("u".into()), ..Config::default() }, "user"),
            (Config { password_file: Some("p".into()), ..Config::default() }, "password_file"),
            (Config { token_file: Some("/nowhere/token".into()), ..Config::default() }, "token_file"),
            (Config { creds_file: Some(file(&dir, "empty", "\n")), ..Config::default() }, "creds_file"),
            (Config { prefix: "a.*".into(), ..Config::default() }, "prefix"),
            (Config { manage_allow: vec!["rtsp://10.0.0.1".into()], ..Config::default() }, "manage_allow"),
            (Config { manage_allow: vec!["/".into()], ..Config::default() }, "manage_allow"),
            (Config { manage_allow: vec!["rtsp://u:hunter2@h/".into()], ..Config::default() }, "manage_allow"),
            (Config { manage_passwords: Some("/nowhere".into()), ..Config::default() }, "manage_passwords"),
            (Config { url: Secret::new("http://x"), ..Config::default() }, "url"),
        ];
        for (config, key) in cases {
            let error = config.check().expect_err("invalid").to_string();
            assert!(error.contains(key) && !error.contains("hunter2"), "{error:?} does not name {key} alone");
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        let error = toml::from_str::<Config>("urll = 'nats://x'").expect_err("refused").to_string();
        assert!(error.contains("urll"), "{error}");
        let config: Config = toml::from_str("url = 'nats://u:secret@h'\ndeadline = '5s'").expect("valid");
        assert!(!format!("{config:?}").contains("secret"));
    }
}
