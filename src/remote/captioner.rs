//! Pictures to captions by a vision-language model behind an endpoint. Blind: it is given pictures and nothing else.

use std::sync::Arc;

use super::chat::Request;
use super::client::Client;
use super::config::Endpoint;
use super::metrics::{Metrics, Role};
use super::trouble::Trouble;
use super::{picture, reply};
use crate::domain::{Caption, Fingerprint, Picture};
use crate::seams::{self, ModelError};

/// Grows with every change of the words below.
const PROMPT: &str = "caption-1";
const SYSTEM: &str = "You describe pictures for people who cannot see them.";
const ASK: &str = "Describe what this picture shows in short, plain sentences, one fact each: who and what is there and \
    how many of each, their colours and clothes, what they do, and where they are. Say only what can be seen. Do not \
    guess, do not interpret, and write no introduction.";
/// Tokens of a caption; a longer one loses its last, broken sentence.
const TOKENS: u32 = 200;

/// A captioner behind an endpoint.
#[derive(Clone)]
pub struct Captioner {
    client: Arc<Client>,
    fingerprint: Fingerprint,
}

impl Captioner {
    /// Makes no connection.
    pub fn new(endpoint: &Endpoint, metrics: Metrics) -> Result<Self, ModelError> {
        let client = Client::new(Role::Captioner, endpoint, metrics)?;
        Ok(Self { fingerprint: client.fingerprint(PROMPT), client: Arc::new(client) })
    }

    fn describe(&self, picture: &Picture) -> Result<Caption, ModelError> {
        let url = data_url(&self.client, Role::Captioner, picture)?;
        let request = Request::new(self.client.model(), SYSTEM, TOKENS).picture(&url, ASK);
        self.client.ask(&request, |choice| {
            let said = reply::text(choice)?;
            // It tells of the model, not of the picture: as a caption it would be a place where nothing was.
            if reply::is_refusal(said) {
                return Err(Trouble::unusable("the model refuses to describe the picture"));
            }
            let text = reply::sentences(said, reply::is_cut(choice));
            if text.is_empty() { Err(Trouble::unusable("it holds no whole sentence")) } else { Ok(Caption::new(text)) }
        })
    }
}

impl seams::Captioner for Captioner {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        pictures.iter().map(|picture| self.describe(picture)).collect()
    }

    fn clients(&self) -> Vec<Box<dyn seams::Captioner>> {
        (0..self.client.concurrency()).map(|_| Box::new(self.clone()) as Box<dyn seams::Captioner>).collect()
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// The picture as it is sent.
pub(super) fn data_url(client: &Client, role: Role, picture: &Picture) -> Result<String, ModelError> {
    let refused = |reason| ModelError::Input { model: format!("{} (remote)", role.as_str()), reason };
    picture::data_url(picture, client.max_side()).map_err(refused)
}
