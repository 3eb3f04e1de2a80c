//! Claims in, verdicts out: rounds over all claims of one request, so that frames and sentences go to the models in
//! batches. The first round looks at the cited frames, later ones at the neighbours of claims that are not grounded.

use std::ops::Range;
use std::time::Instant;

use super::designs::{Bench, Sight};
use super::error::AnswerError;
use super::evidence::{Look, Looks, unavailable};
use super::flow::Parts;
use super::hypothesis::{names_other_time, strip_times};
use super::nearby::neighbours;
use super::stated::Stated;
use super::streams::StreamEntry;
use super::weigh;
use crate::domain::{
    Citation, Claim, Design, Entailment, Event, Evidence, Fingerprint, ModelSet, QuestionId, Reason, Repaired, Sha256,
    StreamKind, Timing, Trial, Verdict, VerdictId,
};
use crate::engine::{EngineError, Lane};
use crate::seams::Pair;
use crate::telemetry::Stage;

/// One claim on its way to a verdict.
struct Case {
    claim: Claim,
    read_from: Option<Sha256>,
    repaired_from: Option<Repaired>,
    hypothesis: String,
    trials: Vec<Trial>,
    /// Frames still to try, nearest first; unknown until the cited frame was tried.
    rest: Option<std::vec::IntoIter<(Citation, i8)>>,
    /// The cited frame says something that no neighbour can outweigh.
    is_settled: bool,
}

/// One frame to try for one claim.
struct Attempt {
    case: usize,
    place: Citation,
    neighbour: i8,
}

/// A seen frame whose sentences wait for the judge.
struct Hearing {
    case: usize,
    evidence: Evidence,
    pairs: Range<usize>,
}

impl Parts {
    /// Checks claims and tells everybody. `question` is absent for somebody else's claims, `drafter` for those that no
    /// model drafted.
    pub(super) async fn check(
        &self,
        claims: Vec<Claim>,
        design: Design,
        question: Option<QuestionId>,
        drafter: Option<Fingerprint>,
    ) -> Result<Vec<Verdict>, AnswerError> {
        let stated = claims.into_iter().map(Stated::from).collect();
        self.check_stated(stated, design, question, drafter, &mut Looks::new()).await
    }

    /// The same with what was looked at already, which grows.
    pub(super) async fn check_stated(
        &self,
        claims: Vec<Stated>,
        design: Design,
        question: Option<QuestionId>,
        drafter: Option<Fingerprint>,
        looks: &mut Looks,
    ) -> Result<Vec<Verdict>, AnswerError> {
        let mut cases = Vec::with_capacity(claims.len());
        for stated in claims {
            let entry = self.streams.find(&stated.claim.citation.stream).ok();
            cases.push(Case::new(stated, entry.as_ref()));
        }
        if design != Design::None {
            self.try_frames(&mut cases, design, looks).await?;
        }
        let Bench { captioner, judge, threshold } = self.bench(design);
        let models = ModelSet { drafter, captioner, judge };
        let mut verdicts = Vec::with_capacity(cases.len());
        for case in cases {
            let timing = self.timing(&case.claim.citation, &case.trials).await?;
            verdicts.push(case.close(question, design, threshold, models.clone(), timing));
        }
        for verdict in &verdicts {
            self.metrics.claim(verdict.reason);
            self.tell(Event::Verdict(Box::new(verdict.clone()))).await;
        }
        Ok(verdicts)
    }

    async fn try_frames(&self, cases: &mut [Case], design: Design, looks: &mut Looks) -> Result<(), AnswerError> {
        let start = Instant::now();
        let mut round: Vec<Attempt> = (0..cases.len()).map(|case| cases[case].cited(case)).collect();
        while !round.is_empty() {
            let places: Vec<Citation> = round.iter().map(|attempt| attempt.place.clone()).collect();
            self.look(&places, looks, design).await?;
            match design {
                Design::CaptionNli => self.judge(cases, &round, looks).await?,
                _ => self.judge_otherwise(cases, &round, looks, design).await?,
            }
            let mut next = Vec::new();
            for attempt in round {
                match self.next_attempt(&mut cases[attempt.case], attempt.case).await? {
                    Some(again) => next.push(again),
                    None => self.metrics.took(Stage::Verify, start.elapsed()),
                }
            }
            round = next;
        }
        Ok(())
    }

