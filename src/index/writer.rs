//! The writer's thread: gathers operations, applies them in one transaction, commits, and only then answers.
//!
//! Owns all writing. State lives in the tables alone, so there is nothing here that could differ from the file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use redb::ReadableTable as _;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

use super::block::{self, MAX_COMPONENTS};
use super::codec::{self, MAX_CAPTION, Row};
use super::error::describe;
use super::schema::{EMBEDDER, NEXT_MOMENT, Tables, begin};
use super::store::Store;
use super::{Config, IndexError, Metrics, StreamRecord, spans};
use crate::domain::{BlindSpan, Fingerprint, Moment, MomentId, NewMoment, StreamId, StreamKind, StreamTime, WallTime};
use crate::panics;
use crate::telemetry::{QueueGauge, Stage};

/// The way back, used after the commit.
pub(super) type Reply<T> = oneshot::Sender<Result<T, IndexError>>;

/// What shall be written.
#[derive(Debug)]
pub(super) enum Operation {
    Register { stream: StreamId, kind: StreamKind, identity: Option<String>, reply: Reply<StreamRecord> },
    Append { moment: Box<NewMoment>, reply: Reply<Moment> },
    Extend { moment: MomentId, stream: StreamId, until: StreamTime, reply: Reply<Option<Moment>> },
    Blind { span: BlindSpan, reply: Reply<()> },
    End { stream: StreamId, reply: Reply<()> },
    SetAdded { stream: StreamId, settings: Option<Vec<u8>>, reply: Reply<()> },
    ForgetUnseen { stream: StreamId, reply: Reply<Option<StreamRecord>> },
    Close { reply: Reply<()> },
}

/// How the writer ended: `None` while it works.
pub(super) type Outcome = Option<Result<(), IndexError>>;

/// What the thread works with.
pub(super) struct Writer {
    pub(super) store: Arc<Store>,
    pub(super) queue: mpsc::Receiver<Operation>,
    pub(super) depth: QueueGauge,
    pub(super) config: Config,
    pub(super) metrics: Metrics,
    pub(super) outcome: watch::Sender<Outcome>,
}

/// Operations that share one commit, and who asked for the end.
struct Group {
    operations: Vec<Operation>,
    closing: Option<Reply<()>>,
}

impl Writer {
    /// Works until it is closed, until every handle is gone, or until the storage fails.
    pub(super) fn run(mut self) {
        let life = catch_unwind(AssertUnwindSafe(|| self.work()));
        let (outcome, closing) = match life {
            Ok(Ok(closing)) => (self.store.close(), closing),
            Ok(Err(error)) => (Err(error), None),
            Err(panic) => (Err(IndexError::corrupt(panics::message(panic.as_ref()))), None),
        };
        if let Err(error) = &outcome {
            tracing::error!(%error, "the index takes nothing more");
            // A failed database is let go of without another attempt to write to it being reported.
            let _ = catch_unwind(AssertUnwindSafe(|| self.store.close()));
        }
        // First the outcome, then the queue: whoever finds the queue closed finds the reason too.
        self.outcome.send_replace(Some(outcome.clone()));
        self.queue.close();
        if let Some(reply) = closing {
            let _ = reply.send(outcome);
        }
    }

    fn work(&mut self) -> Result<Option<Reply<()>>, IndexError> {
        // Only for waiting with a deadline; everything else on this thread blocks.
        let clock = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let clock = clock.map_err(|error| IndexError::Storage { reason: error.to_string() })?;
        self.measure();
        while let Some(group) = clock.block_on(self.gather()) {
            self.depth.set(self.queue.len());
            if !group.operations.is_empty() {
                self.commit(group.operations)?;
                self.measure();
            }
            if group.closing.is_some() {
                return Ok(group.closing);
            }
        }
        Ok(None)
    }

    /// The next operation and those that arrive soon enough after it; `None` when every handle is gone.
    async fn gather(&mut self) -> Option<Group> {
        let first = self.queue.recv().await?;
        let deadline = Instant::now() + self.config.commit_wait.0;
        let limit = self.config.commit_rows.max(1);
        let mut group = Group { operations: Vec::new(), closing: None };
        let mut next = Some(first);
        while let Some(operation) = next.take() {
            match operation {
                Operation::Close { reply } => group.closing = Some(reply),
                operation => group.operations.push(operation),
            }
            if group.closing.is_some() || group.operations.len() >= limit {
                break;
            }
            next = match self.queue.try_recv() {
                Ok(operation) => Some(operation),
                Err(_) if self.config.commit_wait.0 == Duration::ZERO => None,
                Err(_) => timeout_at(deadline, self.queue.recv()).await.ok().flatten(),
            };
        }
        Some(group)
    }

