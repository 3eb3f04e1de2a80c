//! A value that cannot be printed.

use std::fmt;

use serde::Deserialize;

/// A password, token or URL with credentials. `Debug` and `Display` show `***`; reading it takes a word: `expose`.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself; hand it to a protocol, never to a log.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Replaces what stands between `://` and `@` in any address inside `text`, for messages of foreign libraries.
pub fn scrub(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        let end = tail.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>')).unwrap_or(tail.len());
        // The last `@` before the end: a raw `@` or `/` in a password must not leak its tail.
        match tail[..end].rfind('@') {
            Some(sign) => {
                out.push_str("***");
                rest = &tail[sign..];
            }
            None => rest = tail,
        }
    }
    out.push_str(rest);
    out
}

/// [`scrub`], and what follows `Basic ` in an HTTP or RTSP header, for logs of foreign libraries.
pub fn scrub_log(text: &str) -> String {
    let text = scrub(text);
    let mut parts = text.split("Basic ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end =
            part.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='))).unwrap_or(part.len());
        out.push_str("Basic ***");
        out.push_str(&part[end..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_print() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn addresses_lose_their_credentials() {
        let text = "Connecting to rtsp://cam:p@ss/w@10.0.0.1/live and http://h/x";
        assert_eq!(scrub(text), "Connecting to rtsp://***@10.0.0.1/live and http://h/x");
        assert_eq!(scrub("nothing here"), "nothing here");
    }

    #[test]
    fn headers_lose_their_credentials() {
        let text = "Authorization: Basic dXNlcjpwdw==\r\nfrom http://u:p@h/a: 'Basic cGFzcw', Basic";
        assert_eq!(scrub_log(text), "Authorization: Basic ***\r\nfrom http://***@h/a: 'Basic ***', Basic");
    }
}
