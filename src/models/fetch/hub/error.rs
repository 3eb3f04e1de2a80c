//! How a hub fails, and what to do about it.

use std::fmt;

use crate::models::manifest::Sha;

/// Who said what a file must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The manifest.
    Manifest,
    /// An earlier fetch.
    Lock,
    /// The hub itself, before it sent the file.
    Hub,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manifest => "the manifest names",
            Self::Lock => "an earlier fetch found",
            Self::Hub => "the hub announced",
        })
    }
}

/// Why a file of a repository was not installed. Says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HubError {
    /// The network must not be used, and the file is not here.
    #[error(
        "it is not on this machine and the network must not be used: run again without --offline, GVQA_OFFLINE and HF_HUB_OFFLINE"
    )]
    Offline,
    /// No connection, or no answer in time.
    #[error("the hub cannot be reached: go online, or name a mirror with --hub-endpoint, and run again; {0}")]
    Unreachable(String),
    /// Breaks off within the file.
    #[error("broken off after {got} of {of} bytes: run again, it goes on from there; {reason}")]
    Truncated {
        /// Bytes that are here.
        got: u64,
        /// Bytes that there should be, or `unknown`.
        of: String,
        /// What the connection said.
        reason: String,
    },
    /// The token is missing or not accepted.
    #[error(
        "the hub wants to know who asks (status {status}): give a token that may read this repository with --hub-token-file"
    )]
    Unauthorized {
        /// 401 or 403.
        status: u16,
    },
    /// The token would travel in the open.
    #[error("the endpoint is http and the token would be read on the way: use https, or leave the token out")]
    TokenInTheOpen,
    /// Neither a length nor a checksum came, so that a file that breaks off looks like a whole one.
    #[error("the hub tells neither how long the file is nor its checksum: use another one with --hub-endpoint")]
    Unmeasured,
    /// A file came without the marks of a hub: a login page, a proxy's notice, another server.
    #[error(
        "this does not answer as a hub: {0}; is a login page or a proxy in between? open the endpoint in a browser, or name another with --hub-endpoint"
    )]
    NotAHub(&'static str),
    /// Another commit than the one that was asked for.
    #[error("commit {asked} was asked for and the hub sends commit {sent}: do not use it before you know why")]
    OtherCommit {
        /// Of the manifest, or of an earlier fetch.
        asked: String,
        /// What the hub says it sends.
        sent: String,
    },
    /// Its owner wants terms to be accepted first.
    #[error(
        "its owner lets in only who has accepted the terms on the repository's page: accept them, and give a token with --hub-token-file"
    )]
    Gated,
    /// No such repository, or one that this token may not see.
    #[error(
        "there is no such repository, or it is private and the token may not see it: give another token, or a corrected manifest with --manifest"
    )]
    NoRepository,
    /// The repository has no such branch, tag or commit.
    #[error("the repository has no such revision: give a corrected manifest with --manifest")]
    NoRevision,
    /// No such file at this revision.
    #[error("there is no such file at this revision: give a corrected manifest with --manifest")]
    NoFile,
    /// Too many requests.
    #[error("the hub is asked too often (status 429): wait{}, and run again", after.as_ref().map_or_else(String::new, |s| format!(" {s} s")))]
    Busy {
        /// What it asked to wait, in seconds.
        after: Option<String>,
    },
    /// Anything else that is no file.
    #[error("the hub answered with status {status}: run again later")]
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// Sends round in circles, or from https to http.
    #[error("the hub sends elsewhere in a way that is not followed: {0}")]
    Redirect(String),
    /// Another content than it must have.
    #[error("it has SHA-256 {found}, but {origin} {expected}: it was changed at its source; do not use it before you know why{}", hint(*origin))]
    Digest {
        /// What it must be.
        expected: Sha,
        /// What came.
        found: Sha,
        /// Who says so.
        origin: Origin,
        /// Whether a kept beginning was part of it.
        resumed: bool,
    },
}

fn hint(origin: Origin) -> &'static str {
    match origin {
        Origin::Lock => "; to let the new file in, remove its entry from hub.lock",
        Origin::Manifest | Origin::Hub => "",
    }
}

/// What an answer without a file means; `code` is the header `X-Error-Code`.
pub(super) fn refusal(status: u16, code: &str, after: Option<String>) -> HubError {
    match (status, code) {
        (_, "RepoNotFound") => HubError::NoRepository,
        (_, "RevisionNotFound") => HubError::NoRevision,
        (_, "EntryNotFound") | (404, _) => HubError::NoFile,
        (_, "GatedRepo") => HubError::Gated,
        (401 | 403, _) => HubError::Unauthorized { status },
        (429, _) => HubError::Busy { after },
        _ => HubError::Status { status },
    }
}