    /// Applies and commits; a refused operation leaves no trace, a failed storage fails every operation of the group.
    fn commit(&self, operations: Vec<Operation>) -> Result<(), IndexError> {
        let mut replies = Vec::with_capacity(operations.len());
        let committed = self.metrics.stages.time(Stage::Commit, || {
            self.store.write(|database| {
                let transaction = begin(database)?;
                {
                    let mut tables = Tables::open(&transaction)?;
                    for operation in operations {
                        replies.push(apply(&mut tables, operation)?);
                    }
                }
                Ok(transaction.commit()?)
            })
        });
        for reply in replies {
            reply(committed.clone());
        }
        committed
    }

    fn measure(&self) {
        if let Ok(file) = std::fs::metadata(&self.config.path) {
            self.metrics.store_bytes.set(file.len() as i64);
        }
    }
}

/// Tells one caller, once it is known whether the commit succeeded.
type Answer = Box<dyn FnOnce(Result<(), IndexError>)>;

/// An answer that is `result` if the commit succeeds. Fails only when the storage does.
fn answer<T: 'static>(reply: Reply<T>, result: Result<T, IndexError>) -> Result<Answer, IndexError> {
    match result {
        Err(error) if error.is_fatal() => {
            let _ = reply.send(Err(error.clone()));
            Err(error)
        }
        result => Ok(Box::new(move |committed| {
            // The caller may have left.
            let _ = reply.send(committed.and(result));
        })),
    }
}

fn apply(tables: &mut Tables<'_>, operation: Operation) -> Result<Answer, IndexError> {
    match operation {
        Operation::Register { stream, kind, identity, reply } => {
            answer(reply, register(tables, &stream, kind, identity))
        }
        Operation::Append { moment, reply } => answer(reply, append(tables, *moment)),
        Operation::Extend { moment, stream, until, reply } => {
            answer(reply, spans::extend(tables, &stream, moment, until))
        }
        Operation::Blind { span, reply } => answer(reply, spans::blind(tables, &span)),
        Operation::End { stream, reply } => answer(reply, end(tables, &stream)),
        Operation::SetAdded { stream, settings, reply } => {
            answer(reply, set_added(tables, &stream, settings.as_deref()))
        }
        Operation::ForgetUnseen { stream, reply } => answer(reply, forget_unseen(tables, &stream)),
        Operation::Close { reply } => answer(reply, Ok(())),
    }
}

fn register(
    tables: &mut Tables<'_>,
    stream: &StreamId,
    kind: StreamKind,
    identity: Option<String>,
) -> Result<StreamRecord, IndexError> {
    if let Some((_, record)) = find(tables, stream)? {
        let is_same = record.kind == kind && (kind == StreamKind::Live || record.identity == identity);
        return if is_same {
            Ok(record)
        } else {
            let stored = describe(record.kind, record.identity.as_deref());
            let found = describe(kind, identity.as_deref());
            Err(IndexError::Identity { stream: stream.clone(), stored, found })
        };
    }
    let number = next_stream_number(tables)?;
    let record = StreamRecord { epoch: WallTime::now(), kind, identity, last: None, ended: false, moments: 0 };
    tables.streams.insert(stream.as_str(), codec::encode_record(number, &record).as_slice())?;
    Ok(record)
}

fn append(tables: &mut Tables<'_>, moment: NewMoment) -> Result<Moment, IndexError> {
    check_size(&moment)?;
    let (number, mut record) = known(tables, &moment.stream)?;
    check_later(&moment.stream, &record, moment.at)?;
    let embedder = claim_embedder(tables, &moment.embedder)?;
    let captioner = fingerprint_number(tables, &moment.captioner)?;
    let id = tables.meta.get(NEXT_MOMENT)?.map_or(0, |next| next.value());
    let row = codec::encode_row(&Row {
        stream: number,
        at: moment.at,
        until: moment.at,
        wall: moment.wall,
        captioner,
        embedder,
        timing: moment.timing,
        caption: moment.caption.as_str(),
    });
    tables.moments.insert(id, row.as_slice())?;
    tables.by_time.insert((number, moment.at.nanos()), id)?;
    append_vector(tables, number, id, &moment)?;
    tables.meta.insert(NEXT_MOMENT, id + 1)?;
    record.moments += 1;
    record.last = Some(moment.at);
    update(tables, &moment.stream, number, &record)?;
    Ok(stored_moment(MomentId(id), moment))
}

/// Adds to the stream's last block, or starts a new one.
fn append_vector(tables: &mut Tables<'_>, stream: u32, id: u64, moment: &NewMoment) -> Result<(), IndexError> {
    let vector = moment.embedding.as_slice();
    let mut grown = None;
    if let Some((key, bytes)) = tables.vectors.range((stream, 0)..=(stream, u64::MAX))?.next_back().transpose()? {
        grown = block::grow(bytes.value(), id, moment.at, vector)?.map(|bytes| (key.value(), bytes));
    }
    let (key, bytes) = grown.unwrap_or_else(|| ((stream, moment.at.nanos()), block::start(id, moment.at, vector)));
    tables.vectors.insert(key, bytes.as_slice())?;
    Ok(())
}

