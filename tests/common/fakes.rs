//! Models and sources without weights and pipelines: deterministic, scripted, and they remember what they were given.
//!
//! A picture carries a tag (its first byte), which is how a fake captioner recognises it. Nothing here knows a question
//! or a claim unless its seam hands one over: what the captioner remembers is all it can be given.

#![allow(dead_code, unreachable_pub)]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use groundedvqa::domain::{
    Caption, Claim, Clock, Embedding, Entailment, Fingerprint, Frame, Picture, StreamId, StreamKind, StreamTime,
    WallTime,
};
use groundedvqa::seams::{
    Captioner, ChatJudge, DraftRequest, Drafter, Embedder, EvidenceError, EvidenceSource, Inquiry, Judge, ModelError,
    Models, Pair, Strictness, VisualQa,
};
use groundedvqa::stop::Stop;

/// How far off the times of fake frames say that they may be.
pub const PRECISION: std::time::Duration = std::time::Duration::from_millis(20);

/// What a fake was given, in order. Shared between the fake and the test.
#[derive(Debug)]
pub struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone> Log<T> {
    pub fn add(&self, items: impl IntoIterator<Item = T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(items);
    }

    /// What was given since the last call.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A picture that shows something; recognised by its tag.
pub fn picture(tag: u8) -> Picture {
    let (width, height) = (48_u32, 32_u32);
    let mut rgb: Vec<u8> = (0..width * height).flat_map(|i| [((i / 4) % 2 * 120 + 40) as u8; 3]).collect();
    rgb[0] = tag;
    Picture::new(width, height, rgb).expect("sizes agree")
}

/// A picture that shows nothing.
pub fn black() -> Picture {
    Picture::new(48, 32, vec![0; 3 * 48 * 32]).expect("sizes agree")
}

pub fn stream(name: &str) -> StreamId {
    StreamId::new(name).expect("a token")
}

pub fn at(seconds: f64) -> StreamTime {
    StreamTime::from_seconds(seconds).expect("a time")
}

/// Says of each tag what the table says.
pub struct FakeCaptioner {
    pub says: HashMap<u8, String>,
    /// Every picture it was given, and there is nothing else to remember.
    pub saw: Log<Picture>,
    /// Fails with this text while it is set.
    pub fails: Fault,
    /// Fails for every batch that holds this tag.
    pub chokes_on: Arc<Mutex<Option<u8>>>,
    pub fingerprint: Fingerprint,
}

/// A failure that a test can switch on.
pub type Fault = Arc<Mutex<Option<String>>>;

fn check(fault: &Fault, model: &str) -> Result<(), ModelError> {
    match fault.lock().unwrap_or_else(PoisonError::into_inner).clone() {
        Some(reason) => Err(ModelError::Run { model: model.to_owned(), reason }),
        None => Ok(()),
    }
}

impl Captioner for FakeCaptioner {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        check(&self.fails, "captioner")?;
        let tag = *self.chokes_on.lock().unwrap_or_else(PoisonError::into_inner);
        if pictures.iter().any(|picture| Some(picture.rgb()[0]) == tag) {
            return Err(ModelError::Input { model: "captioner".to_owned(), reason: "it chokes".to_owned() });
        }
        self.saw.add(pictures.iter().cloned());
        let says = |picture: &Picture| Caption::new(self.says.get(&picture.rgb()[0]).map_or("", String::as_str));
        Ok(pictures.iter().map(says).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// A bag of words: texts with common words are near.
pub struct FakeEmbedder {
    pub fingerprint: Fingerprint,
}

impl FakeEmbedder {
    pub fn vector(text: &str) -> Embedding {
        let mut values = vec![0.0_f32; 64];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let bucket = word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31) + byte as usize) % values.len();
            values[bucket] += 1.0;
        }
        Embedding::new(values)
    }
}

