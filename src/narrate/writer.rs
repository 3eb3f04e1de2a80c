//! The task of a stream: one frame after the other becomes a moment.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::Outage;
use super::board::DropReason;
use super::eye::{Eye, Plan};
use super::puller::{Item, Newest};
use super::teller::Teller;
use crate::domain::{BlindSpan, Caption, Embedding, Frame, Moment, NewMoment, StreamKind, StreamState};
use crate::engine::{Engine, EngineError, Lane};
use crate::index::{Index, IndexError};
use crate::seams::ModelError;

/// How often a file's frame is tried before the stream is failed.
const TRIES: u32 = 5;
/// The first wait between tries; it doubles …
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// … until it is so long.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// A failing model is logged at most so often.
const LOG_EVERY: Duration = Duration::from_mins(1);

/// What the task works with.
pub(super) struct Writer {
    pub(super) engine: Engine,
    pub(super) index: Index,
    pub(super) kind: StreamKind,
    pub(super) outage: Outage,
    pub(super) teller: Teller,
    pub(super) eye: Eye,
    pub(super) newest: Newest,
    /// How long a frame is worth captioning; for ever if absent.
    pub(super) patience: Option<Duration>,
    pub(super) log: Log,
}

/// What a frame became.
enum Stored {
    /// A moment of its own.
    Moment(Moment),
    /// The end of the last moment, which holds longer now.
    Extended(Moment),
    /// The end of a stretch in which nothing was seen.
    Blind(BlindSpan),
}

/// Why a frame did not become a moment.
#[derive(Debug, thiserror::Error)]
enum FrameError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("stopped while its caption was under way")]
    Stopped,
}

/// What to do about it.
#[derive(Debug, PartialEq, Eq)]
enum Remedy {
    /// Not stored, so a restart begins with this frame.
    Leave,
    Skip(DropReason),
    Retry,
    Fail,
}

/// Pure: the table in the module's documentation. `tries` counts the ones made.
#[allow(clippy::match_same_arms, reason = "one line a case, in the order of the table")]
fn remedy(error: &FrameError, kind: StreamKind, outage: Outage, tries: u32) -> Remedy {
    match error {
        FrameError::Stopped => Remedy::Leave,
        FrameError::Engine(EngineError::Model(ModelError::Input { .. })) => Remedy::Skip(DropReason::Refused),
        FrameError::Engine(EngineError::Model(ModelError::Late)) => Remedy::Skip(DropReason::Old),
        FrameError::Engine(EngineError::Model(ModelError::Stopped)) => Remedy::Fail,
        FrameError::Engine(_) if kind == StreamKind::Live => Remedy::Skip(DropReason::Model),
        FrameError::Engine(EngineError::Model(ModelError::Away { .. })) => match outage {
            Outage::Wait => Remedy::Retry,
            // Its client has tried as often as it should.
            Outage::Fail => Remedy::Fail,
        },
        FrameError::Engine(_) if tries < TRIES => Remedy::Retry,
        FrameError::Engine(_) => Remedy::Fail,
        FrameError::Index(IndexError::TooLarge { .. }) => Remedy::Skip(DropReason::Refused),
        FrameError::Index(IndexError::NotLater { .. }) => Remedy::Skip(DropReason::Late),
        FrameError::Index(_) => Remedy::Fail,
    }
}

impl Writer {
    /// Works until the file has ended, the end is asked for, the thread has ended, or a frame cannot be dealt with.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Item>) {
        let stop = self.teller.stop.clone();
        loop {
            let item = tokio::select! {
                biased;
                () = stop.asked() => return,
                item = queue.recv() => item,
            };
            let outcome = match item {
                Some(Item::Frame(frame, arrived)) => self.narrate(frame, arrived).await,
                Some(Item::Newest) => match self.newest.take() {
                    Some((frame, arrived)) => self.narrate(frame, arrived).await,
                    None => Ok(()),
                },
                Some(Item::End) => return self.end().await,
                None => return,
            };
            if let Err(error) = outcome {
                return self.teller.state(StreamState::Failed, &error.to_string());
            }
        }
    }

    async fn end(&self) {
        match self.index.mark_ended(&self.teller.stream).await {
            Ok(()) => self.teller.state(StreamState::Ended, ""),
            Err(error) => self.teller.state(StreamState::Failed, &error.to_string()),
        }
    }

    /// Deals with one frame, whatever it takes; an error means that the stream cannot go on.
    async fn narrate(&mut self, frame: Frame, arrived: Instant) -> Result<(), FrameError> {
        let mut wait = FIRST_WAIT;
        if self.eye.is_extra(frame.at) {
            self.teller.extra();
        }
        let plan = self.eye.look(&frame);
        if !matches!(plan, Plan::Blind(_)) {
            self.teller.sight(None, frame.wall);
        }
        for tries in 1.. {
            let error = match self.store(&frame, &plan, arrived).await {
                Ok(stored) => {
                    self.tell(stored, arrived).await;
                    return Ok(());
                }
                Err(error) => error,
            };
            match remedy(&error, self.kind, self.outage, tries) {
                Remedy::Leave => return Ok(()),
                Remedy::Fail => return Err(error),
                Remedy::Skip(reason) => {
                    self.log.warn(&self.teller, &frame, &error, reason.as_str());
                    self.teller.dropped(reason);
                    return Ok(());
                }
                Remedy::Retry => {
                    self.log.warn(&self.teller, &frame, &error, "tried again");
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        // Not stored, so a restart begins with this frame.
                        () = self.teller.stop.asked() => return Ok(()),
                    }
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
        }
        Ok(())
    }

    async fn tell(&mut self, stored: Stored, arrived: Instant) {
        match stored {
            Stored::Moment(moment) => {
                self.eye.captioned(moment.id);
                self.teller.moment(moment, arrived.elapsed()).await;
            }
            Stored::Extended(moment) => self.teller.extended(moment).await,
            Stored::Blind(span) => self.teller.unobservable(&span, self.eye.unobservable()),
        }
    }

    async fn store(&self, frame: &Frame, plan: &Plan, arrived: Instant) -> Result<Stored, FrameError> {
        match plan {
            Plan::Blind(span) => {
                self.index.blind(span.clone()).await?;
                return Ok(Stored::Blind(span.clone()));
            }
            Plan::Extend(moment) => {
                if let Some(moment) = self.index.extend(&frame.stream, *moment, frame.at).await? {
                    return Ok(Stored::Extended(moment));
                }
            }
            Plan::Caption => {}
        }
        Ok(Stored::Moment(self.caption(frame, arrived).await?))
    }

    async fn caption(&self, frame: &Frame, arrived: Instant) -> Result<Moment, FrameError> {
        // A model may take its time: whoever removes a stream does not wait for it.
        let (caption, embedding) = tokio::select! {
            biased;
            () = self.teller.stop.asked() => return Err(FrameError::Stopped),
            told = self.describe(frame, arrived) => told?,
        };
        let moment = NewMoment {
            stream: frame.stream.clone(),
            at: frame.at,
            wall: frame.wall,
            timing: Some(frame.timing()),
            caption,
            embedding,
            captioner: self.engine.captioner().clone(),
            embedder: self.engine.embedder().clone(),
        };
        Ok(self.index.append(moment).await?)
    }

    async fn describe(&self, frame: &Frame, arrived: Instant) -> Result<(Caption, Embedding), EngineError> {
        let until = self.patience.and_then(|patience| arrived.checked_add(patience));
        let pictures = vec![frame.picture.clone()];
        let captions = self.engine.caption_until(Lane::Background, until, pictures).await?;
        let caption = only(captions, "captioner")?;
        let embeddings = self.engine.embed(Lane::Background, vec![caption.as_str().to_owned()]).await?;
        Ok((caption, only(embeddings, "embedder")?))
    }
}