    /// The next frame worth trying for a claim, if any.
    async fn next_attempt(&self, case: &mut Case, index: usize) -> Result<Option<Attempt>, AnswerError> {
        if self.cfg.neighbours == 0 || case.is_settled || !weigh::wants_neighbour(&case.trials) {
            return Ok(None);
        }
        if case.rest.is_none() {
            case.rest = Some(self.around(&case.claim.citation).await?.into_iter());
        }
        let next = case.rest.as_mut().and_then(Iterator::next);
        Ok(next.map(|(place, neighbour)| Attempt { case: index, place, neighbour }))
    }

    /// The neighbours of a cited place at which something could be seen.
    async fn around(&self, cited: &Citation) -> Result<Vec<(Citation, i8)>, AnswerError> {
        let sample_every = self.streams.find(&cited.stream)?.sample_every;
        let around = self.index.neighbours(&cited.stream, cited.at).await?;
        let mut near = Vec::new();
        for (at, neighbour) in neighbours(cited.at, around, sample_every) {
            let place = Citation { stream: cited.stream.clone(), at };
            if self.noted_blind(&place).await?.is_none() {
                near.push((place, neighbour));
            }
        }
        Ok(near)
    }

    /// Adds one trial a claim: all sentences of all seen frames go to the judge in one batch.
    async fn judge(&self, cases: &mut [Case], round: &[Attempt], looks: &Looks) -> Result<(), AnswerError> {
        let (mut hearings, mut pairs): (Vec<Hearing>, Vec<Pair>) = (Vec::new(), Vec::new());
        for Attempt { case, place, neighbour } in round {
            match looks.get(place) {
                Some(Look::Seen(evidence, _)) if cases[*case].was_read_from(evidence) => {
                    let trial = read_from(evidence, *neighbour);
                    cases[*case].trials.push(trial);
                }
                Some(Look::Seen(evidence, _)) => {
                    let from = pairs.len();
                    pairs.extend(weigh::pairs(&evidence.caption, &cases[*case].hypothesis));
                    let evidence = Evidence { neighbour: *neighbour, ..evidence.clone() };
                    hearings.push(Hearing { case: *case, evidence, pairs: from..pairs.len() });
                }
                other => cases[*case].trials.push(blind(other, *neighbour)),
            }
        }
        let threshold = self.engine.threshold();
        let ranges: Vec<Range<usize>> = hearings.iter().map(|hearing| hearing.pairs.clone()).collect();
        for (hearing, opinions) in hearings.into_iter().zip(self.opinions_of(&pairs, ranges).await?) {
            let case = &mut cases[hearing.case];
            let pairs = &pairs[hearing.pairs.clone()];
            let (trial, is_firm) = hearing.trial(pairs, opinions.as_deref().map_err(String::as_str), threshold);
            case.is_settled |= is_firm && case.trials.is_empty();
            case.trials.push(trial);
        }
        Ok(())
    }

    /// Adds one trial a claim by a design other than `caption-nli`.
    async fn judge_otherwise(
        &self,
        cases: &mut [Case],
        round: &[Attempt],
        looks: &Looks,
        design: Design,
    ) -> Result<(), AnswerError> {
        let (mut heard, mut sights) = (Vec::new(), Vec::new());
        for Attempt { case, place, neighbour } in round {
            match looks.get(place) {
                Some(Look::Seen(evidence, _)) if cases[*case].was_read_from(evidence) => {
                    let trial = read_from(evidence, *neighbour);
                    cases[*case].trials.push(trial);
                }
                Some(Look::Seen(evidence, picture)) => {
                    let evidence = Evidence { neighbour: *neighbour, ..evidence.clone() };
                    let (picture, hypothesis) = (picture.clone(), cases[*case].hypothesis.clone());
                    sights.push(Sight { evidence, picture, hypothesis });
                    heard.push(*case);
                }
                other => cases[*case].trials.push(blind(other, *neighbour)),
            }
        }
        for (case, trial) in heard.into_iter().zip(self.weigh_by(design, sights).await?) {
            cases[case].trials.push(trial);
        }
        Ok(())
    }

    /// The opinions on each range of `pairs`. All go in one batch; if that fails each range goes alone, so that a pair
    /// that the judge chokes on spoils nothing but its own claim.
    async fn opinions_of(
        &self,
        pairs: &[Pair],
        ranges: Vec<Range<usize>>,
    ) -> Result<Vec<Result<Vec<Entailment>, String>>, AnswerError> {
        let detail = match self.opinions(pairs.to_vec()).await? {
            Ok(opinions) => return Ok(ranges.into_iter().map(|range| Ok(opinions[range].to_vec())).collect()),
            Err(detail) => detail,
        };
        if ranges.len() < 2 {
            return Ok(ranges.iter().map(|_| Err(detail.clone())).collect());
        }
        let mut each = Vec::with_capacity(ranges.len());
        for range in ranges {
            each.push(self.opinions(pairs[range].to_vec()).await?);
        }
        Ok(each)
    }

