//! What pages of claims have in common: one file without anything beside it. Pure.
//!
//! Every text that comes from elsewhere is escaped; every picture is stored once and shown where it is needed.

mod claim;
mod html;
mod jpeg;
pub(in crate::cli) mod rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;

pub(in crate::cli) use self::claim::{Person, card};
pub(in crate::cli) use self::html::Escaped;
use crate::bus::wire::Verdict;

const STYLE: &str = include_str!("style.css");

/// A whole page around its `main` element. `title` is plain text, `main` is markup.
pub(in crate::cli) fn document(title: &str, stored: &BTreeMap<String, Bytes>, main: &str) -> String {
    let mut page = String::new();
    page.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    let _ = write!(page, "<title>{}</title>\n<style>\n", Escaped(title));
    page.push_str(STYLE);
    page.push_str("</style>\n</head>\n<body>\n");
    page.push_str(&pictures(stored));
    let _ = write!(page, "<main>\n{main}</main>\n</body>\n</html>\n");
    page
}

/// Every picture once, as a symbol that figures refer to.
fn pictures(pictures: &BTreeMap<String, Bytes>) -> String {
    let mut out = String::from("<svg class=\"store\" aria-hidden=\"true\">\n");
    for (digest, jpeg) in pictures {
        let (width, height) = jpeg::size(jpeg).unwrap_or((16, 9));
        let _ = writeln!(
            out,
            "<symbol id=\"f-{digest}\" viewBox=\"0 0 {width} {height}\"><image width=\"{width}\" height=\"{height}\" \
             href=\"data:image/jpeg;base64,{}\"/></symbol>",
            BASE64.encode(jpeg)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The models behind the verdicts, named once.
pub(in crate::cli) fn models<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> String {
    let mut named: BTreeSet<(&str, &str)> = BTreeSet::new();
    for Verdict { models, .. } in verdicts {
        named.insert(("captioner", models.captioner.as_str()));
        named.insert(("judge", models.judge.as_str()));
        if let Some(drafter) = &models.drafter {
            named.insert(("drafter", drafter.as_str()));
        }
    }
    let mut out = String::from("<h2>Models</h2>\n<dl class=\"models\">\n");
    for (role, fingerprint) in named {
        let _ = writeln!(out, "<dt>{role}</dt><dd><code>{}</code></dd>", Escaped(fingerprint));
    }
    out.push_str("</dl>\n");
    out
}
