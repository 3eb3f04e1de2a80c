//! Reading: everything here happens inside one short read transaction and returns owned values.

use std::collections::{BTreeSet, HashMap};

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable as _};

use super::block::{Block, Query};
use super::codec::{self, CodecError};
use super::schema::{ADDED, BLIND, BY_TIME, EMBEDDER, FINGERPRINTS, META, MOMENTS, STREAMS, VECTORS};
use super::top::{Scored, Top};
use super::{Darkness, IndexError, Neighbours, Scope, StreamRecord, spans};
use crate::domain::{BlindSpan, Caption, Embedding, Fingerprint, Hit, Moment, MomentId, StreamId, StreamTime, Window};

impl From<CodecError> for IndexError {
    fn from(error: CodecError) -> Self {
        Self::corrupt(error.to_string())
    }
}

/// One consistent view of the index.
pub(super) struct Snapshot {
    transaction: ReadTransaction,
    moments: ReadOnlyTable<u64, &'static [u8]>,
    vectors: ReadOnlyTable<(u32, u64), &'static [u8]>,
    by_time: ReadOnlyTable<(u32, u64), u64>,
}

impl Snapshot {
    pub(super) fn new(transaction: ReadTransaction) -> Result<Self, IndexError> {
        let moments = transaction.open_table(MOMENTS)?;
        let vectors = transaction.open_table(VECTORS)?;
        let by_time = transaction.open_table(BY_TIME)?;
        Ok(Self { transaction, moments, vectors, by_time })
    }

    /// The `k` moments of the scope nearest to the query, best first.
    pub(super) fn search(&self, query: &Embedding, scope: &Scope, k: usize) -> Result<Vec<Hit>, IndexError> {
        let mut query = Query::new(query.as_slice());
        let mut top = Top::new(k);
        for stream in self.numbers(&scope.streams)? {
            self.scan(stream, scope.window, &mut query, &mut top)?;
        }
        let names = self.names()?;
        let hit = |found: Scored| Ok(Hit { moment: self.moment(found.id, &names)?, score: found.score });
        top.into_sorted().into_iter().map(hit).collect()
    }

