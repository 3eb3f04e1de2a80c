//! Claims checked and questions answered as the daemon does it: the answering flow itself, over the engine, an index in
//! memory, and frames that are there already instead of extracted.

use std::sync::Arc;
use std::time::Duration;

use groundedvqa::answer::{self, Answerer, StreamEntry, Streams};
use groundedvqa::config::Span;
use groundedvqa::domain::{
    Caption, Citation, Claim, Clock, Design, Event, Fingerprint, Frame, NewMoment, Picture, Question, QuestionId,
    StreamId, StreamKind, StreamTime, Verdict, WallTime, Zone,
};
use groundedvqa::engine::{self, Engine};
use groundedvqa::index::{self, Index};
use groundedvqa::models::drafter::LanguageModel;
use groundedvqa::models::judge::NliJudge;
use groundedvqa::seams::{Captioner, EvidenceError, EvidenceSource, ModelError, Models};
use groundedvqa::telemetry::{Queues, Stages};
use prometheus::Registry;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::small::{ClaimOfEach, Words};
use crate::table::{Table, timed};

/// What every picture is then said to show: the judge reads both sentences for every claim.
pub(crate) const SENTENCES: [&str; 2] =
    ["There are about seven people, a car and a van or truck.", "A man in a red coat walks on the left."];
const CLAIMS: usize = 5;
const MOMENTS: usize = 60;
const EVERY: Duration = Duration::from_secs(5);

/// The vision-language model does all its work; its noise is then replaced by sentences.
struct Telling(Box<dyn Captioner>);

impl Captioner for Telling {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        Ok(self.0.caption(pictures)?.iter().map(|_| Caption::new(SENTENCES.join(" "))).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        self.0.fingerprint()
    }
}

/// Every time has a picture of its own.
struct Pictures(StreamId);

impl EvidenceSource for Pictures {
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        let (stream, wall) = (self.0.clone(), WallTime::now());
        let picture = crate::picture(at.seconds() as usize);
        Ok(Frame { stream, at, wall, clock: Clock::Media, precision: Duration::ZERO, picture })
    }

    fn kind(&self) -> StreamKind {
        StreamKind::File
    }
}

/// The asking half of a daemon.
pub(crate) struct House {
    runtime: Runtime,
    answerer: Answerer,
    stream: StreamId,
    /// Kept open: a verdict is told before an answer is given.
    _events: mpsc::Receiver<Event>,
}

impl House {
    pub(crate) fn new(captioner: Box<dyn Captioner>, drafter: LanguageModel, judge: NliJudge) -> anyhow::Result<Self> {
        let models = Models {
            captioner: Box::new(Telling(captioner)),
            embedder: Box::new(Words::new()),
            drafter: Box::new(ClaimOfEach(drafter)),
            judge: Box::new(judge),
            visual_qa: None,
            chat_judge: None,
        };
        let runtime = Runtime::new()?;
        let stream = StreamId::new("yard")?;
        let (answerer, events) = runtime.block_on(answerer(models, &stream))?;
        Ok(Self { runtime, answerer, stream, _events: events })
    }

    /// One row for a claim and one for a question.
    pub(crate) fn measure(&self, table: &Table, model: &str) -> anyhow::Result<()> {
        table.row((model, "verifies one claim"), 1, (1, "claims"), |round| {
            let at = StreamTime::from_seconds((round * 5) as f64)?;
            let text = "There is a red car on the left.".to_owned();
            let claim = Claim { text, citation: Citation { stream: self.stream.clone(), at } };
            let work = self.answerer.verify(vec![claim], Design::CaptionNli);
            timed(|| check(&self.runtime.block_on(work)?, 1))
        })?;
        table.row((model, "answers with five verified claims"), 1, (1, "answers"), |_| {
            let question = Question {
                id: QuestionId::generate(),
                text: "What is there?".to_owned(),
                stream: Some(self.stream.clone()),
                design: Design::CaptionNli,
                k: CLAIMS,
            };
            timed(|| check(&self.runtime.block_on(self.answerer.answer(question))?.verdicts, CLAIMS))
        })
    }
}

/// A row that left out what it says it contains would be no measurement.
fn check(verdicts: &[Verdict], due: usize) -> anyhow::Result<()> {
    let judged = verdicts.iter().filter(|it| it.trials.len() == 1 && it.trials[0].entailment.is_some()).count();
    anyhow::ensure!((verdicts.len(), judged) == (due, due), "{due} claims were to be judged: {verdicts:?}");
    Ok(())
}

async fn answerer(models: Models, stream: &StreamId) -> anyhow::Result<(Answerer, mpsc::Receiver<Event>)> {
    let registry = Registry::new();
    let (stages, queues) = (Stages::register(&registry)?, Queues::register(&registry)?);
    let metrics = index::Metrics::register(&registry, stages.clone(), queues.clone())?;
    let index = Index::in_memory(&index::Config::default(), metrics)?;
    remember(&index, stream, models.captioner.fingerprint()).await?;
    let metrics = engine::Metrics { stages: stages.clone(), queues };
    let limits = engine::Config { max_pictures: 8, ..engine::Config::default() };
    let (engine, _) = Engine::start(models, &limits, metrics)?;
    let (kind, evidence) = (StreamKind::File, Arc::new(Pictures(stream.clone())));
    let entry = StreamEntry { kind, sample_every: EVERY, zone: Zone::utc(), evidence };
    let streams: Streams = [(stream.clone(), entry)].into_iter().collect();
    let (sender, events) = mpsc::channel(1 << 16);
    // A judge of noise entails nothing: with neighbours or rounds it would look three times where a trained one looks
    // once.
    let config = answer::Config {
        max_claims: CLAIMS,
        neighbours: 0,
        rounds: 0,
        deadline: Span(Duration::from_hours(1)),
        ..answer::Config::default()
    };
    let metrics = answer::Metrics::register(&registry, stages)?;
    Ok((Answerer::new(engine, index, streams, sender, to_jpeg, config, metrics), events))
}

async fn remember(index: &Index, stream: &StreamId, captioner: &Fingerprint) -> anyhow::Result<()> {
    let record = index.register(stream, StreamKind::File, Some("noise".to_owned())).await?;
    for number in 0..MOMENTS {
        let text = format!("There are {number} people and a red car. {}", SENTENCES[1]);
        let after = EVERY * number as u32;
        let moment = NewMoment {
            stream: stream.clone(),
            at: StreamTime::from_seconds(after.as_secs_f64())?,
            wall: record.epoch.plus(after),
            timing: None,
            embedding: Words::vector(&text),
            caption: Caption::new(text),
            captioner: captioner.clone(),
            embedder: Fingerprint::new("words@0"),
        };
        index.append(moment).await?;
    }
    Ok(())
}

fn to_jpeg(picture: &Picture, _: usize) -> Result<Vec<u8>, String> {
    let (mut jpeg, side) = (Vec::new(), |side: u32| u16::try_from(side).map_err(|error| error.to_string()));
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    let encoder = jpeg_encoder::Encoder::new(&mut jpeg, 85);
    encoder.encode(picture.rgb(), width, height, jpeg_encoder::ColorType::Rgb).map_err(|error| error.to_string())?;
    Ok(jpeg)
}