/// What is stored of a stream only grows at its end.
pub(super) fn check_later(stream: &StreamId, record: &StreamRecord, at: StreamTime) -> Result<(), IndexError> {
    match record.last.filter(|&last| at <= last) {
        Some(last) => Err(IndexError::NotLater { stream: stream.clone(), at, last }),
        None => Ok(()),
    }
}

fn end(tables: &mut Tables<'_>, stream: &StreamId) -> Result<(), IndexError> {
    let (number, mut record) = known(tables, stream)?;
    record.ended = true;
    update(tables, stream, number, &record)
}

/// The number and record of a registered stream.
pub(super) fn known(tables: &Tables<'_>, stream: &StreamId) -> Result<(u32, StreamRecord), IndexError> {
    find(tables, stream)?.ok_or_else(|| IndexError::UnknownStream { stream: stream.clone() })
}

pub(super) fn update(
    tables: &mut Tables<'_>,
    stream: &StreamId,
    number: u32,
    record: &StreamRecord,
) -> Result<(), IndexError> {
    tables.streams.insert(stream.as_str(), codec::encode_record(number, record).as_slice())?;
    Ok(())
}

fn set_added(tables: &mut Tables<'_>, stream: &StreamId, settings: Option<&[u8]>) -> Result<(), IndexError> {
    match settings {
        Some(settings) => tables.added.insert(stream.as_str(), settings)?,
        None => tables.added.remove(stream.as_str())?,
    };
    Ok(())
}

/// The number of a stream of which nothing at all was noted may be given again: nothing refers to it.
fn forget_unseen(tables: &mut Tables<'_>, stream: &StreamId) -> Result<Option<StreamRecord>, IndexError> {
    let record = find(tables, stream)?.map(|(_, record)| record);
    if record.as_ref().is_some_and(|record| record.last.is_none()) {
        tables.streams.remove(stream.as_str())?;
        return Ok(None);
    }
    Ok(record)
}

fn check_size(moment: &NewMoment) -> Result<(), IndexError> {
    let refuse = |reason: String| Err(IndexError::TooLarge { stream: moment.stream.clone(), reason });
    let (caption, components) = (moment.caption.as_str().len(), moment.embedding.as_slice().len());
    if caption > MAX_CAPTION {
        refuse(format!("a caption of {caption} bytes is longer than {MAX_CAPTION}"))
    } else if components > MAX_COMPONENTS {
        refuse(format!("a vector of {components} components is longer than {MAX_COMPONENTS}"))
    } else if moment.at > StreamTime::MAX {
        refuse(format!("the time {} is later than {}", moment.at, StreamTime::MAX))
    } else {
        Ok(())
    }
}

fn find(tables: &Tables<'_>, stream: &StreamId) -> Result<Option<(u32, StreamRecord)>, IndexError> {
    let bytes = tables.streams.get(stream.as_str())?;
    Ok(bytes.map(|bytes| codec::decode_record(bytes.value())).transpose()?)
}

fn next_stream_number(tables: &Tables<'_>) -> Result<u32, IndexError> {
    let mut next = 0;
    for row in tables.streams.iter()? {
        let (number, _) = codec::decode_record(row?.1.value())?;
        next = next.max(number.saturating_add(1));
    }
    Ok(next)
}

/// The number of a fingerprint, new or known. There are only as many as models were ever configured.
fn fingerprint_number(tables: &mut Tables<'_>, fingerprint: &Fingerprint) -> Result<u32, IndexError> {
    let mut next = 0;
    for row in tables.fingerprints.iter()? {
        let (number, text) = row?;
        if text.value() == fingerprint.as_str() {
            return Ok(number.value());
        }
        next = number.value() + 1;
    }
    tables.fingerprints.insert(next, fingerprint.as_str())?;
    Ok(next)
}

/// Makes the index this embedder's, or refuses if it is another one's already.
fn claim_embedder(tables: &mut Tables<'_>, found: &Fingerprint) -> Result<u32, IndexError> {
    let owner = tables.meta.get(EMBEDDER)?.map(|number| number.value());
    let Some(owner) = owner else {
        let number = fingerprint_number(tables, found)?;
        tables.meta.insert(EMBEDDER, u64::from(number))?;
        return Ok(number);
    };
    let number = u32::try_from(owner).map_err(|_| IndexError::corrupt("the embedder's number is too large"))?;
    let text = tables.fingerprints.get(number)?.map(|text| Fingerprint::new(text.value()));
    let stored = text.ok_or_else(|| IndexError::corrupt("the embedder has no fingerprint"))?;
    if stored == *found { Ok(number) } else { Err(IndexError::Embedder { stored, found: found.clone() }) }
}

fn stored_moment(id: MomentId, moment: NewMoment) -> Moment {
    Moment {
        id,
        stream: moment.stream,
        at: moment.at,
        until: moment.at,
        wall: moment.wall,
        timing: moment.timing,
        caption: moment.caption,
        captioner: moment.captioner,
        embedder: moment.embedder,
    }
}
