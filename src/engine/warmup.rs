//! One small real run of every model, so that the first question does not pay for lazy set-up, and so that a model that
//! cannot run is found at start.

use crate::domain::{Caption, Fingerprint, Moment, MomentId, Picture, StreamId, StreamTime, WallTime};
use crate::seams::{DraftRequest, Inquiry, ModelError, Models, Pair};

const SIDE: u32 = 64;
const SENTENCE: &str = "A person is walking.";

/// Runs each model once and throws the results away.
pub(super) fn run(models: &mut Models) -> Result<(), ModelError> {
    models.captioner.caption(&[grey()])?;
    if let Some(model) = &mut models.visual_qa {
        model.ask(&[Inquiry { picture: grey(), question: "Is a person walking?".to_owned() }])?;
    }
    models.embedder.embed(&[SENTENCE.to_owned()])?;
    models.judge.judge(&[Pair { premise: SENTENCE.to_owned(), hypothesis: SENTENCE.to_owned() }])?;
    let moments = vec![moment(models.captioner.fingerprint(), models.embedder.fingerprint())];
    models.drafter.draft(&DraftRequest { question: "Who is walking?".to_owned(), moments, max_claims: 1 })?;
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
