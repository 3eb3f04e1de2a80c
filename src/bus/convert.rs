//! From domain values to messages. Pure: what is published where is decided here, the publishing is not done here.

use crate::domain::{self, Answer, Hit, Moment, Verdict};

use super::subjects::{Subjects, Topic};
use super::wire;
use super::wire::{V1, header};

/// What conversions need to know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) subjects: &'a Subjects,
    /// Largest picture that can be published now.
    pub(super) max_evidence: usize,
}

/// Headers and some slack: what a picture must leave free below the server's max payload.
pub(super) const HEADROOM: usize = 4096;

impl Context<'_> {
    pub(super) fn answer(&self, answer: &Answer) -> wire::AnswerReply {
        wire::AnswerReply {
            v: V1,
            question_id: answer.question.id,
            question: answer.question.text.clone(),
            text: answer.text.clone(),
            design: answer.question.design,
            streams: answer.streams.clone(),
            window: window(answer.window),
            time: time(&answer.asked),
            survey: answer.survey.as_ref().map(survey),
            moments: answer.moments.iter().map(hit).collect(),
            claims: answer.verdicts.iter().map(|verdict| self.verdict(verdict)).collect(),
            assessments: answer.assessments.iter().map(assessment).collect(),
            rounds: answer.rounds.iter().map(round).collect(),
        }
    }

    pub(super) fn verdict(&self, verdict: &Verdict) -> wire::Verdict {
        let deciding = verdict.deciding();
        wire::Verdict {
            v: V1,
            verdict_id: verdict.id,
            question_id: verdict.question,
            stream: verdict.claim.citation.stream.clone(),
            claim: verdict.claim.text.clone(),
            repaired_from: verdict.repaired_from.as_ref().map(repaired_from),
            timestamp: verdict.claim.citation.at,
            clock: verdict.timing.map(|timing| timing.clock),
            precision_s: verdict.timing.map(|timing| timing.precision.as_secs_f64()),
            verdict: verdict.label(),
            reason: verdict.reason,
            design: verdict.design,
            probabilities: deciding.and_then(|trial| trial.entailment),
            threshold: verdict.threshold,
            models: wire::Models {
                drafter: verdict.models.drafter.clone(),
                captioner: verdict.models.captioner.clone(),
                judge: verdict.models.judge.clone(),
            },
            evidence: deciding.and_then(|trial| self.evidence(trial)),
            trials: verdict.trials.iter().map(|trial| self.trial(trial)).collect(),
        }
    }

    fn trial(&self, trial: &domain::Trial) -> wire::Trial {
        wire::Trial {
            reason: trial.reason,
            detail: trial.detail.clone(),
            probabilities: trial.entailment,
            evidence: self.evidence(trial),
        }
    }

    fn evidence(&self, trial: &domain::Trial) -> Option<wire::Evidence> {
        let evidence = trial.evidence.as_ref()?;
        Some(wire::Evidence {
            subject: self.subjects.event(Topic::Evidence, &evidence.citation.stream),
            sha256: evidence.sha256.clone(),
            bytes: evidence.jpeg.len() as u64,
            omitted: self.omitted(evidence),
            timestamp: evidence.citation.at,
            wall: evidence.wall,
            clock: evidence.clock,
            precision_s: evidence.precision.as_secs_f64(),
            neighbour: evidence.neighbour,
            caption: evidence.caption.as_str().to_owned(),
            premise: trial.premise.clone(),
        })
    }

    /// Why the picture of `evidence` is not published, if it is not.
    pub(super) fn omitted(&self, evidence: &domain::Evidence) -> Option<String> {
        let bytes = evidence.jpeg.len();
        (bytes > self.max_evidence).then(|| format!("{bytes} bytes are more than the {} allowed", self.max_evidence))
    }
}

pub(super) fn window(window: domain::Window) -> wire::Window {
    let end = window.to();
    wire::Window { from: window.from(), to: (end != domain::StreamTime::MAX).then_some(end) }
}

fn assessment(assessment: &domain::Assessment) -> wire::Assessment {
    wire::Assessment { verdict_id: assessment.verdict, role: assessment.role, relevance: assessment.relevance }
}

