//! A claim on its way to its check, with what must not prove it. Values only.

use crate::domain::{Claim, Repaired, Sha256};

/// A claim to check.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stated {
    pub(super) claim: Claim,
    /// The picture whose caption it was drafted from in this very request: that one proves nothing about it.
    pub(super) read_from: Option<Sha256>,
    /// The claim that it stands for.
    pub(super) repaired_from: Option<Repaired>,
}

impl From<Claim> for Stated {
    fn from(claim: Claim) -> Self {
        Self { claim, read_from: None, repaired_from: None }
    }
}
