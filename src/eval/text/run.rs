//! Has a judge weigh text claims as the daemon weighs drafted ones: the cited caption first, then the neighbours'.

use serde::Serialize;

use super::TextClaim;
use crate::answer::hypothesis::strip_times;
use crate::answer::weigh::{self, Weighed};
use crate::domain::{Caption, Entailment, Reason};
use crate::eval::tally::Judged;
use crate::seams::{Judge, ModelError, Pair};

/// Claims whose sentences go to the judge together.
const TOGETHER: usize = 32;

/// What became of one claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Why; GROUNDED only if entailed.
    pub reason: Reason,
    /// Which caption decided: 0 is the cited one.
    pub caption: usize,
    /// The sentence that decided.
    pub premise: Option<String>,
    /// What the judge said of it.
    pub odds: Option<Entailment>,
    /// Which rule decided, if it was not the judge.
    pub detail: String,
    /// The highest probability of entailment that was not refused.
    pub score: f32,
}

/// One outcome a claim, in order. `progress` is told how many claims are done.
pub fn run(
    judge: &mut dyn Judge,
    claims: &[TextClaim],
    mut progress: impl FnMut(usize),
) -> Result<Vec<Outcome>, ModelError> {
    let mut outcomes = Vec::with_capacity(claims.len());
    for together in claims.chunks(TOGETHER) {
        outcomes.extend(hear(judge, together)?);
        progress(outcomes.len());
    }
    Ok(outcomes)
}

/// One claim on its way.
struct Case {
    hypothesis: String,
    outcome: Option<Outcome>,
    open: bool,
}

fn hear(judge: &mut dyn Judge, claims: &[TextClaim]) -> Result<Vec<Outcome>, ModelError> {
    let case = |claim: &TextClaim| Case { hypothesis: strip_times(&claim.text), outcome: None, open: true };
    let mut cases: Vec<Case> = claims.iter().map(case).collect();
    let rounds = claims.iter().map(|claim| claim.captions.len()).max().unwrap_or(0);
    for round in 0..rounds {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut ranges = Vec::new();
        for (index, case) in cases.iter().enumerate().filter(|(_, case)| case.open) {
            let Some(caption) = claims[index].captions.get(round) else { continue };
            let from = pairs.len();
            pairs.extend(weigh::pairs(caption, &case.hypothesis));
            ranges.push((index, from..pairs.len()));
        }
        let opinions = judge.judge(&pairs)?;
        let threshold = judge.threshold();
        for (index, range) in ranges {
            let (pairs, opinions) = (&pairs[range.clone()], &opinions[range]);
            cases[index].weigh((round, &claims[index].captions[round]), pairs, opinions, threshold);
        }
    }
    Ok(cases.into_iter().map(Case::close).collect())
}

impl Case {
    fn weigh(&mut self, (round, caption): (usize, &Caption), pairs: &[Pair], opinions: &[Entailment], threshold: f32) {
        let Weighed { reason, sentence, detail, is_firm } = weigh::frame(caption, pairs, opinions, threshold);
        let odds = sentence.map(|sentence| opinions[sentence]);
        let score = match odds {
            Some(odds) if reason == Reason::Entailed || odds.entailment < threshold => odds.entailment,
            _ => 0.0,
        };
        let premise = sentence.map(|sentence| pairs[sentence].premise.clone());
        let here = Outcome { reason, caption: round, premise, odds, detail, score };
        self.open = reason != Reason::Entailed && !(round == 0 && is_firm);
        self.outcome = Some(match self.outcome.take() {
            Some(cited) if reason != Reason::Entailed => Outcome { score: cited.score.max(score), ..cited },
            _ => here,
        });
    }

    fn close(self) -> Outcome {
        let nothing = Outcome {
            reason: Reason::Neutral,
            caption: 0,
            premise: None,
            odds: None,
            detail: String::new(),
            score: 0.0,
        };
        self.outcome.unwrap_or(nothing)
    }
}

/// The currency of the tables.
pub fn judged(claims: &[TextClaim], outcomes: &[Outcome]) -> Vec<Judged> {
    let judged = claims.iter().zip(outcomes).map(|(claim, outcome)| Judged {
        kind: claim.kind.to_owned(),
        truth: claim.truth,
        flagged: outcome.reason != Reason::Entailed,
        score: outcome.score,
        reason: outcome.reason,
        without_frame: false,
    });
    judged.collect()
}
