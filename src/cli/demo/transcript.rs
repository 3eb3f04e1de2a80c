//! What was asked and what came back; what of it breaks a promise; how it is kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;

use super::latency::Row;
use super::script::{self, Truth};
use super::{page, script::UNKNOWN_STREAM};
use crate::bus::wire::{AnswerReply, ErrorBody, ErrorCode, StreamInfo, Verdict};
use crate::domain::{Label, WallTime};

/// One question and its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) scripted: script::Question,
    pub(super) took: Duration,
    pub(super) outcome: Result<AnswerReply, ErrorBody>,
}

/// One claim of the script and its verdict.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) scripted: &'static script::Claim,
    pub(super) verdict: Verdict,
}

/// The whole demo.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) at: WallTime,
    pub(super) streams: Vec<StreamInfo>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) checks: Vec<Check>,
    /// JPEGs by digest.
    pub(super) pictures: BTreeMap<String, Bytes>,
    pub(super) latency: Vec<Row>,
}

impl Transcript {
    /// Every verdict: of questions first.
    pub(super) fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        let answered = self.exchanges.iter().filter_map(|exchange| exchange.outcome.as_ref().ok());
        answered.flat_map(|reply| &reply.claims).chain(self.checks.iter().map(|check| &check.verdict))
    }

    /// What did not go as it must; empty if all is well.
    pub(super) fn broken_promises(&self) -> Vec<String> {
        let mut broken: Vec<String> = self.exchanges.iter().filter_map(Exchange::broken).collect();
        broken.extend(self.checks.iter().filter_map(Check::broken));
        broken
    }

    /// Writes `index.html` and `evidence/<digest>.jpg`.
    pub(super) fn save(&self, out: &Path) -> anyhow::Result<()> {
        let evidence = out.join("evidence");
        // Pictures of an earlier run belong to an earlier page.
        let _ = fs::remove_dir_all(&evidence);
        fs::create_dir_all(&evidence).with_context(|| format!("cannot create {}", evidence.display()))?;
        for (digest, jpeg) in &self.pictures {
            let path = evidence.join(format!("{digest}.jpg"));
            fs::write(&path, jpeg).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let path = out.join("index.html");
        fs::write(&path, page::render(self)).with_context(|| format!("cannot write {}", path.display()))
    }
}

impl Exchange {
    /// Whether the stream is one that the daemon does not know.
    pub(super) fn expects_refusal(&self) -> bool {
        self.scripted.stream == UNKNOWN_STREAM
    }

    fn broken(&self) -> Option<String> {
        let question = self.scripted.text;
        match (&self.outcome, self.expects_refusal()) {
            (Ok(_), false) => None,
            (Err(refused), true) if refused.name == ErrorCode::UnknownStream => None,
            (Ok(_), true) => Some(format!("{question:?} about an unknown stream was answered")),
            (Err(refused), _) => Some(format!("{question:?} was refused: {} ({})", refused.message, refused.name)),
        }
    }
}

impl Check {
    /// Whether the verdict is what a person would say; a true claim may stay unverified.
    pub(super) fn agrees(&self) -> bool {
        (self.verdict.verdict == Label::Grounded) == (self.scripted.truth == Truth::True)
    }

    fn broken(&self) -> Option<String> {
        let grounded = self.verdict.verdict == Label::Grounded && self.scripted.truth != Truth::True;
        grounded.then(|| format!("the {} claim {:?} was grounded", self.scripted.truth.as_str(), self.scripted.text))
    }
}
