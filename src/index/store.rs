//! The database file: opened once, closed once, shared by the writer and the readers.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use redb::{Builder, Database, DatabaseError, ReadTransaction, StorageBackend};

use super::{Config, IndexError, schema};
use crate::panics;

/// An open database. Once closed, every use is [`IndexError::Closed`].
#[derive(Debug)]
pub(super) struct Store(RwLock<Option<Database>>);

impl Store {
    /// Opens the file of `config`, creating it and its directory if missing.
    pub(super) fn open(config: &Config) -> Result<Self, IndexError> {
        let path = &config.path;
        let refused = |reason: String| IndexError::Open { path: path.clone(), reason };
        if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            std::fs::create_dir_all(directory).map_err(|error| refused(error.to_string()))?;
        }
        let size = std::fs::metadata(path).map_or(0, |file| file.len());
        let store = Self::build(config, size, |builder| builder.create(path)).map_err(|error| match error {
            Refusal::InUse => IndexError::Locked { path: path.clone() },
            Refusal::Reason(reason) => refused(reason),
            Refusal::Index(error) => error,
        })?;
        if size == 0 {
            sync_directory(path).map_err(|error| refused(error.to_string()))?;
        }
        Ok(store)
    }

    /// Opens a database over any storage.
    pub(super) fn with_backend(config: &Config, backend: impl StorageBackend) -> Result<Self, IndexError> {
        // Storage that cannot tell its size is left to redb, which says why.
        let size = backend.len().unwrap_or(0);
        Self::build(config, size, |builder| builder.create_with_backend(backend)).map_err(|error| match error {
            Refusal::InUse => IndexError::Locked { path: config.path.clone() },
            Refusal::Reason(reason) => IndexError::Open { path: config.path.clone(), reason },
            Refusal::Index(error) => error,
        })
    }

    fn build(
        config: &Config,
        size: u64,
        create: impl FnOnce(&Builder) -> Result<Database, DatabaseError>,
    ) -> Result<Self, Refusal> {
        let mut builder = Database::builder();
        builder.set_cache_size(config.cache_bytes);
        builder.set_check_integrity_on_open((1..=config.check_bytes).contains(&size));
        builder.set_repair_callback(|session| {
            tracing::warn!(progress = session.progress(), "repairing the index after a crash");
        });
        // redb may panic over a file that was damaged from outside.
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let database = create(&builder)?;
            schema::prepare(&database)?;
            Ok::<_, Refusal>(database)
        }));
        match opened {
            Ok(database) => database.map(|database| Self(RwLock::new(Some(database)))),
            Err(panic) => Err(Refusal::Index(IndexError::corrupt(panics::message(panic.as_ref())))),
        }
    }

    /// A snapshot of everything committed so far.
    pub(super) fn read(&self) -> Result<ReadTransaction, IndexError> {
        let database = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Ok(redb::ReadableDatabase::begin_read(database.as_ref().ok_or(IndexError::Closed)?)?)
    }

    /// Runs `write` on the database. Only the writer's thread calls this.
    pub(super) fn write<T>(&self, write: impl FnOnce(&Database) -> Result<T, IndexError>) -> Result<T, IndexError> {
        let database = self.0.read().unwrap_or_else(PoisonError::into_inner);
        write(database.as_ref().ok_or(IndexError::Closed)?)
    }

    /// Closes the file; snapshots that are still open fail from now on.
    pub(super) fn close(&self) -> Result<(), IndexError> {
        let database = self.0.write().unwrap_or_else(PoisonError::into_inner).take();
        match database.map(Database::close) {
            Some(Err(error)) => Err(redb::Error::from(error).into()),
            Some(Ok(())) | None => Ok(()),
        }
    }
}

/// Why a database was not opened, before it is known which file it is about.
enum Refusal {
    InUse,
    Reason(String),
    Index(IndexError),
}

impl From<IndexError> for Refusal {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl From<DatabaseError> for Refusal {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => Self::InUse,
            DatabaseError::Storage(redb::StorageError::Corrupted(reason)) => {
                Self::Index(IndexError::Corrupt { reason })
            }
            DatabaseError::Storage(redb::StorageError::Io(error))
                if error.kind() == std::io::ErrorKind::InvalidData =>
            {
                Self::Index(IndexError::corrupt(format!("it is not a redb database: {error}")))
            }
            other => Self::Reason(other.to_string()),
        }
    }
}

/// Makes the file's name in its directory survive a power cut.
fn sync_directory(path: &Path) -> std::io::Result<()> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}