    /// One opinion a pair, or why the judge is not available.
    pub(super) async fn opinions(&self, pairs: Vec<Pair>) -> Result<Result<Vec<Entailment>, String>, AnswerError> {
        let due = pairs.len();
        if due == 0 {
            return Ok(Ok(vec![]));
        }
        match self.engine.judge(Lane::Interactive, pairs).await {
            Ok(opinions) if opinions.len() == due => Ok(Ok(opinions)),
            Ok(opinions) => Ok(Err(format!("{} opinions came back for {due} pairs", opinions.len()))),
            Err(EngineError::Busy) => Err(AnswerError::Busy),
            Err(EngineError::Model(error)) => Ok(Err(unavailable(&error))),
        }
    }
}

impl Case {
    fn new(stated: Stated, entry: Option<&StreamEntry>) -> Self {
        let Stated { claim, read_from, repaired_from } = stated;
        let stripped = strip_times(&claim.text);
        // Of a camera the time said may be one of day.
        let is_other = entry.filter(|entry| entry.kind == StreamKind::File).is_some_and(|entry| {
            names_other_time(&claim.text, claim.citation.at.seconds(), entry.sample_every.as_secs_f64())
        });
        // A claim that is nothing but a time, or of another one, still has to be judged as what it says.
        let hypothesis = if stripped.is_empty() || is_other { claim.text.clone() } else { stripped };
        let (trials, rest, is_settled) = (Vec::new(), None, false);
        Self { claim, read_from, repaired_from, hypothesis, trials, rest, is_settled }
    }

    /// Whether the claim was drafted from this very picture, which then proves nothing about it.
    fn was_read_from(&self, evidence: &Evidence) -> bool {
        self.read_from.as_ref() == Some(&evidence.sha256)
    }

    fn cited(&self, case: usize) -> Attempt {
        Attempt { case, place: self.claim.citation.clone(), neighbour: 0 }
    }

    fn close(
        self,
        question: Option<QuestionId>,
        design: Design,
        threshold: f32,
        models: ModelSet,
        timing: Option<Timing>,
    ) -> Verdict {
        let (reason, decided_by) = weigh::claim(&self.trials);
        let Self { claim, repaired_from, trials, .. } = self;
        let id = VerdictId::generate();
        Verdict { id, question, claim, repaired_from, timing, design, reason, decided_by, trials, threshold, models }
    }
}

impl Hearing {
    /// What the frame decides, and whether no neighbour can change that. Its own pairs, one opinion each.
    fn trial(self, pairs: &[Pair], opinions: Result<&[Entailment], &str>, threshold: f32) -> (Trial, bool) {
        let Self { evidence, .. } = self;
        let opinions = match opinions {
            Ok(opinions) => opinions,
            Err(detail) => return (unjudged(Reason::ModelUnavailable, detail, evidence), false),
        };
        let weighed = weigh::frame(&evidence.caption, pairs, opinions, threshold);
        let trial = match weighed.sentence {
            Some(sentence) => Trial {
                reason: weighed.reason,
                detail: weighed.detail,
                evidence: Some(evidence),
                entailment: Some(opinions[sentence]),
                premise: Some(pairs[sentence].premise.clone()),
            },
            None => unjudged(weighed.reason, "the captioner had nothing to say", evidence),
        };
        (trial, weighed.is_firm)
    }
}

/// The trial of a place where nothing could be judged.
fn blind(look: Option<&Look>, neighbour: i8) -> Trial {
    let Some(Look::Blind { reason, detail, evidence }) = look else {
        unreachable!("every place of a round was looked at, and what was seen is judged");
    };
    let evidence = evidence.clone().map(|evidence| Evidence { neighbour, ..evidence });
    Trial { reason: *reason, detail: detail.clone(), evidence, entailment: None, premise: None }
}

fn read_from(evidence: &Evidence, neighbour: i8) -> Trial {
    let evidence = Evidence { neighbour, ..evidence.clone() };
    unjudged(Reason::Neutral, "it is the picture that the claim was drafted from", evidence)
}

fn unjudged(reason: Reason, detail: &str, evidence: Evidence) -> Trial {
    Trial { reason, detail: detail.to_owned(), evidence: Some(evidence), entailment: None, premise: None }
}
