//! The drafter without a language model: sentences of the captions become claims, word for word.
//!
//! Never says what no caption says, so it is the safe choice where the language model is weak.

use super::rank::{Ranked, rank};
use crate::domain::{Citation, Claim, Fingerprint, Moment, is_silent};
use crate::seams::{DraftRequest, Drafter, ModelError};

/// Grows with every change of the ranking.
const VERSION: &str = "extractive@1";

/// Ranks and quotes.
pub struct Extractive {
    fingerprint: Fingerprint,
}

impl Extractive {
    /// Needs no files.
    pub fn new() -> Self {
        Self { fingerprint: Fingerprint::new(VERSION) }
    }
}

impl Default for Extractive {
    fn default() -> Self {
        Self::new()
    }
}

impl Drafter for Extractive {
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        Ok(extract(request, request.max_claims))
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// The best `limit` sentences as claims on their moments.
pub(super) fn extract(request: &DraftRequest, limit: usize) -> Vec<Claim> {
    let claim = |Ranked { caption, sentence }| {
        let moment = &request.moments[caption];
        Claim { text: sentence, citation: Citation { stream: moment.stream.clone(), at: moment.at } }
    };
    rank(&request.question, &sentences(request), limit).into_iter().map(claim).collect()
}

/// The sentences of each moment's caption, without those that say that nothing can be told.
pub(super) fn sentences(request: &DraftRequest) -> Vec<Vec<&str>> {
    request.moments.iter().map(telling).collect()
}

fn telling(moment: &Moment) -> Vec<&str> {
    moment.caption.sentences().filter(|sentence| !is_silent(sentence)).collect()
}