    /// The moments of the scope in the order of time, at most `limit`; those of several streams in the order of the
    /// time of day.
    pub(super) fn moments(&self, scope: &Scope, limit: usize, newest_first: bool) -> Result<Vec<Moment>, IndexError> {
        let names = self.names()?;
        let (from, to) = (scope.window.from().nanos(), scope.window.to().nanos());
        let mut found = Vec::new();
        for stream in self.numbers(&scope.streams)? {
            // The span of the one before may reach into the window.
            let begin = self.holding(stream, from)?.map_or(from, |(begin, _)| begin);
            let mut rows = self.by_time.range((stream, begin)..=(stream, to))?;
            let next = || if newest_first { rows.next_back() } else { rows.next() };
            for row in std::iter::from_fn(next).take(limit) {
                found.push(self.moment(row?.1.value(), &names)?);
            }
        }
        if scope.streams.len() > 1 {
            found.sort_by_key(|moment| (moment.wall, moment.id));
            if newest_first {
                found.reverse();
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The moments of one stream around a time.
    pub(super) fn neighbours(&self, stream: &StreamId, at: StreamTime) -> Result<Neighbours, IndexError> {
        let Some((number, _)) = self.find(stream)? else { return Ok(Neighbours::default()) };
        let nanos = at.nanos();
        let holding = self.holding(number, nanos)?;
        let before = match holding {
            Some((begin, _)) if begin < nanos => None,
            _ => self.by_time.range((number, 0)..(number, nanos))?.next_back().transpose()?,
        };
        let after = self.by_time.range((number, nanos.saturating_add(1))..=(number, u64::MAX))?.next().transpose()?;
        Ok(Neighbours {
            before: before.map(|(_, id)| self.until(id.value())).transpose()?,
            at: holding.filter(|&(begin, _)| begin == nanos).map(|_| at),
            until: holding.map(|(_, until)| until),
            after: after.map(|(key, _)| StreamTime::from_nanos(key.value().1)),
        })
    }

    /// The stretches of one stream in which nothing was seen that touch the window.
    pub(super) fn unobservable(&self, stream: &StreamId, window: Window) -> Result<Vec<BlindSpan>, IndexError> {
        let Some((number, _)) = self.find(stream)? else { return Ok(Vec::new()) };
        spans::unobservable(&self.transaction.open_table(BLIND)?, number, stream, window)
    }

    /// The stretch without sight that began last, and what came after it.
    pub(super) fn darkness(&self, stream: &StreamId, at: StreamTime) -> Result<Option<Darkness>, IndexError> {
        let Some((number, record)) = self.find(stream)? else { return Ok(None) };
        let Some(span) = spans::last(&self.transaction.open_table(BLIND)?, number, stream, at)? else {
            return Ok(None);
        };
        let after = (number, span.until.nanos().saturating_add(1))..=(number, u64::MAX);
        let seen = self.by_time.range(after)?.next().transpose()?;
        let seen = seen.map(|(key, _)| StreamTime::from_nanos(key.value().1));
        let last = record.last.unwrap_or(span.until);
        Ok(Some(Darkness { span, seen, last }))
    }

    /// Begin and end of the moment whose span holds a time.
    fn holding(&self, stream: u32, nanos: u64) -> Result<Option<(u64, StreamTime)>, IndexError> {
        let Some(last) = self.by_time.range((stream, 0)..=(stream, nanos))?.next_back().transpose()? else {
            return Ok(None);
        };
        let until = self.until(last.1.value())?;
        Ok((until.nanos() >= nanos).then(|| (last.0.value().1, until)))
    }

    /// Where the span of a moment ends.
    fn until(&self, id: u64) -> Result<StreamTime, IndexError> {
        let bytes = self.moments.get(id)?.ok_or_else(|| missing(id))?;
        Ok(codec::decode_row(bytes.value())?.until)
    }

    /// What is kept of a stream.
    pub(super) fn record(&self, stream: &StreamId) -> Result<Option<StreamRecord>, IndexError> {
        Ok(self.find(stream)?.map(|(_, record)| record))
    }

    /// What is kept of every stream there ever was.
    pub(super) fn streams(&self) -> Result<Vec<(StreamId, StreamRecord)>, IndexError> {
        let rows = self.transaction.open_table(STREAMS)?;
        let rows = rows.iter()?.map(|row| {
            let (name, bytes) = row?;
            Ok((stream_id(name.value())?, codec::decode_record(bytes.value())?.1))
        });
        rows.collect()
    }

    /// What each added stream was added with.
    pub(super) fn added(&self) -> Result<Vec<(StreamId, Vec<u8>)>, IndexError> {
        let rows = self.transaction.open_table(ADDED)?;
        let rows = rows.iter()?.map(|row| {
            let (name, bytes) = row?;
            Ok((stream_id(name.value())?, bytes.value().to_vec()))
        });
        rows.collect()
    }

    /// Whose vectors are stored; `None` in an empty index.
    pub(super) fn embedder(&self) -> Result<Option<Fingerprint>, IndexError> {
        let Some(number) = self.transaction.open_table(META)?.get(EMBEDDER)? else { return Ok(None) };
        let fingerprints = self.transaction.open_table(FINGERPRINTS)?;
        let text = u32::try_from(number.value()).ok().map(|number| fingerprints.get(number)).transpose()?.flatten();
        let text = text.ok_or_else(|| IndexError::corrupt("the embedder has no fingerprint"))?;
        Ok(Some(Fingerprint::new(text.value())))
    }

    fn find(&self, stream: &StreamId) -> Result<Option<(u32, StreamRecord)>, IndexError> {
        let streams = self.transaction.open_table(STREAMS)?;
        let record = streams.get(stream.as_str())?;
        Ok(record.map(|bytes| codec::decode_record(bytes.value())).transpose()?)
    }

    /// The numbers of those streams that are known, each once.
    fn numbers(&self, streams: &[StreamId]) -> Result<BTreeSet<u32>, IndexError> {
        let mut numbers = BTreeSet::new();
        for stream in streams {
            numbers.extend(self.find(stream)?.map(|(number, _)| number));
        }
        Ok(numbers)
    }

    /// Offers every moment of one stream inside the window.
    fn scan(&self, stream: u32, window: Window, query: &mut Query, top: &mut Top) -> Result<(), IndexError> {
        let to = window.to().nanos();
        // The span of the one before may reach into the window, and the window may begin in the middle of a block.
        let from = self.holding(stream, window.from().nanos())?.map_or(window.from().nanos(), |(begin, _)| begin);
        let touches = |at: StreamTime| (from..=to).contains(&at.nanos());
        let first = self.vectors.range((stream, 0)..=(stream, from))?.next_back().transpose()?;
        let first = first.map_or(from, |(key, _)| key.value().1);
        for block in self.vectors.range((stream, first)..=(stream, to))? {
            let (_, bytes) = block?;
            for entry in Block::decode(bytes.value())?.entries() {
                let entry = entry?;
                if touches(entry.at)
                    && let Some(score) = query.cosine(entry)
                {
                    top.offer(entry.id, score);
                }
            }
        }
        Ok(())
    }

    fn moment(&self, id: u64, names: &Names) -> Result<Moment, IndexError> {
        let bytes = self.moments.get(id)?.ok_or_else(|| missing(id))?;
        let row = codec::decode_row(bytes.value())?;
        Ok(Moment {
            id: MomentId(id),
            stream: names.stream(row.stream)?,
            at: row.at,
            until: row.until,
            wall: row.wall,
            timing: row.timing,
            caption: Caption::new(row.caption),
            captioner: names.fingerprint(row.captioner)?,
            embedder: names.fingerprint(row.embedder)?,
        })
    }

    fn names(&self) -> Result<Names, IndexError> {
        let mut names = Names { streams: HashMap::new(), fingerprints: HashMap::new() };
        for row in self.transaction.open_table(STREAMS)?.iter()? {
            let (name, bytes) = row?;
            let (number, _) = codec::decode_record(bytes.value())?;
            names.streams.insert(number, stream_id(name.value())?);
        }
        for row in self.transaction.open_table(FINGERPRINTS)?.iter()? {
            let (number, text) = row?;
            names.fingerprints.insert(number.value(), Fingerprint::new(text.value()));
        }
        Ok(names)
    }
}

/// Numbers in rows to what they stand for.
struct Names {
    streams: HashMap<u32, StreamId>,
    fingerprints: HashMap<u32, Fingerprint>,
}

impl Names {
    fn stream(&self, number: u32) -> Result<StreamId, IndexError> {
        let stream = self.streams.get(&number).cloned();
        stream.ok_or_else(|| IndexError::corrupt(format!("a moment belongs to the unknown stream {number}")))
    }

    fn fingerprint(&self, number: u32) -> Result<Fingerprint, IndexError> {
        let fingerprint = self.fingerprints.get(&number).cloned();
        fingerprint.ok_or_else(|| IndexError::corrupt(format!("a moment names the unknown model {number}")))
    }
}

fn stream_id(name: &str) -> Result<StreamId, IndexError> {
    StreamId::new(name).map_err(|error| IndexError::corrupt(error.to_string()))
}

fn missing(id: u64) -> IndexError {
    IndexError::corrupt(format!("moment {id} is listed and missing"))
}
