//! Chat completions as they travel: what we send, and the part of what comes back that we read.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many alternatives of each token are asked for; the most that endpoints give.
const ALTERNATIVES: u8 = 20;

/// A request for one completion. Always at temperature 0: the same input shall give the same verdict.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Request {
    model: String,
    messages: Vec<Message>,
    temperature: f32,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
}

#[derive(Debug, Clone, Serialize)]
struct Message {
    role: &'static str,
    content: Value,
}

impl Request {
    /// Instructions, and at most `max_tokens` of answer.
    pub(super) fn new(model: &str, system: &str, max_tokens: u32) -> Self {
        Self {
            model: model.to_owned(),
            messages: vec![Message { role: "system", content: system.into() }],
            temperature: 0.0,
            max_tokens,
            stream: false,
            response_format: None,
            logprobs: None,
            top_logprobs: None,
        }
    }

    /// Adds what is asked.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.messages.push(Message { role: "user", content: text.into() });
        self
    }

    /// Adds what is asked about a picture, given as a data URL.
    pub(super) fn picture(mut self, url: &str, text: &str) -> Self {
        let content = json!([{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text}]);
        self.messages.push(Message { role: "user", content });
        self
    }

    /// Holds the answer to a JSON schema.
    pub(super) fn schema(mut self, name: &str, schema: Value) -> Self {
        let wrapped = json!({"name": name, "strict": true, "schema": schema});
        self.response_format = Some(json!({"type": "json_schema", "json_schema": wrapped}));
        self
    }

    /// Asks for the probabilities of tokens; endpoints that cannot give them leave them out.
    pub(super) fn with_logprobs(mut self) -> Self {
        self.logprobs = Some(true);
        self.top_logprobs = Some(ALTERNATIVES);
        self
    }
}

/// What comes back.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Completion {
    pub(super) choices: Vec<Choice>,
}

/// One answer.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Choice {
    pub(super) message: Said,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    #[serde(default)]
    pub(super) logprobs: Option<Logprobs>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Said {
    /// Absent if the endpoint refuses.
    #[serde(default)]
    pub(super) content: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Logprobs {
    #[serde(default)]
    pub(super) content: Option<Vec<Token>>,
}

/// A token with what might have stood in its place.
#[derive(Debug, Clone, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the names of the wire")]
pub(super) struct Token {
    pub(super) token: String,
    pub(super) logprob: f64,
    #[serde(default)]
    pub(super) top_logprobs: Vec<Alternative>,
}

/// What might have stood there.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Alternative {
    pub(super) token: String,
    pub(super) logprob: f64,
}
