//! TOML and environment to validated sections; each module owns its own `Config` type.

mod error;
mod secret_file;
mod span;

pub use error::ConfigError;
pub use secret_file::SecretFile;
pub use span::{Span, SpanError};
