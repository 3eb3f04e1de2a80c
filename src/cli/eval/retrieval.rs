//! `groundedvqa eval retrieval --data DIR`: whether the moments that are taken for questions lie where the answers are.
//!
//! The product's own retrieval over the index in memory: captions of videos as moments, questions as questions. Only the
//! embedder is real; nothing is captioned, drafted or judged.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use prometheus::Registry;
use tokio::sync::mpsc;

use super::input::{InputError, NextGqa};
use super::vectors::Vectors;
use crate::answer::{self, Answerer, SearchRequest, StreamEntry};
use crate::domain::{
    Caption, Claim, Design, Embedding, Entailment, Fingerprint, Frame, NewMoment, Picture, Question, QuestionId,
    StreamId, StreamKind, StreamTime, Window, Zone,
};
use crate::engine::{self, Engine};
use crate::eval::retrieval::{Asked, Figures};
use crate::eval::text::Video;
use crate::index::{self, Index};
use crate::models;
use crate::seams::{Captioner, DraftRequest, Drafter, EvidenceError, EvidenceSource, Judge, ModelError, Models, Pair};
use crate::telemetry::{Queues, Stages};

/// Moments taken for a question.
const K: usize = 5;
/// Sampling intervals that are measured, in seconds.
const EVERY: [u64; 3] = [5, 2, 1];
/// Texts embedded at once.
const BATCH: usize = 32;

/// What is measured.
#[derive(Debug, clap::Args)]
#[command(mut_arg("data", |data| data.required(true)))]
pub(super) struct Args {
    #[command(flatten)]
    data: NextGqa,
}

/// Measures and writes; ends with 0 when it was measured, whatever the figures are.
pub(super) async fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let args = &args.data;
    let folder = args.data.as_deref().context("no folder was named with --data")?;
    let (videos, questions) = args.read(folder)?;
    let videos: BTreeMap<String, Video> = videos.into_iter().map(|video| (video.video.clone(), video)).collect();
    let unnamable = questions.iter().find_map(|asked| StreamId::new(&asked.video).err());
    if let Some(reason) = unnamable {
        return Err(InputError::unusable(folder, reason).into());
    }
    let embedder = models::embedder_alone(&args.common.models)?;
    let fingerprint = embedder.fingerprint().clone();
    let mut vectors = Vectors::open(embedder, args.cache.as_deref())?;
    let captions = embed(&mut vectors, &videos, &questions)?;
    let mut report = format!(
        "# Retrieval, {:?} half\n\n{} questions, embedder `{fingerprint}`. Hits with their 95 % Wilson intervals, ratios with those of a bootstrap over videos.\n\n",
        args.half,
        questions.len()
    );
    let mut figures = Vec::new();
    let engine = engine(vectors)?;
    for every in EVERY {
        let measured = measure(&engine, &captions, &videos, &questions, every).await?;
        report.push_str(&measured.table());
        figures.push(measured);
    }
    fs::create_dir_all(&args.common.out).with_context(|| format!("cannot make {}", args.common.out.display()))?;
    let results = serde_json::json!({"embedder": fingerprint, "figures": figures});
    fs::write(args.common.out.join("retrieval.json"), serde_json::to_string_pretty(&results)?)?;
    fs::write(args.common.out.join("retrieval.md"), &report)?;
    print!("{report}");
    Ok(ExitCode::SUCCESS)
}

/// The vectors of all captions of the videos that are asked about; what was embedded is kept.
fn embed(
    vectors: &mut Vectors,
    videos: &BTreeMap<String, Video>,
    questions: &[Asked],
) -> anyhow::Result<BTreeMap<String, Vec<Embedding>>> {
    use crate::seams::Embedder as _;
    let mut captions = BTreeMap::new();
    for asked in questions {
        let (name, video) = videos.get_key_value(&asked.video).context("the video was looked for before")?;
        if !captions.contains_key(name) {
            let mut embeddings = Vec::with_capacity(video.captions.len());
            for batch in video.captions.chunks(BATCH) {
                embeddings.extend(vectors.embed(batch)?);
            }
            captions.insert(name.clone(), embeddings);
        }
    }
    vectors.save()?;
    Ok(captions)
}

