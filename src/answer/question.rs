//! One question from its words to its answer.
//!
//! A question about presence, absence, number of times or duration is answered by all moments of its window ([`survey`]);
//! any other by a few moments, from which claims are drafted. Where that does not suffice it is looked again ([`rounds`]).

use std::time::{Duration, Instant};

use super::draft;
use super::error::AnswerError;
use super::flow::Parts;
use super::relevant;
use super::rounds::{self, Course};
use super::scene::Scene;
use super::survey::{self, Surveyed};
use super::text::{self, Nothing};
use crate::domain::words::{stem, words};
use crate::domain::{
    Answer, Assessment, Claim, Conclusion, Doubt, Embedding, Hit, Label, Moment, Question, Reason, Role, Survey,
    Verdict, Wants,
};
use crate::engine::Lane;
use crate::seams::DraftRequest;

impl Parts {
    /// Answers a question, in about `limit` at most.
    pub(super) async fn answer(&self, question: Question, limit: Duration) -> Result<Answer, AnswerError> {
        let until = rounds::until(limit);
        self.check_text(&question.text)?;
        self.check_k(question.k)?;
        self.available(question.design)?;
        let mut scene = self.scene(&question).await?;
        if scene.parts.is_empty() {
            return Ok(unanswered(question, &scene, Nothing::NoMoments));
        }
        if scene.is_ahead() {
            return Ok(unanswered(question, &scene, Nothing::Future));
        }
        if scene.is_apart() {
            return Ok(unanswered(question, &scene, Nothing::Apart));
        }
        if scene.parts.iter().all(|part| part.plan.window.is_none()) {
            return Ok(unanswered(question, &scene, Nothing::EmptyWindow));
        }
        // What was before or after an event, all moments of the window do not tell.
        let is_beside_event = scene.time.event.as_ref().is_some_and(|event| event.offset.is_none());
        match survey::read(&scene.time.topic).filter(|_| !is_beside_event) {
            Some(subject) => {
                let surveyed = self.survey(&subject, &scene.parts, question.k).await?;
                self.answer_by_survey(question, &mut scene, surveyed, until).await
            }
            None => self.answer_by_moments(question, &mut scene, until).await,
        }
    }

    /// The usual way: a few moments, claims drafted from them.
    async fn answer_by_moments(
        &self,
        question: Question,
        scene: &mut Scene,
        until: Instant,
    ) -> Result<Answer, AnswerError> {
        let mut course = Course::begin(&question, scene, until);
        course.hits = self.retrieve(course.scene.lookup(question.k, &[])).await?;
        if course.hits.is_empty() {
            return Ok(unanswered(question, scene, Nothing::EmptyWindow));
        }
        let claims = self.draft(&question, &course.hits, false).await?;
        self.check_first(&mut course, claims, true).await?;
        self.look_again(&mut course).await;
        let Course { hits, verdicts, rounds, .. } = course;
        let assessments = self.assess(&scene.time.topic, &verdicts).await?;
        let text = self.text(&question, scene, &verdicts, &assessments).await?;
        Ok(Answer { assessments, rounds, ..answer(question, scene, hits, verdicts, text) })
    }

    /// What each claim does for the answer.
    pub(super) async fn assess(&self, topic: &str, verdicts: &[Verdict]) -> Result<Vec<Assessment>, AnswerError> {
        if verdicts.is_empty() {
            return Ok(Vec::new());
        }
        let texts = std::iter::once(topic.to_owned()).chain(verdicts.iter().map(|verdict| verdict.claim.text.clone()));
        let vectors = self.engine.embed(Lane::Interactive, texts.collect()).await?;
        let Some((asked, said)) = vectors.split_first() else { return Ok(Vec::new()) };
        let focus = relevant::focus(topic);
        let assess = |(verdict, vector): (&Verdict, &Embedding)| {
            let relevance = asked.cosine(vector);
            let role = match (verdict.label(), verdict.reason) {
                (_, Reason::Unchecked) => Role::Unchecked,
                (Label::Unverified, _) => Role::Unproven,
                (Label::Grounded, _) if focus.holds(&verdict.claim.text, relevance) => Role::Answers,
                (Label::Grounded, _) => Role::BesideThePoint,
            };
            Assessment { verdict: verdict.id, role, relevance }
        };
        Ok(verdicts.iter().zip(said).map(assess).collect())
    }