/// The one output for the one input.
fn only<T>(outputs: Vec<T>, model: &str) -> Result<T, EngineError> {
    let missing = || ModelError::Run { model: model.to_owned(), reason: "it gave no output".to_owned() };
    Ok(outputs.into_iter().next().ok_or_else(missing)?)
}

/// Warns about frames without captions, seldom enough for a log.
#[derive(Debug, Default)]
pub(super) struct Log {
    last: Option<Instant>,
    swallowed: u64,
}

impl Log {
    fn warn(&mut self, teller: &Teller, frame: &Frame, error: &FrameError, remedy: &str) {
        if self.last.is_some_and(|last| last.elapsed() < LOG_EVERY) {
            self.swallowed += 1;
            return;
        }
        let swallowed = std::mem::take(&mut self.swallowed);
        self.last = Some(Instant::now());
        tracing::warn!(stream = %teller.stream, at = %frame.at, %error, remedy, swallowed, "no caption for a frame");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{StreamId, StreamTime};

    #[test]
    fn every_error_has_its_remedy() {
        let model = |error: ModelError| FrameError::Engine(error.into());
        let run = || model(ModelError::Run { model: "captioner".into(), reason: "no memory".into() });
        let input = || model(ModelError::Input { model: "captioner".into(), reason: "no pixels".into() });
        let stream = StreamId::new("a").expect("valid");
        let (at, last) = (StreamTime::ZERO, StreamTime::ZERO);
        let late = FrameError::Index(IndexError::NotLater { stream: stream.clone(), at, last });
        let large = FrameError::Index(IndexError::TooLarge { stream, reason: "a novel".into() });
        let disk = || FrameError::Index(IndexError::Storage { reason: "full".into() });
        let (file, live) = (StreamKind::File, StreamKind::Live);
        let away = || model(ModelError::Away { model: "captioner".into(), reason: "no route".into() });
        for (error, kind, outage, tries, due) in [
            (away(), file, Outage::Wait, TRIES * 100, Remedy::Retry),
            (away(), file, Outage::Fail, 1, Remedy::Fail),
            (away(), live, Outage::Wait, 1, Remedy::Skip(DropReason::Model)),
            (away(), live, Outage::Fail, 1, Remedy::Skip(DropReason::Model)),
        ] {
            assert_eq!(remedy(&error, kind, outage, tries), due, "{error:?}, {kind:?}, {outage:?}, try {tries}");
        }
        for (error, kind, tries, due) in [
            (input(), file, 1, Remedy::Skip(DropReason::Refused)),
            (input(), live, 1, Remedy::Skip(DropReason::Refused)),
            (run(), file, 1, Remedy::Retry),
            (run(), file, TRIES - 1, Remedy::Retry),
            (run(), file, TRIES, Remedy::Fail),
            (run(), live, 1, Remedy::Skip(DropReason::Model)),
            (model(ModelError::Late), live, 1, Remedy::Skip(DropReason::Old)),
            (model(ModelError::Stopped), file, 1, Remedy::Fail),
            (model(ModelError::Stopped), live, 1, Remedy::Fail),
            (disk(), file, 1, Remedy::Fail),
            (disk(), live, 1, Remedy::Fail),
            (late, live, 1, Remedy::Skip(DropReason::Late)),
            (large, file, 1, Remedy::Skip(DropReason::Refused)),
        ] {
            assert_eq!(remedy(&error, kind, Outage::Wait, tries), due, "{error:?}, {kind:?}, try {tries}");
        }
    }
}
