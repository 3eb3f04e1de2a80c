//! Frames re-extracted for claims, and what a captioner that knows nothing else says about them.
//!
//! Extraction blocks, so it runs on blocking threads, a bounded number at once: a source that hangs keeps its permit,
//! and later extractions run into their time limit instead of piling up threads.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;

use super::error::AnswerError;
use super::flow::Parts;
use super::observable::unobservable;
use crate::domain::{Caption, Citation, Design, Evidence, Frame, Picture, Reason, Sha256};
use crate::engine::{EngineError, Lane};
use crate::seams::{EvidenceError, EvidenceSource, ModelError};
use crate::telemetry::Stage;

/// A frame with its JPEG.
#[derive(Debug)]
pub(super) struct Shot {
    pub(super) frame: Frame,
    pub(super) jpeg: Arc<[u8]>,
    pub(super) sha256: Sha256,
    /// Why the picture shows nothing.
    flat: Option<String>,
}

/// Why there is no shot.
#[derive(Debug, thiserror::Error)]
pub(super) enum Miss {
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error("the frame does not become a JPEG: {0}")]
    Jpeg(String),
    #[error("no frame came out within {} s", .0.as_secs_f32())]
    Late(Duration),
    #[error("the extraction ended unexpectedly")]
    Broken,
}

impl Miss {
    fn reason(&self) -> Reason {
        match self {
            Self::Evidence(EvidenceError::NoFrame { .. }) => Reason::NoFrame,
            Self::Evidence(EvidenceError::Expired { .. }) => Reason::Expired,
            Self::Evidence(EvidenceError::Decode { .. }) | Self::Jpeg(_) | Self::Late(_) | Self::Broken => {
                Reason::DecodeError
            }
        }
    }
}

impl From<Miss> for AnswerError {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::Evidence(error) => Self::Evidence(error),
            Miss::Late(_) => Self::Deadline,
            Miss::Jpeg(_) | Miss::Broken => Self::Frame(miss.to_string()),
        }
    }
}

/// What looking at one place of a stream gave. Lives as long as one request.
#[derive(Debug)]
pub(super) enum Look {
    /// A frame and its blind caption, empty if none was wanted.
    Seen(Evidence, Picture),
    /// Nothing that a claim could be judged by; the evidence is there if a picture came out.
    Blind { reason: Reason, detail: String, evidence: Option<Evidence> },
}

/// The looks of one request: each place is extracted and captioned once for it.
pub(super) type Looks = HashMap<Citation, Look>;

impl Parts {
    /// Extracts one frame afresh.
    pub(super) async fn extract(&self, citation: &Citation) -> Result<Shot, ExtractError> {
        let source = self.streams.find(&citation.stream).map_err(ExtractError::Request)?.evidence;
        let limit = self.cfg.extract_timeout.0;
        let shot = tokio::time::timeout(limit, self.extract_on_thread(source, citation)).await;
        shot.unwrap_or(Err(Miss::Late(limit))).map_err(ExtractError::Miss)
    }

