//! Evidence pictures as they arrive on the bus, kept by digest.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use tokio::time::{Instant, timeout_at};

use crate::bus::wire::{Evidence, Verdict};
use crate::bus::{Client, Events, Picture};

/// How long evidence may follow its verdict.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listener to all evidence, opened before the first question.
pub(super) struct Album {
    events: Events<Picture>,
    pictures: BTreeMap<String, Bytes>,
}

impl Album {
    /// Starts listening.
    pub(super) async fn open(client: &Client) -> anyhow::Result<Self> {
        Ok(Self { events: client.evidence(None).await?, pictures: BTreeMap::new() })
    }

    /// Returns when every picture of these verdicts is here.
    pub(super) async fn gather(&mut self, verdicts: &[Verdict]) -> anyhow::Result<()> {
        let until = Instant::now() + PATIENCE;
        let mut missing: BTreeSet<&str> = verdicts
            .iter()
            .flat_map(published)
            .map(|evidence| evidence.sha256.as_str())
            .filter(|digest| !self.pictures.contains_key(*digest))
            .collect();
        while let Some(digest) = missing.first() {
            let event = timeout_at(until, self.events.next()).await;
            match event.with_context(|| format!("the evidence {digest} was not published"))? {
                Some(picture) => {
                    let picture = picture?;
                    missing.remove(picture.sha256.as_str());
                    self.pictures.insert(picture.sha256.as_str().to_owned(), picture.jpeg);
                }
                None => bail!("the connection ended before the evidence {digest} came"),
            }
        }
        Ok(())
    }

    /// The pictures by digest.
    pub(super) fn into_pictures(self) -> BTreeMap<String, Bytes> {
        self.pictures
    }
}

/// The evidence of every frame that was tried.
fn published(verdict: &Verdict) -> impl Iterator<Item = &Evidence> {
    verdict.trials.iter().filter_map(|trial| trial.evidence.as_ref()).filter(|evidence| evidence.omitted.is_none())
}
