//! Looking again, as VideoAgent does it: while claims come back unverified or the evidence is thin, more is looked at,
//! bounded, and what each round added is told with the answer.
//!
//! ```text
//! claims checked ─▶ enough? ─no─▶ repair · next moments · wider window · finer frames ─▶ draft ─▶ check ─┐
//!                     ▲                                                                               │
//!                     └────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`policy`] says whether, why and how; [`places`] where; [`repair`] from what. This file does it, and owns a question's
//! [`Course`] for as long as it is answered. A round that fails, or for which there is no time, costs nothing but itself:
//! the answer so far stands.
//!
//! Bounds: at most `answer.rounds` rounds, each with one draft at most; all of them together caption at most
//! `answer.round_frames` pictures, and the judge is asked about the sentences of those alone. A round begins only if
//! twice the longest step so far fits into the question's deadline, less a reserve.

mod places;
mod policy;
mod repair;

use std::time::{Duration, Instant};

use self::policy::{Allowance, Found, Left, Open};
use self::repair::Seen;
use super::error::AnswerError;
use super::evidence::{Look, Looks};
use super::flow::Parts;
use super::scene::{Part, Scene};
use super::stated::Stated;
use crate::domain::{
    Assessment, Citation, Claim, Design, Hit, How, Label, Question, Reason, Role, Round, StreamId, StreamTime, Stretch,
    Verdict, Why, Window,
};

/// Part of the deadline that is left for putting the answer together.
const RESERVE: f64 = 0.1;

/// A question under way.
pub(super) struct Course<'a> {
    pub(super) question: &'a Question,
    pub(super) scene: &'a mut Scene,
    /// Moments that were used, best first.
    pub(super) hits: Vec<Hit>,
    /// Moments that come next, if that is known already.
    pub(super) spare: Vec<Hit>,
    /// What is claimed of other frames; drafted if absent.
    pub(super) claim: Option<String>,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) rounds: Vec<Round>,
    looks: Looks,
    tried: Vec<How>,
    until: Instant,
    begun: Instant,
    slowest: Duration,
}

/// What one round brought.
#[derive(Default)]
struct Gain {
    windows: Vec<Stretch>,
    looked_at: Vec<Citation>,
    hits: Vec<Hit>,
    verdicts: Vec<Verdict>,
}

/// When to stop looking, for somebody who waits for `limit` from now on.
pub(super) fn until(limit: Duration) -> Instant {
    Instant::now() + limit.mul_f64(1.0 - RESERVE)
}

impl<'a> Course<'a> {
    /// A course that begins now and ends before `until`.
    pub(super) fn begin(question: &'a Question, scene: &'a mut Scene, until: Instant) -> Self {
        let begun = Instant::now();
        Self {
            question,
            scene,
            hits: Vec::new(),
            spare: Vec::new(),
            claim: None,
            verdicts: Vec::new(),
            rounds: Vec::new(),
            looks: Looks::new(),
            tried: Vec::new(),
            until,
            begun,
            slowest: Duration::ZERO,
        }
    }

    fn found(&self, assessments: &[Assessment]) -> Found {
        let count = |is: fn(&Verdict) -> bool| self.verdicts.iter().filter(|verdict| is(verdict)).count();
        Found {
            claims: self.verdicts.len(),
            grounded: count(|verdict| verdict.label() == Label::Grounded),
            answering: assessments.iter().filter(|assessment| assessment.role == Role::Answers).count(),
            unverified: count(repair::is_failed),
            unavailable: count(|verdict| verdict.reason == Reason::ModelUnavailable),
            likeness: self.hits.iter().map(|hit| hit.score).fold(0.0, f32::max),
        }
    }

    fn open(&self) -> Open {
        let is_new = |how| !self.tried.contains(&how);
        let mut parts = self.scene.parts.iter();
        Open {
            repair: is_new(How::Repair) && self.claim.is_none() && !repair::sources(&self.verdicts).is_empty(),
            next: is_new(How::Next),
            wider: is_new(How::Wider) && self.claim.is_none() && parts.any(|part| part.wider().is_some()),
            finer: is_new(How::Finer) && !self.hits.is_empty(),
        }
    }

    /// The interval between samples and the last time of a stream.
    fn reach(&self, stream: &StreamId) -> (Duration, StreamTime) {
        let part = self.scene.parts.iter().find(|part| part.stream == *stream);
        part.map_or((Duration::from_secs(1), StreamTime::MAX), |part| (part.extent.sample_every, part.extent.last))
    }

    fn windows(&self) -> Vec<Stretch> {
        let stretch = |stream: &StreamId, window: Window, last: StreamTime| Stretch {
            stream: stream.clone(),
            from: window.from(),
            to: window.to().min(last.max(window.from())),
        };
        let parts = self.scene.parts.iter();
        parts.filter_map(|part| Some(stretch(&part.stream, part.plan.window?, part.extent.last))).collect()
    }

