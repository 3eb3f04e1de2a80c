//! Models without weights for tests: deterministic, and steerable by a script.

use std::sync::{Arc, Mutex};

use crate::domain::{Caption, Citation, Claim, Embedding, Entailment, Fingerprint, Picture};
use crate::seams::{Captioner, DraftRequest, Drafter, Embedder, Inquiry, Judge, ModelError, Models, Pair, VisualQa};

/// Called with each batch of pictures before they are captioned; may block, fail or panic.
pub(crate) type Script = Box<dyn FnMut(&[Picture]) -> Result<(), ModelError> + Send>;

/// The order in which the fake models were called: `caption 2`, `embed 1`, ...
pub(crate) type Calls = Arc<Mutex<Vec<String>>>;

/// One of each fake model, and what they were asked after the warm-up.
pub(crate) fn models(script: Script) -> (Models, Calls) {
    models_that(script, false)
}

/// The same, whose eyes take no longer for several pictures than for one if `is_parallel`.
pub(crate) fn models_that(script: Script, is_parallel: bool) -> (Models, Calls) {
    let calls = Calls::default();
    let named = |name: &str| Fingerprint::new(format!("{name}@fake"));
    let fake = |name: &str| Fake { fingerprint: named(name), calls: calls.clone(), is_parallel };
    let models = Models {
        captioner: Box::new(FakeCaptioner { fake: fake("captioner"), script, is_warm: false }),
        embedder: Box::new(fake("embedder")),
        drafter: Box::new(fake("drafter")),
        judge: Box::new(fake("judge")),
        visual_qa: Some(Box::new(fake("visual-qa"))),
        chat_judge: None,
    };
    (models, calls)
}

/// A picture of two pixels, dark and light, so that it shows something; the fake captioner names the first one's colour.
pub(crate) fn picture(red: u8) -> Picture {
    Picture::new(2, 1, vec![red, 0, 0, 0, 255, 0]).expect("two pixels")
}

struct Fake {
    fingerprint: Fingerprint,
    calls: Calls,
    is_parallel: bool,
}

impl Fake {
    fn note(&self, call: String) {
        self.calls.lock().expect("not poisoned").push(call);
    }
}

struct FakeCaptioner {
    fake: Fake,
    script: Script,
    is_warm: bool,
}

impl Captioner for FakeCaptioner {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        if std::mem::replace(&mut self.is_warm, true) {
            self.fake.note(format!("caption {}", pictures.len()));
            (self.script)(pictures)?;
        }
        Ok(pictures.iter().map(|picture| Caption::new(format!("Red is {}.", picture.rgb()[0]))).collect())
    }

    fn is_parallel(&self) -> bool {
        self.fake.is_parallel
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fake.fingerprint
    }
}

impl Embedder for Fake {
    fn embed(&mut self, texts: &[String]) -> Result<Vec<Embedding>, ModelError> {
        self.note(format!("embed {}", texts.len()));
        Ok(texts.iter().map(|text| Embedding::new(vec![text.len() as f32, 1.0])).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

impl Drafter for Fake {
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        self.note("draft".to_owned());
        let claim = |moment: &crate::domain::Moment| Claim {
            text: moment.caption.as_str().to_owned(),
            citation: Citation { stream: moment.stream.clone(), at: moment.at },
        };
        Ok(request.moments.iter().map(claim).collect())
    }

    /// One pause for each claim that is asked for.
    fn draft_with_pauses(&mut self, request: &DraftRequest, pause: &mut dyn FnMut()) -> Result<Vec<Claim>, ModelError> {
        let claims = self.draft(request);
        (0..request.max_claims).for_each(|_| pause());
        self.note("drafted".to_owned());
        claims
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

impl VisualQa for Fake {
    fn ask(&mut self, inquiries: &[Inquiry]) -> Result<Vec<String>, ModelError> {
        self.note(format!("ask {}", inquiries.len()));
        let answer = |inquiry: &Inquiry| format!("{} {}", inquiry.question, inquiry.picture.rgb()[0]);
        Ok(inquiries.iter().map(answer).collect())
    }

    fn is_parallel(&self) -> bool {
        self.is_parallel
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

impl Judge for Fake {
    fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError> {
        self.note(format!("judge {}", pairs.len()));
        Ok(pairs.iter().map(|_| Entailment { entailment: 1.0, neutral: 0.0, contradiction: 0.0 }).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn threshold(&self) -> f32 {
        0.5
    }
}