async fn measure(
    engine: &Engine,
    captions: &BTreeMap<String, Vec<Embedding>>,
    videos: &BTreeMap<String, Video>,
    questions: &[Asked],
    every: u64,
) -> anyhow::Result<Figures> {
    let answerer = memory(engine, captions, videos, every).await?;
    let mut figures = Figures::new(every);
    for asked in questions {
        let stream = Some(StreamId::new(&asked.video)?);
        let request = SearchRequest { text: asked.question.clone(), stream: stream.clone(), window: Window::ALL, k: K };
        let cosine = answerer.search(request).await?;
        let question = Question {
            id: QuestionId::generate(),
            text: asked.question.clone(),
            stream,
            design: Design::CaptionNli,
            k: K,
        };
        let ours = answerer.recall(&question).await?;
        let times = |hits: &[crate::domain::Hit]| hits.iter().map(|hit| hit.moment.at.seconds()).collect::<Vec<_>>();
        let count = captions.get(&asked.video).map_or(0, Vec::len);
        let all: Vec<f64> = (0..count).step_by(every as usize).map(|at| at as f64).collect();
        figures.add(asked, &times(&cosine), &times(&ours), &all);
    }
    Ok(figures.compared())
}

/// An answering flow over one stream a video, with a moment every so many seconds.
async fn memory(
    engine: &Engine,
    captions: &BTreeMap<String, Vec<Embedding>>,
    videos: &BTreeMap<String, Video>,
    every: u64,
) -> anyhow::Result<Answerer> {
    let registry = Registry::new();
    let (stages, queues) = (Stages::register(&registry)?, Queues::register(&registry)?);
    let index =
        Index::in_memory(&index::Config::default(), index::Metrics::register(&registry, stages.clone(), queues)?)?;
    let mut entries = Vec::new();
    for (name, embeddings) in captions {
        let stream = StreamId::new(name)?;
        let record = index.register(&stream, StreamKind::File, Some(name.clone())).await?;
        let said = &videos[name].captions;
        for (at, (caption, embedding)) in said.iter().zip(embeddings).enumerate().step_by(every as usize) {
            let at = StreamTime::from_seconds(at as f64)?;
            let moment = NewMoment {
                stream: stream.clone(),
                at,
                wall: record.epoch.plus(at.saturating_since(StreamTime::ZERO)),
                timing: None,
                caption: Caption::new(caption),
                embedding: embedding.clone(),
                captioner: engine.captioner().clone(),
                embedder: engine.embedder().clone(),
            };
            index.append(moment).await?;
        }
        let sample_every = Duration::from_secs(every);
        let evidence = Arc::new(Nothing);
        entries.push((stream, StreamEntry { kind: StreamKind::File, sample_every, zone: Zone::utc(), evidence }));
    }
    let (events, _) = mpsc::channel(1);
    let metrics = answer::Metrics::register(&registry, stages)?;
    let no_jpeg = |_: &Picture, _: usize| Err("nothing is looked at".to_owned());
    let config = answer::Config::default();
    Ok(Answerer::new(engine.clone(), index, entries.into_iter().collect(), events, no_jpeg, config, metrics))
}

fn engine(vectors: Vectors) -> anyhow::Result<Engine> {
    let registry = Registry::new();
    let metrics = engine::Metrics { stages: Stages::register(&registry)?, queues: Queues::register(&registry)? };
    let absent = || Box::new(Absent(Fingerprint::new("absent")));
    let embedder = Box::new(vectors);
    let models =
        Models { captioner: absent(), embedder, drafter: absent(), judge: absent(), visual_qa: None, chat_judge: None };
    Ok(Engine::start(models, &engine::Config::default(), metrics)?.0)
}

/// Stands in for models that are not asked.
struct Absent(Fingerprint);

impl Captioner for Absent {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        Ok(vec![Caption::new(""); pictures.len()])
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
}

impl Drafter for Absent {
    fn draft(&mut self, _: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        Ok(Vec::new())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
}

impl Judge for Absent {
    fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError> {
        Ok(vec![Entailment { entailment: 0.0, neutral: 1.0, contradiction: 0.0 }; pairs.len()])
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }

    fn threshold(&self) -> f32 {
        1.0
    }
}

/// Stands in for pictures that are not there.
struct Nothing;

impl EvidenceSource for Nothing {
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        let stream = StreamId::new("none").expect("a token");
        Err(EvidenceError::NoFrame { stream, at, reason: "only captions are there".to_owned() })
    }

    fn kind(&self) -> StreamKind {
        StreamKind::File
    }
}
