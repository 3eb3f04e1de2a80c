//! What a question supposes to be there and no caption of its window speaks of: "What colour is the dog?" without a dog.
//!
//! A false premise is not for the drafter to notice, and no verdict is about it. So the things that a question names are
//! looked for in all moments of its window, as for "Was there a dog?", and what was not there is told as it was counted.
//! Nothing is told of a thing that what is told speaks of, and of what cannot be concluded only where there is no answer
//! at all. The thing of an event that the question leans on ("after the bus left") is looked for in all of the stream.
//! Unless it was shown that is told before anything else, also if nothing can be concluded: without it nothing was found to
//! be after it. It must not decide whether a claim holds or answers.

use super::error::AnswerError;
use super::flow::Parts;
use super::relevant;
use super::scene::Scene;
use super::survey::{self, Surveyed};
use crate::domain::{Conclusion, Survey, Verdict};

/// Most things of a question that are looked for: each reads the whole window.
const MOST: usize = 2;

impl Parts {
    /// Sentences about what was not there; `told`: the claims that answer, if any does.
    pub(super) async fn denials(&self, scene: &Scene, told: &[&Verdict], k: usize) -> Result<Vec<String>, AnswerError> {
        // A captioner of many words does not name everything that it sees, so its silence is told for want of an answer.
        if !told.is_empty() && self.engine.vocabulary().is_none() {
            return Ok(Vec::new());
        }
        let is_told = |noun: &&String| told.iter().any(|verdict| relevant::speaks_of(&verdict.claim.text, noun));
        let supposed = relevant::focus(&scene.time.topic).supposes;
        let mut sentences = Vec::new();
        for (place, noun) in supposed.iter().take(MOST).enumerate().filter(|(_, noun)| !is_told(noun)) {
            let Some(subject) = survey::read(&format!("was there a {noun}")) else { continue };
            let Surveyed { survey, .. } = self.survey(&subject, &scene.parts, k).await?;
            if is_worth_telling(&survey, told.is_empty() && place == 0) {
                sentences.push(survey::sentence(&survey, false));
            }
        }
        Ok(sentences)
    }
}

impl Parts {
    /// That what the question leans on was not there: "What happens after the bus left?" without a bus in any caption of
    /// the stream, at whatever time. The event is found by likeness, and something is always the most alike.
    pub(super) async fn missing_event(
        &self,
        scene: &Scene,
        told: &[&Verdict],
        k: usize,
    ) -> Result<Option<String>, AnswerError> {
        let Some(event) = &scene.time.event else { return Ok(None) };
        let noun = relevant::actor(&event.text);
        let noun = noun.filter(|noun| !told.iter().any(|verdict| relevant::speaks_of(&verdict.claim.text, noun)));
        let missed = scene.missed();
        let Some(subject) = noun.and_then(|noun| survey::read(&format!("was there a {noun}"))) else {
            return Ok(missed);
        };
        let Surveyed { survey, .. } = self.survey(&subject, &scene.whole(), k).await?;
        // Of a captioner of many words silence tells little, unless nothing resembles the event either.
        let tells = self.engine.vocabulary().is_some() || missed.is_some() || told.is_empty();
        Ok(leans_on_nothing(&survey, tells).then(|| survey::sentence(&survey, false)).or(missed))
    }
}

/// Whether the thing of an event was never shown. `tells`: whether silence about it is telling.
fn leans_on_nothing(survey: &Survey, tells: bool) -> bool {
    match survey.conclusion {
        Conclusion::Seen => false,
        Conclusion::NotSeen => tells,
        Conclusion::Undecided => true,
    }
}

/// An absence always; that none can be concluded, only of what the question is about, and if there is no other answer.
fn is_worth_telling(survey: &Survey, is_all: bool) -> bool {
    match survey.conclusion {
        Conclusion::Seen => false,
        Conclusion::NotSeen => true,
        Conclusion::Undecided => is_all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Bounds, Coverage, Doubt, Wants};

    #[test]
    fn an_absence_is_always_told_and_a_doubt_only_for_want_of_an_answer() {
        use Conclusion::{NotSeen, Seen, Undecided};
        let none = Bounds { least: 0.0, most: 0.0 };
        let survey = |conclusion, doubt| Survey {
            subject: "a dog".into(),
            wants: Wants::Presence,
            conclusion,
            doubt,
            coverage: Coverage::default(),
            floor: 0.9,
            shown: 0,
            unclear: 0,
            stretches: Vec::new(),
            times: none,
            seconds: none,
        };
        for (conclusion, doubt, beside_an_answer, alone) in [
            (Seen, None, false, false),
            (NotSeen, None, true, true),
            (Undecided, Some(Doubt::Coverage), false, true),
            (Undecided, Some(Doubt::Vocabulary), false, true),
            (Undecided, Some(Doubt::Unclear), false, true),
        ] {
            let survey = survey(conclusion, doubt);
            assert_eq!(is_worth_telling(&survey, false), beside_an_answer, "{conclusion:?} {doubt:?}");
            assert_eq!(is_worth_telling(&survey, true), alone, "{conclusion:?} {doubt:?}");
            assert_eq!(leans_on_nothing(&survey, true), alone, "{conclusion:?} {doubt:?}");
            assert_eq!(leans_on_nothing(&survey, false), conclusion == Undecided, "{conclusion:?} {doubt:?}");
        }
    }
}
