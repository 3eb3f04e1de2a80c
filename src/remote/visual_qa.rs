//! Questions about pictures to a vision-language model behind an endpoint.

use std::sync::Arc;

use super::captioner::data_url;
use super::chat::Request;
use super::client::Client;
use super::config::Endpoint;
use super::metrics::{Metrics, Role};
use super::reply;
use crate::domain::Fingerprint;
use crate::seams::{self, Inquiry, ModelError};

/// Grows with every change of the words below.
const PROMPT: &str = "ask-1";
const SYSTEM: &str = "You answer questions about pictures in as few words as possible, from what can be seen alone.";
/// Tokens of an answer.
const TOKENS: u32 = 64;

/// A model that answers questions about pictures, behind an endpoint.
#[derive(Clone)]
pub struct VisualQa {
    client: Arc<Client>,
    fingerprint: Fingerprint,
}

impl VisualQa {
    /// Makes no connection.
    pub fn new(endpoint: &Endpoint, metrics: Metrics) -> Result<Self, ModelError> {
        let client = Client::new(Role::VisualQa, endpoint, metrics)?;
        Ok(Self { fingerprint: client.fingerprint(PROMPT), client: Arc::new(client) })
    }

    fn answer(&self, inquiry: &Inquiry) -> Result<String, ModelError> {
        let url = data_url(&self.client, Role::VisualQa, &inquiry.picture)?;
        let request = Request::new(self.client.model(), SYSTEM, TOKENS).picture(&url, &inquiry.question);
        self.client.ask(&request, |choice| Ok(reply::text(choice)?.to_owned()))
    }
}

impl seams::VisualQa for VisualQa {
    fn ask(&mut self, inquiries: &[Inquiry]) -> Result<Vec<String>, ModelError> {
        inquiries.iter().map(|inquiry| self.answer(inquiry)).collect()
    }

    fn clients(&self) -> Vec<Box<dyn seams::VisualQa>> {
        (0..self.client.concurrency()).map(|_| Box::new(self.clone()) as Box<dyn seams::VisualQa>).collect()
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}