    async fn extract_on_thread(&self, source: Arc<dyn EvidenceSource>, citation: &Citation) -> Result<Shot, Miss> {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.extractions).acquire_owned().await.map_err(|_| Miss::Broken)?;
        let (at, metrics) = (citation.at, self.metrics.clone());
        let (to_jpeg, max_bytes) = (self.to_jpeg, self.cfg.evidence_max_bytes);
        let job = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let start = Instant::now();
            let frame = source.frame_at(at)?;
            metrics.took(Stage::Extract, start.elapsed());
            let start = Instant::now();
            let jpeg: Arc<[u8]> = to_jpeg(&frame.picture, max_bytes).map_err(Miss::Jpeg)?.into();
            metrics.took(Stage::Jpeg, start.elapsed());
            Ok(Shot { sha256: Sha256::of(&jpeg), flat: unobservable(&frame.picture), frame, jpeg })
        });
        job.await.unwrap_or(Err(Miss::Broken))
    }

    /// Looks at every place that was not looked at yet: extraction side by side, then one batch of captions if the design
    /// wants them.
    pub(super) async fn look(&self, places: &[Citation], looks: &mut Looks, design: Design) -> Result<(), AnswerError> {
        let mut new: Vec<&Citation> = places.iter().filter(|place| !looks.contains_key(*place)).collect();
        new.sort();
        new.dedup();
        let shots = join_all(new.iter().map(|place| self.extract(place))).await;
        let mut seen = Vec::new();
        for (place, shot) in new.into_iter().zip(shots) {
            let noted = self.noted_blind(place).await?;
            match shot {
                Ok(shot) => {
                    let flat = noted.map(|noted| noted.sentence).or(shot.flat);
                    seen.push((place, Shot { flat, ..shot }));
                }
                Err(ExtractError::Request(error)) => return Err(error),
                Err(ExtractError::Miss(miss)) => {
                    let (reason, detail) = match noted.filter(|noted| noted.is_inside) {
                        Some(noted) => (Reason::Unobservable, noted.sentence),
                        None => (miss.reason(), miss.to_string()),
                    };
                    let look = Look::Blind { reason, detail, evidence: None };
                    looks.insert(place.clone(), look);
                }
            }
        }
        let captions = if design.captions() {
            self.caption(&seen).await?
        } else {
            seen.iter().map(|(_, shot)| shot.flat.is_none().then(|| Ok(Caption::new("")))).collect()
        };
        for ((place, shot), caption) in seen.into_iter().zip(captions) {
            looks.insert(place.clone(), look(shot, caption));
        }
        Ok(())
    }

    /// One caption a shot, `None` for flat ones. The engine takes pictures and nothing else.
    async fn caption(&self, seen: &[(&Citation, Shot)]) -> Result<Vec<Option<Result<Caption, String>>>, AnswerError> {
        let worth = |shot: &Shot| shot.flat.is_none();
        let pictures: Vec<Picture> =
            seen.iter().filter(|(_, shot)| worth(shot)).map(|(_, shot)| shot.frame.picture.clone()).collect();
        let mut captions = self.captions_of(pictures).await?.into_iter();
        let mut next = || captions.next().unwrap_or_else(|| Err(String::new()));
        Ok(seen.iter().map(|(_, shot)| worth(shot).then(&mut next)).collect())
    }

    /// One caption a picture, or why there is none. All go in one batch; if that fails each goes alone, so that a picture
    /// that the captioner chokes on leaves the others be.
    async fn captions_of(&self, pictures: Vec<Picture>) -> Result<Vec<Result<Caption, String>>, AnswerError> {
        let due = pictures.len();
        let detail = match self.captions(pictures.clone()).await? {
            Ok(captions) => return Ok(captions.into_iter().map(Ok).collect()),
            Err(detail) => detail,
        };
        if due < 2 {
            return Ok(vec![Err(detail); due]);
        }
        let mut each = Vec::with_capacity(due);
        for picture in pictures {
            let caption = self.captions(vec![picture]).await?;
            each.push(caption.and_then(|captions| captions.into_iter().next().ok_or_else(|| detail.clone())));
        }
        Ok(each)
    }

    /// One caption a picture, or why the captioner is not available.
    async fn captions(&self, pictures: Vec<Picture>) -> Result<Result<Vec<Caption>, String>, AnswerError> {
        let due = pictures.len();
        match self.engine.caption(Lane::Interactive, pictures).await {
            Ok(captions) if captions.len() == due => Ok(Ok(captions)),
            Ok(captions) => Ok(Err(format!("{} captions came back for {due} pictures", captions.len()))),
            Err(EngineError::Busy) => Err(AnswerError::Busy),
            Err(EngineError::Model(error)) => Ok(Err(unavailable(&error))),
        }
    }
}

/// Logs a model's failure where it turns into a verdict, and says it in words.
pub(super) fn unavailable(error: &ModelError) -> String {
    tracing::warn!(%error, "a claim cannot be checked");
    error.to_string()
}

/// Why an extraction gave nothing.
#[derive(Debug)]
pub(super) enum ExtractError {
    /// The request was wrong.
    Request(AnswerError),
    /// The source had nothing.
    Miss(Miss),
}

impl From<ExtractError> for AnswerError {
    fn from(error: ExtractError) -> Self {
        match error {
            ExtractError::Request(error) => error,
            ExtractError::Miss(miss) => miss.into(),
        }
    }
}

fn look(shot: Shot, caption: Option<Result<Caption, String>>) -> Look {
    let Shot { frame, jpeg, sha256, flat } = shot;
    let picture = frame.picture.clone();
    let evidence = |caption| Evidence {
        citation: Citation { stream: frame.stream, at: frame.at },
        wall: frame.wall,
        clock: frame.clock,
        precision: frame.precision,
        neighbour: 0,
        caption,
        jpeg,
        sha256,
    };
    let (reason, detail) = match caption {
        Some(Ok(caption)) => return Look::Seen(evidence(caption), picture),
        Some(Err(detail)) => (Reason::ModelUnavailable, detail),
        None => (Reason::Unobservable, flat.unwrap_or_default()),
    };
    Look::Blind { reason, detail, evidence: Some(evidence(Caption::new(""))) }
}
