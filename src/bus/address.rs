//! Server addresses as people write them. The client library ignores credentials in an address, so they are taken
//! out here and handed over the proper way; no error of this file repeats them.

use super::BusError;
use super::config::Login;
use crate::secret::Secret;

const SCHEMES: [&str; 4] = ["nats", "tls", "ws", "wss"];

/// Addresses without credentials, and the credentials.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Addresses {
    pub(super) servers: Vec<String>,
    pub(super) login: Option<Login>,
}

/// Splits a comma list. All servers of a list belong to one cluster: two different logins are refused.
pub(super) fn parse(list: &str) -> Result<Addresses, BusError> {
    let mut servers = Vec::new();
    let mut login: Option<Login> = None;
    for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let (server, own) = split(text)?;
        servers.push(server);
        match (&login, own) {
            (Some(first), Some(own)) if *first != own => return Err(wrong("holds two different logins")),
            (_, Some(own)) => login = Some(own),
            (_, None) => {}
        }
    }
    if servers.is_empty() { Err(wrong("is empty")) } else { Ok(Addresses { servers, login }) }
}

fn split(text: &str) -> Result<(String, Option<Login>), BusError> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("nats", text));
    if !SCHEMES.contains(&scheme) {
        return Err(wrong("starts with something else than nats://, tls://, ws:// or wss://"));
    }
    // The last `@`: a raw one in a password must not become part of the host.
    let (login, host) = match rest.rsplit_once('@') {
        Some((userinfo, host)) => (Some(parse_login(userinfo)?), host),
        None => (None, rest),
    };
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(wrong("has no host"));
    }
    if port(host).is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(wrong("has a port that is not a number up to 65535"));
    }
    Ok((format!("{scheme}://{host}"), login))
}

/// What stands behind the host's colon; an IPv6 address in brackets has colons of its own.
fn port(host: &str) -> Option<&str> {
    let (authority, _path) = host.split_once('/').unwrap_or((host, ""));
    let after_brackets = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    after_brackets.split_once(':').map(|(_, port)| port)
}

/// `user:password`, or a token alone.
fn parse_login(userinfo: &str) -> Result<Login, BusError> {
    match userinfo.split_once(':') {
        Some((user, password)) => Ok(Login::Password { user: decode(user)?, password: Secret::new(decode(password)?) }),
        None => Ok(Login::Token(Secret::new(decode(userinfo)?))),
    }
}

/// Undoes percent encoding (RFC 3986, section 2.1).
fn decode(text: &str) -> Result<String, BusError> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |c: Option<u8>| c.and_then(|c| char::from(c).to_digit(16));
        let (high, low) = digit(bytes.next()).zip(digit(bytes.next())).ok_or_else(escape)?;
        out.push((high * 16 + low) as u8);
    }
    String::from_utf8(out).map_err(|_| escape())
}

fn escape() -> BusError {
    wrong("has a % in its login that is not followed by two hexadecimal digits")
}

fn wrong(reason: &str) -> BusError {
    BusError::Key { key: "url", reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::unnecessary_wraps, reason = "reads like the field it is compared with")]
    fn password(user: &str, password: &str) -> Option<Login> {
        Some(Login::Password { user: user.to_owned(), password: Secret::new(password) })
    }

    #[test]
    fn credentials_are_taken_out() {
        let cases = [
            ("localhost", "nats://localhost", None),
            ("nats://h:4222", "nats://h:4222", None),
            ("tls://u:p@h:1", "tls://h:1", password("u", "p")),
            ("nats://u:p@ss@h", "nats://h", password("u", "p@ss")),
            ("nats://u:a%40b%3a@[::1]:4222", "nats://[::1]:4222", password("u", "a@b:")),
            ("nats://tok%2fen@h", "nats://h", Some(Login::Token(Secret::new("tok/en")))),
        ];
        for (text, server, login) in cases {
            assert_eq!(parse(text).expect("valid"), Addresses { servers: vec![server.to_owned()], login }, "{text}");
        }
        let two = parse("nats://u:p@a, nats://b").expect("valid");
        assert_eq!((two.servers.len(), two.login), (2, password("u", "p")));
    }

    #[test]
    fn wrong_addresses_are_refused_without_repeating_them() {
        for bad in [
            "",
            " , ",
            "http://u:hunter2@h",
            "nats://u:hunter2@",
            "nats://u:hunter2%4@h",
            "nats://u:hunter2@a,nats://v:hunter2@b",
        ] {
            let error = parse(bad).expect_err("invalid").to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