impl Embedder for FakeEmbedder {
    fn embed(&mut self, texts: &[String]) -> Result<Vec<Embedding>, ModelError> {
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// Drafts what the script says, whatever was retrieved.
pub struct FakeDrafter {
    pub script: Arc<Mutex<Vec<Claim>>>,
    /// What it says after that, one draft each.
    pub then: Arc<Mutex<Vec<Vec<Claim>>>>,
    pub asked: Log<DraftRequest>,
    pub fingerprint: Fingerprint,
}

impl Drafter for FakeDrafter {
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        self.asked.add([request.clone()]);
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let mut then = self.then.lock().unwrap_or_else(PoisonError::into_inner);
        let said = script.clone();
        if !then.is_empty() {
            *script = then.remove(0);
        }
        Ok(said)
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// A sentence entails itself, contradicts what the table says, and tells nothing about the rest.
pub struct FakeJudge {
    /// Premise and hypothesis that exclude each other.
    pub contradicts: Vec<(String, String)>,
    pub judged: Log<Pair>,
    pub fails: Fault,
    /// Fails for every batch that holds this hypothesis.
    pub chokes_on: Fault,
    pub fingerprint: Fingerprint,
}

impl Judge for FakeJudge {
    fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError> {
        check(&self.fails, "judge")?;
        let hypothesis = self.chokes_on.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if pairs.iter().any(|pair| Some(&pair.hypothesis) == hypothesis.as_ref()) {
            return Err(ModelError::Input { model: "judge".to_owned(), reason: "it chokes".to_owned() });
        }
        self.judged.add(pairs.iter().cloned());
        let opinion = |pair: &Pair| {
            let Pair { premise, hypothesis } = pair;
            let (entailment, contradiction) = if premise == hypothesis {
                (0.9, 0.02)
            } else if self.contradicts.iter().any(|(p, h)| p == premise && h == hypothesis) {
                (0.03, 0.85)
            } else {
                (0.1, 0.15)
            };
            Entailment { entailment, neutral: 1.0 - entailment - contradiction, contradiction }
        };
        Ok(pairs.iter().map(opinion).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn threshold(&self) -> f32 {
        0.6
    }
}

/// Says yes to a claim that names what the table says of the picture's tag, and what the table says otherwise.
pub struct FakeVisualQa {
    pub says: HashMap<u8, String>,
    pub asked: Log<Inquiry>,
    pub fingerprint: Fingerprint,
}

impl VisualQa for FakeVisualQa {
    fn ask(&mut self, inquiries: &[Inquiry]) -> Result<Vec<String>, ModelError> {
        self.asked.add(inquiries.iter().cloned());
        let says = |inquiry: &Inquiry| match self.says.get(&inquiry.picture.rgb()[0]) {
            Some(known) if inquiry.question.contains(known.as_str()) => "Yes.".to_owned(),
            Some(known) if known.starts_with("No") => "I see nothing.".to_owned(),
            _ => "no".to_owned(),
        };
        Ok(inquiries.iter().map(says).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// Strict: the caption holds the claim word for word. Lenient: they share their last word.
pub struct FakeChatJudge {
    pub judged: Log<(Pair, Strictness)>,
    pub fails: Fault,
    pub fingerprint: Fingerprint,
}

impl ChatJudge for FakeChatJudge {
    fn supports(&mut self, pairs: &[Pair], strictness: Strictness) -> Result<Vec<f32>, ModelError> {
        check(&self.fails, "chat judge")?;
        self.judged.add(pairs.iter().map(|pair| (pair.clone(), strictness)));
        let last = |text: &str| text.trim_end_matches('.').rsplit(' ').next().unwrap_or_default().to_owned();
        let supports = |pair: &Pair| match strictness {
            Strictness::Strict if pair.premise.contains(&pair.hypothesis) => 0.8,
            Strictness::Lenient if pair.premise.contains(&last(&pair.hypothesis)) => 0.7,
            _ => 0.2,
        };
        Ok(pairs.iter().map(supports).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// The strings by which a test pulls the fake models.
#[derive(Clone, Default)]
pub struct Strings {
    /// Pictures the captioner was given, warm-up included.
    pub captioned: Log<Picture>,
    /// Requests the drafter was given.
    pub drafted: Log<DraftRequest>,
    /// Pairs the judge was given.
    pub judged: Log<Pair>,
    /// What the drafter will say, and after that.
    pub script: Arc<Mutex<Vec<Claim>>>,
    pub then: Arc<Mutex<Vec<Vec<Claim>>>>,
    /// Makes the captioner fail.
    pub captioner_fails: Fault,
    /// Makes the judge fail.
    pub judge_fails: Fault,
    /// Makes them fail for one input.
    pub captioner_chokes_on: Arc<Mutex<Option<u8>>>,
    pub judge_chokes_on: Fault,
}

/// One of each fake model: `says` is what the captioner says of each tag, `contradicts` what the judge holds for
/// incompatible.
pub fn models(says: &[(u8, &str)], contradicts: &[(&str, &str)]) -> (Models, Strings) {
    let strings = Strings::default();
    let fingerprint = |role: &str| Fingerprint::new(format!("fake-{role}@0"));
    let models = Models {
        visual_qa: None,
        chat_judge: None,
        captioner: Box::new(FakeCaptioner {
            says: says.iter().map(|(tag, text)| (*tag, (*text).to_owned())).collect(),
            saw: strings.captioned.clone(),
            fails: strings.captioner_fails.clone(),
            chokes_on: strings.captioner_chokes_on.clone(),
            fingerprint: fingerprint("captioner"),
        }),
        embedder: Box::new(FakeEmbedder { fingerprint: fingerprint("embedder") }),
        drafter: Box::new(FakeDrafter {
            script: strings.script.clone(),
            then: strings.then.clone(),
            asked: strings.drafted.clone(),
            fingerprint: fingerprint("drafter"),
        }),
        judge: Box::new(FakeJudge {
            contradicts: contradicts.iter().map(|(p, h)| ((*p).to_owned(), (*h).to_owned())).collect(),
            judged: strings.judged.clone(),
            fails: strings.judge_fails.clone(),
            chokes_on: strings.judge_chokes_on.clone(),
            fingerprint: fingerprint("judge"),
        }),
    };
    (models, strings)
}

/// What a fake source has at a time.
#[derive(Debug, Clone)]
pub enum Past {
    /// A frame with this picture.
    Shows(Picture),
    /// A gap.
    Gap,
    /// Deleted.
    Expired,
    /// Bytes that do not decode.
    Garbled,
    /// Nothing comes until the test asks this for the end.
    Hangs(Stop),
}

/// A recorded stream: what it has at which time; anything else is out of range.
pub struct FakeEvidence {
    pub stream: StreamId,
    pub kind: StreamKind,
    pub epoch: WallTime,
    pub past: BTreeMap<StreamTime, Past>,
    /// The times it was asked for.
    pub asked: Log<StreamTime>,
}

impl EvidenceSource for FakeEvidence {
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        self.asked.add([at]);
        let stream = self.stream.clone();
        let missing = |reason: &str| EvidenceError::NoFrame { stream: stream.clone(), at, reason: reason.to_owned() };
        match self.past.get(&at) {
            Some(Past::Shows(picture)) => {
                let wall = self.epoch.plus(at.saturating_since(StreamTime::ZERO));
                Ok(Frame { stream, at, wall, clock: Clock::Media, precision: PRECISION, picture: picture.clone() })
            }
            Some(Past::Gap) => Err(missing("the stream was down")),
            Some(Past::Expired) => Err(EvidenceError::Expired { stream, at }),
            Some(Past::Garbled) => Err(EvidenceError::Decode { stream, at, reason: "no picture came out".to_owned() }),
            Some(Past::Hangs(stop)) => {
                stop.pause(std::time::Duration::from_hours(1));
                Err(missing("the test is over"))
            }
            None => Err(missing("it is out of range")),
        }
    }

    fn kind(&self) -> StreamKind {
        self.kind
    }
}
