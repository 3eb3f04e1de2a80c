//! Why a configuration is refused.

use std::path::PathBuf;

/// A refusal that names the origin, the key and the reason.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is not TOML.
    #[error("{}: is not TOML: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, column and what was expected there.
        reason: String,
    },
    /// A key is unknown, or its value does not fit.
    #[error("{origin}: {key}: {reason}")]
    Key {
        /// The file, or the environment variable that set the key.
        origin: String,
        /// Path of the key, such as `streams.door.url`.
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A variable addresses a place that cannot hold a value.
    #[error("environment variable {variable}: {reason}")]
    Variable {
        /// Its name.
        variable: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that holds a secret cannot be used.
    #[error("secret file {}: {reason}", path.display())]
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
}