    /// The claims that answer, or one sentence that there are none; then what the question supposes and was not there.
    async fn text(
        &self,
        question: &Question,
        scene: &Scene,
        verdicts: &[Verdict],
        assessments: &[Assessment],
    ) -> Result<String, AnswerError> {
        let with = |roles: &[Role]| -> Vec<&Verdict> {
            let roles = verdicts.iter().zip(assessments).filter(|(_, it)| roles.contains(&it.role));
            roles.map(|(verdict, _)| verdict).collect()
        };
        let (answers, beside) = (with(&[Role::Answers]), with(&[Role::BesideThePoint]));
        let is_unchecked = !with(&[Role::Unchecked]).is_empty();
        let told = if verdicts.is_empty() {
            text::nothing(Nothing::NoClaims)
        } else if answers.is_empty() && !beside.is_empty() && !is_unchecked {
            text::nothing(Nothing::BesideThePoint)
        } else {
            let told = with(&[Role::Answers, Role::Unproven, Role::Unchecked]);
            text::paragraph(&told, question.design, |place| scene.covers(place))
        };
        if is_unchecked {
            return Ok(told);
        }
        let denials = self.denials(scene, &answers, question.k).await?;
        let leaned_on = self.missing_event(scene, &answers, question.k).await?;
        Ok(text::each_once(leaned_on.into_iter().chain([told]).chain(denials)))
    }

    /// What all captions say, and for a presence the frames that prove it.
    async fn answer_by_survey(
        &self,
        question: Question,
        scene: &mut Scene,
        surveyed: Surveyed,
        until: Instant,
    ) -> Result<Answer, AnswerError> {
        let Surveyed { survey, claims, hits } = surveyed;
        self.metrics.survey(survey.conclusion);
        let mut course = Course::begin(&question, scene, until);
        if survey.conclusion == Conclusion::Seen {
            course.spare = hits.iter().skip(claims.len()).cloned().collect();
            course.hits = hits.iter().take(claims.len()).cloned().collect();
            course.claim = claims.first().map(|claim| claim.text.clone());
            let is_one = claims.iter().all(|claim| course.claim.as_ref() == Some(&claim.text));
            self.check_first(&mut course, claims, false).await?;
            let is_open = !course.verdicts.iter().any(|verdict| verdict.label() == Label::Grounded);
            if course.claim.is_some() && is_one && is_open {
                self.look_again(&mut course).await;
            }
        } else if survey.doubt == Some(Doubt::Unclear) {
            let claims = self.draft(&question, &hits, true).await?;
            self.check_first(&mut course, claims, true).await?;
        }
        let Course { verdicts, rounds, .. } = course;
        let told = text_of(&survey, &verdicts, &question);
        let leaned_on = self.missing_event(scene, &[], question.k).await?;
        let text = text::each_once(leaned_on.into_iter().chain([told]));
        let mut assessments = self.assess(&scene.time.topic, &verdicts).await?;
        if survey.conclusion == Conclusion::Seen {
            prove(&mut assessments);
        }
        Ok(Answer { survey: Some(survey), assessments, rounds, ..answer(question, scene, hits, verdicts, text) })
    }

    /// Claims that cite nothing but `hits`, whatever the drafter does. If all moments were read (`surveyed`), a claim
    /// that something is not there is dropped: one frame cannot show it.
    pub(super) async fn draft(
        &self,
        question: &Question,
        hits: &[Hit],
        surveyed: bool,
    ) -> Result<Vec<Claim>, AnswerError> {
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

/// What proves the presence behind a count or a length answers, whatever words it shares with the question.
fn prove(assessments: &mut [Assessment]) {
    for it in assessments.iter_mut().filter(|it| it.role == Role::BesideThePoint) {
        it.role = Role::Answers;
    }
}

fn text_of(survey: &Survey, verdicts: &[Verdict], question: &Question) -> String {
    let grounded = verdicts.iter().any(|verdict| verdict.label() == Label::Grounded);
    let unchecked = verdicts.iter().any(|verdict| verdict.reason == Reason::Unchecked);
    let told = survey::sentence(survey, grounded || unchecked);
    let is_proven = verdicts.iter().any(|it| it.label() == Label::Grounded && says(&it.claim.text, &survey.subject));
    if is_proven && survey.conclusion == Conclusion::Undecided && survey.wants == Wants::Presence {
        // A frame proves what the captions leave open.
        text::paragraph(&verdicts.iter().collect::<Vec<_>>(), question.design, |_| true)
    } else if grounded || unchecked {
        format!("{} {told}", text::paragraph(&verdicts.iter().collect::<Vec<_>>(), question.design, |_| true))
    } else {
        told
    }
}

/// Whether a claim has every word of the thing asked about: "There is a car." does not say "another car".
fn says(claim: &str, subject: &str) -> bool {
    let said: Vec<String> = words(claim).map(stem).collect();
    words(subject).filter(|word| !matches!(*word, "a" | "an")).all(|word| said.contains(&stem(word)))
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
        assessments: Vec::new(),
        rounds: Vec::new(),
        question,
        moments,
        verdicts,
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::says;

    #[test]
    fn a_claim_says_a_thing_by_all_of_its_words() {
        for (claim, subject, due) in [
            ("There was a person in red.", "a person in red", true),
            ("There are cars.", "a car", true),
            ("There is a car.", "another car", false),
            ("There are two cars.", "exactly two cars", false),
            ("There is a person.", "a person in red", false),
        ] {
            assert_eq!(says(claim, subject), due, "{claim:?}, {subject:?}");
        }
    }
}
