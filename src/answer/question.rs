//! One question from its words to its answer.
//!
//! A question about presence, absence, number of times or duration is answered by all moments of its window ([`survey`]);
//! any other by a few moments, from which claims are drafted.

use super::draft;
use super::error::AnswerError;
use super::flow::Parts;
use super::retrieve::Scene;
use super::survey::{self, Surveyed};
use super::text::{self, Nothing};
use crate::domain::{Answer, Claim, Conclusion, Doubt, Hit, Label, Moment, Question, Survey, Verdict};
use crate::engine::Lane;
use crate::seams::DraftRequest;

impl Parts {
    /// Answers a question.
    pub(super) async fn answer(&self, question: Question) -> Result<Answer, AnswerError> {
        self.check_text(&question.text)?;
        self.check_k(question.k)?;
        let scene = self.scene(&question).await?;
        if scene.parts.is_empty() {
            return Ok(unanswered(question, &scene, Nothing::NoMoments));
        }
        if scene.parts.iter().all(|part| part.plan.window.is_none()) {
            return Ok(unanswered(question, &scene, Nothing::EmptyWindow));
        }
        match survey::read(&scene.time.topic) {
            Some(subject) => {
                let surveyed = self.survey(&subject, &scene.parts, question.k).await?;
                self.answer_by_survey(question, &scene, surveyed).await
            }
            None => self.answer_by_moments(question, &scene).await,
        }
    }

    /// The usual way: a few moments, claims drafted from them.
    async fn answer_by_moments(&self, question: Question, scene: &Scene) -> Result<Answer, AnswerError> {
        let hits = self.find(scene, question.k).await?;
        if hits.is_empty() {
            return Ok(unanswered(question, scene, Nothing::EmptyWindow));
        }
        let claims = self.draft(&question, &hits, false).await?;
        if claims.is_empty() {
            return Ok(Answer { moments: hits, ..unanswered(question, scene, Nothing::NoClaims) });
        }
        let verdicts = self.check_drafted(&question, claims).await?;
        let text = text::paragraph(&verdicts, question.design);
        Ok(answer(question, scene, hits, verdicts, text))
    }

    /// What all captions say, and for a presence the frames that prove it.
    async fn answer_by_survey(
        &self,
        question: Question,
        scene: &Scene,
        surveyed: Surveyed,
    ) -> Result<Answer, AnswerError> {
        let Surveyed { survey, claims, hits } = surveyed;
        self.metrics.survey(survey.conclusion);
        let verdicts = if survey.conclusion == Conclusion::Seen {
            self.check(claims, question.design, Some(question.id), None).await?
        } else if survey.doubt == Some(Doubt::Unclear) {
            let claims = self.draft(&question, &hits, true).await?;
            self.check_drafted(&question, claims).await?
        } else {
            Vec::new()
        };
        let text = text_of(&survey, &verdicts, &question);
        Ok(Answer { survey: Some(survey), ..answer(question, scene, hits, verdicts, text) })
    }

    async fn check_drafted(&self, question: &Question, claims: Vec<Claim>) -> Result<Vec<Verdict>, AnswerError> {
        let drafter = Some(self.engine.drafter().clone());
        self.check(claims, question.design, Some(question.id), drafter).await
    }

    /// Claims that cite nothing but `hits`, whatever the drafter does. If all moments were read (`surveyed`), a claim
    /// that something is not there is dropped: one frame cannot show it.
    async fn draft(&self, question: &Question, hits: &[Hit], surveyed: bool) -> Result<Vec<Claim>, AnswerError> {
        let max_claims = self.cfg.max_claims;
        let moments: Vec<Moment> = hits.iter().map(|hit| hit.moment.clone()).collect();
        let request = DraftRequest { question: question.text.clone(), moments: moments.clone(), max_claims };
        let drafted = self.engine.draft(Lane::Interactive, request).await?;
        let (claims, dropped) = draft::admit(drafted, &moments, max_claims, surveyed);
        for (claim, reason) in dropped {
            self.metrics.dropped(reason);
            tracing::debug!(claim = claim.text, at = %claim.citation.at, %reason, "a drafted claim was dropped");
        }
        Ok(claims)
    }
}

fn text_of(survey: &Survey, verdicts: &[Verdict], question: &Question) -> String {
    let grounded = verdicts.iter().any(|verdict| verdict.label() == Label::Grounded);
    let unchecked = verdicts.iter().any(|verdict| verdict.reason == crate::domain::Reason::Unchecked);
    let told = survey::sentence(survey, grounded || unchecked);
    if grounded || unchecked { format!("{} {told}", text::paragraph(verdicts, question.design)) } else { told }
}

fn unanswered(question: Question, scene: &Scene, why: Nothing) -> Answer {
    answer(question, scene, Vec::new(), Vec::new(), text::nothing(why))
}

fn answer(question: Question, scene: &Scene, moments: Vec<Hit>, verdicts: Vec<Verdict>, text: String) -> Answer {
    Answer {
        streams: scene.streams.clone(),
        window: scene.window(),
        asked: scene.asked(),
        survey: None,
        question,
        moments,
        verdicts,
        text,
    }
}
