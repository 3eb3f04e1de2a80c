//! Orders from the bus: what is allowed is kept first and done then, so that what was replied to survives a crash.

use super::super::plan::{Owner, Step, Terms, step};
use super::super::streams::Obstacle;
use super::Roster;
use crate::bus::wire::{StreamReply, StreamRequest, V1};
use crate::bus::{Order, OrderError};
use crate::domain::{StreamId, StreamKind, StreamState};
use crate::index::IndexError;
use crate::video::StreamConfig;

impl Roster {
    /// Does what is ordered, or says why not.
    pub(super) async fn carry_out(&mut self, order: Order) -> Result<StreamReply, OrderError> {
        self.rules.check_open()?;
        match order {
            Order::Add(request) => self.add(&request).await,
            Order::Change(request) => self.change(&request).await,
            Order::Remove(stream) => self.give_up(&stream).await,
        }
    }

    async fn add(&mut self, request: &StreamRequest) -> Result<StreamReply, OrderError> {
        let stream = &request.stream;
        if self.watched.contains_key(stream) {
            return Err(OrderError::Conflict(format!(
                "stream {stream} is watched already: change it, or remove it first"
            )));
        }
        let settings = self.rules.admit(request)?;
        if self.watched.values().filter(|watched| watched.owner == Owner::Bus).count() >= self.rules.streams {
            return Err(OrderError::Full(self.rules.streams));
        }
        self.adopt(request, settings).await
    }

    async fn change(&mut self, request: &StreamRequest) -> Result<StreamReply, OrderError> {
        self.check_owner(&request.stream)?;
        let settings = self.rules.admit(request)?;
        let wanted = Terms { settings: Some(&settings), sample_every: self.sample_every(Some(&settings)) };
        if step(self.terms(&request.stream), wanted) == Step::Leave {
            return Ok(self.reply(&request.stream, settings.kind()));
        }
        self.adopt(request, settings).await
    }

    async fn give_up(&mut self, stream: &StreamId) -> Result<StreamReply, OrderError> {
        self.check_owner(stream)?;
        self.core.index.set_added(stream, None).await.map_err(unavailable)?;
        let left = self.remove(stream).await.map_err(unavailable)?;
        let (kind, moments) = left.ok_or_else(|| OrderError::Unknown(stream.clone()))?;
        tracing::info!(%stream, "removed over the bus");
        Ok(StreamReply { v: V1, stream: stream.clone(), kind, state: StreamState::Removed, moments })
    }

    /// Keeps what was asked for, then watches it: what is replied to survives a crash.
    async fn adopt(&mut self, request: &StreamRequest, settings: StreamConfig) -> Result<StreamReply, OrderError> {
        let (stream, kind) = (&request.stream, settings.kind());
        let prepared = self.prepare(stream, settings).await.map_err(unavailable)?;
        match &prepared.source {
            Ok(_) => {}
            Err(Obstacle::Identity(reason)) => return Err(OrderError::Conflict(reason.clone())),
            Err(obstacle) => return Err(OrderError::Settings(format!("url: {obstacle}"))),
        }
        let kept = serde_json::to_vec(request).map_err(|error| OrderError::Settings(error.to_string()))?;
        self.core.index.set_added(stream, Some(kept)).await.map_err(unavailable)?;
        self.end(stream).await;
        self.begin(stream, Owner::Bus, prepared);
        tracing::info!(%stream, "watched by order from the bus");
        Ok(self.reply(stream, kind))
    }

    fn check_owner(&self, stream: &StreamId) -> Result<(), OrderError> {
        match self.watched.get(stream).map(|watched| watched.owner) {
            Some(Owner::Bus) => Ok(()),
            Some(Owner::File) => {
                let message =
                    format!("stream {stream} belongs to the configuration file: change it there, then reload");
                Err(OrderError::Conflict(message))
            }
            None => Err(OrderError::Unknown(stream.clone())),
        }
    }

    fn reply(&self, stream: &StreamId, kind: StreamKind) -> StreamReply {
        let status = self.core.board.status(stream);
        let (state, moments) = status.map_or((StreamState::Connecting, 0), |status| (status.state, status.moments));
        StreamReply { v: V1, stream: stream.clone(), kind, state, moments }
    }
}

fn unavailable(error: IndexError) -> OrderError {
    OrderError::Unavailable(error.to_string())
}