    /// A claim that was read from a frame, on the frame beside it.
    fn beside(&self, claim: Claim, seen: &[Seen]) -> Option<Stated> {
        let source = seen.iter().find(|seen| seen.place() == claim.citation)?;
        let Claim { text, citation: Citation { stream, at } } = claim;
        let (every, last) = self.reach(&stream);
        let citation = Citation { stream, at: places::beside(at, every, last) };
        let (read_from, repaired_from) = (Some(source.sha256.clone()), source.instead_of.clone());
        Some(Stated { claim: Claim { text, citation }, read_from, repaired_from })
    }

    fn take(&mut self, why: Why, how: How, gain: Gain, (took, captioned): (Duration, usize), trouble: Option<String>) {
        let Gain { windows, looked_at, hits, verdicts } = gain;
        let added = verdicts.iter().map(|verdict| verdict.id).collect();
        let grounded = verdicts.iter().filter(|verdict| verdict.label() == Label::Grounded).count();
        self.rounds.push(Round { why, how, windows, looked_at, added, grounded, captioned, took, trouble });
        self.hits.extend(hits);
        self.verdicts.extend(verdicts);
    }
}

impl Part {
    fn wider(&self) -> Option<Window> {
        places::wider(self.plan.window?, self.plan.order, self.extent.last)
    }
}

impl Parts {
    /// Checks the first claims of a course.
    pub(super) async fn check_first(
        &self,
        course: &mut Course<'_>,
        claims: Vec<Claim>,
        drafted: bool,
    ) -> Result<(), AnswerError> {
        let stated = claims.into_iter().map(Stated::from).collect();
        course.verdicts = self.check_course(course, stated, drafted).await?;
        Ok(())
    }

    /// Looks again for as long as there is reason to and something is left to spend.
    pub(super) async fn look_again(&self, course: &mut Course<'_>) {
        if course.question.design == Design::None {
            return;
        }
        course.slowest = course.begun.elapsed();
        let first = course.looks.len();
        loop {
            let (start, before) = (Instant::now(), course.looks.len());
            let left = Left {
                rounds: self.cfg.rounds.saturating_sub(course.rounds.len()),
                frames: self.cfg.round_frames.saturating_sub(before - first),
                time: course.until.saturating_duration_since(start),
                slowest: course.slowest,
            };
            // Without an assessment it stays as it is: the answer itself will say what is wrong.
            let Ok(assessments) = self.assess(&course.scene.time.topic, &course.verdicts).await else { return };
            let found = course.found(&assessments);
            let Some((why, how)) = policy::next(&found, course.open(), left) else { return };
            course.tried.push(how);
            let allowance = policy::allowance(how, left.frames, self.cfg.max_claims);
            let plans: Vec<_> = course.scene.parts.iter().map(|part| part.plan).collect();
            let outcome = tokio::time::timeout(left.time, self.round(course, how, allowance)).await;
            for (part, plan) in course.scene.parts.iter_mut().zip(plans) {
                part.plan = plan;
            }
            let spent = (start.elapsed(), course.looks.len() - before);
            course.slowest = course.slowest.max(spent.0);
            let (gain, trouble) = match outcome {
                Ok(Ok(gain)) if gain.looked_at.is_empty() => continue,
                Ok(Ok(gain)) => (gain, None),
                Ok(Err(error)) => (Gain::default(), Some(error.to_string())),
                Err(_) => (Gain::default(), Some("the time was up".to_owned())),
            };
            let is_broken = trouble.is_some();
            course.take(why, how, gain, spent, trouble);
            self.tell_round(course);
            if is_broken {
                return;
            }
        }
    }

    fn tell_round(&self, course: &Course<'_>) {
        let Some(Round { why, how, added, grounded, took, trouble, .. }) = course.rounds.last() else { return };
        self.metrics.round(*how, *grounded > 0);
        let (why, how, claims, ms) = (why.as_str(), how.as_str(), added.len(), took.as_millis());
        if let Some(trouble) = trouble {
            tracing::warn!(why, how, trouble, ms, "another look at the evidence was broken off");
        } else {
            tracing::debug!(why, how, claims, grounded, ms, "looked at the evidence again");
        }
    }

    async fn round(&self, course: &mut Course<'_>, how: How, allowance: Allowance) -> Result<Gain, AnswerError> {
        match how {
            How::Repair => self.repair(course, allowance).await,
            How::Next => self.next_moments(course, allowance).await,
            How::Wider => {
                for part in &mut course.scene.parts {
                    part.plan.window = part.wider().or(part.plan.window);
                }
                self.next_moments(course, allowance).await
            }
            How::Finer => self.finer(course, allowance).await,
        }
    }

    /// Drafts failed claims again from the captions of the frames that they failed on.
    async fn repair(&self, course: &mut Course<'_>, allowance: Allowance) -> Result<Gain, AnswerError> {
        let seen = repair::sources(&course.verdicts);
        self.read_and_check(course, seen, allowance).await
    }

