//! Reading: everything here happens inside one short read transaction and returns owned values.

use std::collections::HashMap;

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable as _};

use super::codec::{self, CodecError};
use super::scan::{Query, Way, way};
use super::schema::{BY_TIME, EMBEDDER, FINGERPRINTS, META, MOMENTS, STREAMS};
use super::top::Top;
use super::{IndexError, Neighbours, Scope, StreamRecord};
use crate::domain::{Caption, Embedding, Fingerprint, Hit, Moment, MomentId, StreamId, StreamTime};

impl From<CodecError> for IndexError {
    fn from(error: CodecError) -> Self {
        Self::corrupt(error.to_string())
    }
}

/// One consistent view of the index.
pub(super) struct Snapshot {
    transaction: ReadTransaction,
    moments: ReadOnlyTable<u64, &'static [u8]>,
    by_time: ReadOnlyTable<(u32, u64), u64>,
}

/// The numbers of one stream's moments in a window.
struct Selection {
    stream: u32,
    ids: Vec<u64>,
}

impl Snapshot {
    pub(super) fn new(transaction: ReadTransaction) -> Result<Self, IndexError> {
        let moments = transaction.open_table(MOMENTS)?;
        let by_time = transaction.open_table(BY_TIME)?;
        Ok(Self { transaction, moments, by_time })
    }

    /// The `k` moments of the scope nearest to the query, best first.
    pub(super) fn search(&self, query: &Embedding, scope: &Scope, k: usize) -> Result<Vec<Hit>, IndexError> {
        let selections = self.select(scope)?;
        let mut query = Query::new(query.as_slice());
        let mut top = Top::new(k);
        let mut offer = |id: u64, row: &codec::Row<'_>| {
            if let Some(score) = query.cosine(row.vector) {
                top.offer(id, score);
            }
        };
        let first = selections.iter().flat_map(|selection| &selection.ids).min();
        let last = selections.iter().flat_map(|selection| &selection.ids).max();
        if let (Some(&first), Some(&last)) = (first, last) {
            let selected = selections.iter().map(|selection| selection.ids.len() as u64).sum();
            match way(selected, last - first + 1) {
                Way::Walk => self.walk(first, last, &selections, scope, &mut offer)?,
                Way::Fetch => self.fetch(&selections, &mut offer)?,
            }
        }
        let names = self.names()?;
        let hit = |found: super::top::Scored| Ok(Hit { moment: self.moment(found.id, &names)?, score: found.score });
        top.into_sorted().into_iter().map(hit).collect()
    }

    /// The moments of the scope in the order of time, at most `limit`; those of several streams in the order of the
    /// time of day.
    pub(super) fn moments(&self, scope: &Scope, limit: usize, newest_first: bool) -> Result<Vec<Moment>, IndexError> {
        let names = self.names()?;
        let mut found = Vec::new();
        for selection in self.select(scope)? {
            let ids: Box<dyn Iterator<Item = &u64>> =
                if newest_first { Box::new(selection.ids.iter().rev()) } else { Box::new(selection.ids.iter()) };
            for &id in ids.take(limit) {
                found.push(self.moment(id, &names)?);
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
        let time = |key: (u32, u64)| StreamTime::from_nanos(key.1);
        let before = self.by_time.range((number, 0)..(number, nanos))?.next_back().transpose()?;
        let after = self.by_time.range((number, nanos.saturating_add(1))..=(number, u64::MAX))?.next().transpose()?;
        Ok(Neighbours {
            before: before.map(|(key, _)| time(key.value())),
            at: self.by_time.get((number, nanos))?.map(|_| at),
            after: after.map(|(key, _)| time(key.value())),
        })
    }

    /// What is kept of a stream.
    pub(super) fn record(&self, stream: &StreamId) -> Result<Option<StreamRecord>, IndexError> {
        Ok(self.find(stream)?.map(|(_, record)| record))
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

    fn select(&self, scope: &Scope) -> Result<Vec<Selection>, IndexError> {
        let (from, to) = (scope.window.from().nanos(), scope.window.to().nanos());
        let mut selections = Vec::new();
        for stream in &scope.streams {
            let Some((number, _)) = self.find(stream)? else { continue };
            if selections.iter().any(|other: &Selection| other.stream == number) {
                continue;
            }
            let rows = self.by_time.range((number, from)..=(number, to))?;
            let ids = rows.map(|row| Ok(row?.1.value())).collect::<Result<Vec<_>, IndexError>>()?;
            selections.push(Selection { stream: number, ids });
        }
        Ok(selections)
    }

    fn walk(
        &self,
        first: u64,
        last: u64,
        selections: &[Selection],
        scope: &Scope,
        offer: &mut impl FnMut(u64, &codec::Row<'_>),
    ) -> Result<(), IndexError> {
        for row in self.moments.range(first..=last)? {
            let (id, bytes) = row?;
            let place = codec::decode_place(bytes.value())?;
            let is_meant = selections.iter().any(|selection| selection.stream == place.stream);
            if is_meant && scope.window.contains(place.at) {
                offer(id.value(), &codec::decode_row(bytes.value())?);
            }
        }
        Ok(())
    }

    fn fetch(&self, selections: &[Selection], offer: &mut impl FnMut(u64, &codec::Row<'_>)) -> Result<(), IndexError> {
        for &id in selections.iter().flat_map(|selection| &selection.ids) {
            let bytes = self.moments.get(id)?.ok_or_else(|| missing(id))?;
            offer(id, &codec::decode_row(bytes.value())?);
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
            let stream = StreamId::new(name.value()).map_err(|error| IndexError::corrupt(error.to_string()))?;
            names.streams.insert(number, stream);
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

fn missing(id: u64) -> IndexError {
    IndexError::corrupt(format!("moment {id} is listed and missing"))
}
