//! The tables, and the check that a file holds them.

use redb::{Database, ReadableTable, Table, TableDefinition, WriteTransaction};

use super::IndexError;

/// Layout version of the whole file. Raised whenever an older program would misread it, or take it for damaged.
pub(super) const VERSION: u64 = 2;
/// The oldest layout that is read: its moments do not say how exact their times are.
const OLDEST: u64 = 1;

/// Small facts: [`VERSION_KEY`], [`NEXT_MOMENT`], [`EMBEDDER`].
pub(super) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
/// Moment number to row; see `codec`.
pub(super) const MOMENTS: TableDefinition<u64, &[u8]> = TableDefinition::new("moments");
/// (stream number, ns of stream time of the first moment) to packed vectors; see `block`.
pub(super) const VECTORS: TableDefinition<(u32, u64), &[u8]> = TableDefinition::new("vectors");
/// (stream number, ns of stream time) to moment number.
pub(super) const BY_TIME: TableDefinition<(u32, u64), u64> = TableDefinition::new("moments_by_time");
/// (stream number, ns of stream time of the first picture) to a stretch in which nothing was seen; see `codec`.
pub(super) const BLIND: TableDefinition<(u32, u64), &[u8]> = TableDefinition::new("unobservable");
/// Stream id to record; see `codec`.
pub(super) const STREAMS: TableDefinition<&str, &[u8]> = TableDefinition::new("streams");
/// Stream id to what a stream was added with while the daemon ran; the bytes belong to whoever added it.
pub(super) const ADDED: TableDefinition<&str, &[u8]> = TableDefinition::new("added_streams");
/// Number to fingerprint text.
pub(super) const FINGERPRINTS: TableDefinition<u32, &str> = TableDefinition::new("fingerprints");

/// Key in [`META`]: the layout version.
pub(super) const VERSION_KEY: &str = "version";
/// Key in [`META`]: the number of the next moment; numbers are never used twice.
pub(super) const NEXT_MOMENT: &str = "next_moment";
/// Key in [`META`]: number of the fingerprint of the embedder whose vectors are stored.
pub(super) const EMBEDDER: &str = "embedder";

/// All tables of one write transaction.
pub(super) struct Tables<'txn> {
    pub(super) meta: Table<'txn, &'static str, u64>,
    pub(super) moments: Table<'txn, u64, &'static [u8]>,
    pub(super) vectors: Table<'txn, (u32, u64), &'static [u8]>,
    pub(super) by_time: Table<'txn, (u32, u64), u64>,
    pub(super) blind: Table<'txn, (u32, u64), &'static [u8]>,
    pub(super) streams: Table<'txn, &'static str, &'static [u8]>,
    pub(super) added: Table<'txn, &'static str, &'static [u8]>,
    pub(super) fingerprints: Table<'txn, u32, &'static str>,
}

impl<'txn> Tables<'txn> {
    /// Opens every table, creating what is missing.
    pub(super) fn open(transaction: &'txn WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self {
            meta: transaction.open_table(META)?,
            moments: transaction.open_table(MOMENTS)?,
            vectors: transaction.open_table(VECTORS)?,
            by_time: transaction.open_table(BY_TIME)?,
            blind: transaction.open_table(BLIND)?,
            streams: transaction.open_table(STREAMS)?,
            added: transaction.open_table(ADDED)?,
            fingerprints: transaction.open_table(FINGERPRINTS)?,
        })
    }
}

/// Creates the tables in an empty file, or checks the version of a filled one before anything else is touched.
pub(super) fn prepare(database: &Database) -> Result<(), IndexError> {
    let transaction = begin(database)?;
    {
        let mut meta = transaction.open_table(META)?;
        let found = meta.get(VERSION_KEY)?.map(|version| version.value());
        match found {
            Some(VERSION) => {}
            Some(OLDEST..VERSION) => {
                meta.insert(VERSION_KEY, VERSION)?;
            }
            Some(found) => return Err(IndexError::Version { found, known: VERSION }),
            None if transaction.list_tables()?.count() > 1 => {
                return Err(IndexError::corrupt("it holds tables but no version, so it is not an index"));
            }
            None => {
                meta.insert(VERSION_KEY, VERSION)?;
            }
        }
    }
    Tables::open(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// A write transaction that is on the disk once committed, and that needs no repair scan after a crash.
pub(super) fn begin(database: &Database) -> Result<WriteTransaction, IndexError> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(redb::Durability::Immediate)?;
    transaction.set_quick_repair(true);
    Ok(transaction)
}
