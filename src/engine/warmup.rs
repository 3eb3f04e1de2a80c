//! One small real run of every model, so that the first question does not pay for lazy set-up, and so that a model that
//! cannot run is found at start.

use super::stations::{Role, Stations};
use crate::domain::{Caption, Fingerprint, Moment, MomentId, Picture, StreamId, StreamTime, WallTime};
use crate::seams::{DraftRequest, Inquiry, ModelError, Models, Pair, Strictness};

const SIDE: u32 = 64;
const SENTENCE: &str = "A person is walking.";

/// Runs each model that computes here once and throws the results away. A machine elsewhere may be away for now: that is
/// no reason not to start.
pub(super) fn run(models: &mut Models, stations: &Stations) -> Result<(), ModelError> {
    let is_here = |role| stations.away(role).is_none();
    let pair = || Pair { premise: SENTENCE.to_owned(), hypothesis: SENTENCE.to_owned() };
    if is_here(Role::Captioner) {
        models.captioner.caption(&[grey()])?;
    }
    if let Some(model) = models.visual_qa.as_mut().filter(|_| is_here(Role::VisualQa)) {
        model.ask(&[Inquiry { picture: grey(), question: "Is a person walking?".to_owned() }])?;
    }
    models.embedder.embed(&[SENTENCE.to_owned()])?;
    if is_here(Role::Judge) {
        models.judge.judge(&[pair()])?;
    }
    if let Some(model) = models.chat_judge.as_mut().filter(|_| is_here(Role::ChatJudge)) {
        model.supports(&[pair()], Strictness::Strict)?;
    }
    if is_here(Role::Drafter) {
        let moments = vec![moment(models.captioner.fingerprint(), models.embedder.fingerprint())];
        models.drafter.draft(&DraftRequest { question: "Who is walking?".to_owned(), moments, max_claims: 1 })?;
    }
    Ok(())
}

fn grey() -> Picture {
    Picture::new(SIDE, SIDE, vec![128; 3 * (SIDE * SIDE) as usize]).expect("the bytes belong to the size")
}

fn moment(captioner: &Fingerprint, embedder: &Fingerprint) -> Moment {
    Moment {
        id: MomentId(0),
        stream: StreamId::new("warm-up").expect("a valid id"),
        at: StreamTime::ZERO,
        until: StreamTime::ZERO,
        wall: WallTime::now(),
        timing: None,
        caption: Caption::new(SENTENCE),
        captioner: captioner.clone(),
        embedder: embedder.clone(),
    }
}