fn time(asked: &domain::Asked) -> wire::TimeAsked {
    let searched = |part: &domain::Searched| wire::StreamWindow {
        stream: part.stream.clone(),
        window: part.window.map(window),
        from_wall: part.from,
        to_wall: part.to,
        zone: part.zone.to_string(),
    };
    wire::TimeAsked {
        phrase: asked.phrase.clone(),
        order: asked.order,
        windows: asked.searched.iter().map(searched).collect(),
        anchor: asked.anchor.as_ref().map(|anchor| wire::Anchor {
            event: anchor.event.clone(),
            side: anchor.side,
            found: anchor.found.as_ref().map(hit),
        }),
    }
}

fn place(place: &domain::Citation) -> wire::Place {
    wire::Place { stream: place.stream.clone(), timestamp: place.at }
}

fn repaired_from(repaired: &domain::Repaired) -> wire::RepairedFrom {
    let domain::Repaired { verdict, claim, read_at } = repaired;
    wire::RepairedFrom { verdict_id: *verdict, claim: claim.clone(), read_at: place(read_at) }
}

fn round(round: &domain::Round) -> wire::Round {
    wire::Round {
        why: round.why,
        how: round.how,
        windows: round.windows.iter().map(stretch).collect(),
        looked_at: round.looked_at.iter().map(place).collect(),
        added: round.added.clone(),
        grounded: round.grounded as u64,
        captioned: round.captioned as u64,
        seconds: round.took.as_secs_f64(),
        trouble: round.trouble.clone(),
    }
}

fn stretch(stretch: &domain::Stretch) -> wire::Stretch {
    wire::Stretch { stream: stretch.stream.clone(), from: stretch.from, to: stretch.to }
}

fn survey(survey: &domain::Survey) -> wire::Survey {
    let coverage = &survey.coverage;
    wire::Survey {
        subject: survey.subject.clone(),
        wants: survey.wants,
        conclusion: survey.conclusion,
        doubt: survey.doubt,
        coverage: wire::Coverage {
            due: coverage.due,
            seen: coverage.seen,
            unobservable: coverage.unobservable,
            missing: coverage.missing,
            share: coverage.share(),
            floor: survey.floor,
            gaps: coverage.gaps.iter().map(stretch).collect(),
        },
        shown: survey.shown,
        unclear: survey.unclear,
        stretches: survey.stretches.iter().map(stretch).collect(),
        times: survey.times,
        seconds: survey.seconds,
    }
}

pub(super) fn hit(hit: &Hit) -> wire::MomentHit {
    wire::MomentHit { moment: told(&hit.moment), score: hit.score }
}

pub(super) fn caption(moment: &Moment) -> wire::CaptionEvent {
    let (captioner, embedder) = (moment.captioner.clone(), moment.embedder.clone());
    wire::CaptionEvent { v: V1, moment: told(moment), captioner, embedder }
}

fn told(moment: &Moment) -> wire::Moment {
    wire::Moment {
        moment_id: moment.id.0,
        stream: moment.stream.clone(),
        timestamp: moment.at,
        until: moment.until,
        wall: moment.wall,
        clock: moment.timing.map(|timing| timing.clock),
        precision_s: moment.timing.map(|timing| timing.precision.as_secs_f64()),
        caption: moment.caption.as_str().to_owned(),
    }
}

/// Where a picture comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) stream: &'a domain::StreamId,
    pub(super) at: domain::StreamTime,
    pub(super) wall: domain::WallTime,
    pub(super) clock: domain::Clock,
    pub(super) precision: std::time::Duration,
}

/// Identity of a picture.
pub(super) fn picture_headers(origin: &Origin<'_>, sha256: &domain::Sha256) -> Vec<(&'static str, String)> {
    vec![
        (header::CONTENT_TYPE, "image/jpeg".to_owned()),
        (header::STREAM, origin.stream.to_string()),
        (header::TIMESTAMP, origin.at.seconds().to_string()),
        (header::WALL, origin.wall.to_string()),
        (header::CLOCK, origin.clock.as_str().to_owned()),
        (header::PRECISION, origin.precision.as_secs_f64().to_string()),
        (header::SHA256, sha256.to_string()),
    ]
}
