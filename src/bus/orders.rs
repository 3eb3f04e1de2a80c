//! Orders to add, change and remove streams, handed to whoever watches them. The bus carries them and decides nothing.

use tokio::sync::{mpsc, oneshot};

use super::refusal::Refusal;
use super::wire::{ErrorCode, StreamReply, StreamRequest};
use crate::domain::StreamId;

/// What shall be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Watch a stream that is not watched.
    Add(StreamRequest),
    /// Watch an added stream with other settings.
    Change(StreamRequest),
    /// Watch an added stream no longer.
    Remove(StreamId),
}

/// An order and the way back.
#[derive(Debug)]
pub struct StreamOrder {
    /// What shall be done.
    pub order: Order,
    /// How it went; sent once it is done and would survive a crash.
    pub reply: oneshot::Sender<Result<StreamReply, OrderError>>,
}

/// Why an order is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The site does not allow it.
    #[error("{0}")]
    Forbidden(String),
    /// A setting is wrong, or contradicts another one.
    #[error("{0}")]
    Settings(String),
    /// The stream is watched already, belongs to the configuration file, or is known as another source.
    #[error("{0}")]
    Conflict(String),
    /// No such stream is watched.
    #[error("stream {0} is not watched: list the streams to see their names")]
    Unknown(StreamId),
    /// As many streams as allowed are watched.
    #[error("{0} streams were added already: remove one, or raise bus.manage_streams")]
    Full(usize),
    /// The memory does not answer.
    #[error("{0}")]
    Unavailable(String),
}

impl From<OrderError> for Refusal {
    fn from(error: OrderError) -> Self {
        let code = match &error {
            OrderError::Forbidden(_) => ErrorCode::Forbidden,
            OrderError::Settings(_) => ErrorCode::BadRequest,
            OrderError::Conflict(_) => ErrorCode::Conflict,
            OrderError::Unknown(_) => ErrorCode::UnknownStream,
            OrderError::Full(_) => ErrorCode::Busy,
            OrderError::Unavailable(_) => ErrorCode::Unavailable,
        };
        Self::new(code, crate::secret::scrub(&error.to_string()))
    }
}

/// Hands an order over and waits until it is carried out. One that finds no room is refused at once; one whose sender
/// has left is carried out all the same.
pub(super) async fn give(orders: &mpsc::Sender<StreamOrder>, order: Order) -> Result<StreamReply, Refusal> {
    let (reply, done) = oneshot::channel();
    let gone = || Refusal::new(ErrorCode::Stopping, "streams are not changed any more: the daemon is ending");
    orders.try_send(StreamOrder { order, reply }).map_err(|error| match error {
        mpsc::error::TrySendError::Full(_) => Refusal::busy(),
        mpsc::error::TrySendError::Closed(_) => gone(),
    })?;
    Ok(done.await.map_err(|_| gone())??)
}
