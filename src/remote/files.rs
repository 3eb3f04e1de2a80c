//! The files that an endpoint names: its key, and whom to trust. Read when the program starts, and by whoever checks a
//! configuration before that.

use std::path::Path;

use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use super::config::Endpoint;
use crate::config::SecretFile;
use crate::secret::Secret;

impl Endpoint {
    /// Refuses files that cannot be used: the key inside the section, and what is wrong. A key that systemd will hand to
    /// the daemon alone cannot be looked at by anybody else.
    pub fn check_files(&self) -> Result<(), (&'static str, String)> {
        if !self.key_file.as_ref().is_some_and(SecretFile::is_awaited) {
            key(self).map_err(|reason| ("key_file", reason))?;
        }
        self.tls_ca.as_deref().map(certificates).transpose().map_err(|reason| ("tls_ca", reason))?;
        Ok(())
    }
}

/// The key, if there is one.
pub(super) fn key(endpoint: &Endpoint) -> Result<Option<Secret>, String> {
    let key = endpoint.key_file.as_ref().map(SecretFile::read).transpose().map_err(|error| error.to_string())?;
    if key.as_ref().is_some_and(|key| key.expose().contains(|c: char| c.is_control() || !c.is_ascii())) {
        return Err("the key holds characters that cannot travel in a header".to_owned());
    }
    Ok(key)
}

/// The certificates that are trusted: those of `tls_ca`, or the system's.
pub(super) fn roots(endpoint: &Endpoint) -> Result<RootCerts, String> {
    let none = "this system has no certificates: install ca-certificates, or set tls_ca";
    match &endpoint.tls_ca {
        Some(path) => {
            certificates(path).map(RootCerts::from).map_err(|reason| format!("tls_ca {}: {reason}", path.display()))
        }
        None => system_roots().ok_or_else(|| none.to_owned()),
    }
}

/// The certificates in a PEM file, one at least.
fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let items = parse_pem(&pem).filter_map(Result::ok);
    let certificates: Vec<Certificate<'static>> =
        items.filter_map(|item| if let PemItem::Certificate(it) = item { Some(it) } else { None }).collect();
    if certificates.is_empty() { Err(format!("{} holds no certificate", path.display())) } else { Ok(certificates) }
}

/// The certificates that this system trusts, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`; none if it has none.
pub(crate) fn system_roots() -> Option<RootCerts> {
    let found = rustls_native_certs::load_native_certs().certs;
    let certificates: Vec<Certificate<'static>> =
        found.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    (!certificates.is_empty()).then(|| RootCerts::from(certificates))
}