    /// Fresh frames around the best moment.
    async fn finer(&self, course: &mut Course<'_>, allowance: Allowance) -> Result<Gain, AnswerError> {
        let Some(best) = course.hits.iter().max_by(|a, b| a.score.total_cmp(&b.score)) else {
            return Ok(Gain::default());
        };
        let (stream, at) = (best.moment.stream.clone(), best.moment.at);
        let (every, last) = course.reach(&stream);
        let window = course.scene.parts.iter().find(|part| part.stream == stream).and_then(|part| part.plan.window);
        let window = window.and_then(|window| Window::new(window.from(), window.to().min(last)).ok());
        let Some(window) = window else { return Ok(Gain::default()) };
        let looked = course.looks.keys().filter(|place| place.stream == stream).map(|place| place.at);
        let moments = course.hits.iter().filter(|hit| hit.moment.stream == stream).map(|hit| hit.moment.at);
        let known = looked.chain(moments).collect();
        let times = places::finer(at, every, window, &known, allowance.frames);
        let places: Vec<Citation> = times.into_iter().map(|at| Citation { stream: stream.clone(), at }).collect();
        if course.claim.is_some() {
            return self.claim_of(course, places, Vec::new(), allowance).await;
        }
        self.look(&places, &mut course.looks, course.question.design).await?;
        let seen = places.iter().filter_map(|place| match course.looks.get(place) {
            Some(Look::Seen(evidence, _)) if repair::tells(&evidence.caption) => {
                Some(Seen::new(evidence, self.engine.captioner(), None))
            }
            _ => None,
        });
        let seen: Vec<Seen> = seen.collect();
        let gain = self.read_and_check(course, seen, allowance).await?;
        Ok(Gain { looked_at: places, ..gain })
    }

    /// Claims drafted from frames that were looked at, each checked on the frame beside.
    async fn read_and_check(
        &self,
        course: &mut Course<'_>,
        seen: Vec<Seen>,
        allowance: Allowance,
    ) -> Result<Gain, AnswerError> {
        let looked_at: Vec<Citation> = seen.iter().map(Seen::place).collect();
        let hits: Vec<Hit> = seen.iter().map(|seen| seen.hit.clone()).collect();
        let claims = if hits.is_empty() { Vec::new() } else { self.draft(course.question, &hits, false).await? };
        let new = claims.into_iter().filter(|claim| !repair::is_known(&claim.text, &claim.citation, &course.verdicts));
        let stated: Vec<Stated> = new.filter_map(|claim| course.beside(claim, &seen)).take(allowance.claims).collect();
        let verdicts = self.check_course(course, stated, true).await?;
        Ok(Gain { windows: course.windows(), looked_at, hits: Vec::new(), verdicts })
    }

    /// The moments that come next.
    async fn next_moments(&self, course: &mut Course<'_>, allowance: Allowance) -> Result<Gain, AnswerError> {
        let hits = if course.spare.is_empty() {
            let seen: Vec<Citation> = course.hits.iter().map(place).collect();
            self.retrieve(course.scene.lookup(course.question.k, &seen)).await?
        } else {
            std::mem::take(&mut course.spare)
        };
        let looked_at: Vec<Citation> = hits.iter().map(place).collect();
        if looked_at.is_empty() {
            return Ok(Gain::default());
        }
        if course.claim.is_some() {
            return self.claim_of(course, looked_at, hits, allowance).await;
        }
        let claims = self.draft(course.question, &hits, false).await?;
        let new = claims.into_iter().filter(|claim| !repair::is_known(&claim.text, &claim.citation, &course.verdicts));
        let stated = new.map(Stated::from).take(allowance.claims).collect();
        let verdicts = self.check_course(course, stated, true).await?;
        Ok(Gain { windows: course.windows(), looked_at, hits, verdicts })
    }

    /// The claim that needs no drafting, on other frames.
    async fn claim_of(
        &self,
        course: &mut Course<'_>,
        mut looked_at: Vec<Citation>,
        hits: Vec<Hit>,
        allowance: Allowance,
    ) -> Result<Gain, AnswerError> {
        let Some(text) = course.claim.clone() else { return Ok(Gain::default()) };
        looked_at.truncate(allowance.claims);
        let claim = |citation: &Citation| Stated::from(Claim { text: text.clone(), citation: citation.clone() });
        let stated = looked_at.iter().map(claim).collect();
        let verdicts = self.check_course(course, stated, false).await?;
        Ok(Gain { windows: course.windows(), looked_at, hits, verdicts })
    }

    async fn check_course(
        &self,
        course: &mut Course<'_>,
        stated: Vec<Stated>,
        drafted: bool,
    ) -> Result<Vec<Verdict>, AnswerError> {
        let drafter = drafted.then(|| self.engine.drafter().clone());
        let Course { question, looks, .. } = course;
        self.check_stated(stated, question.design, Some(question.id), drafter, looks).await
    }
}

fn place(hit: &Hit) -> Citation {
    Citation { stream: hit.moment.stream.clone(), at: hit.moment.at }
}
