//! Question and moments to claims by a chat model behind an endpoint, held to a JSON schema whose timestamps are the
//! labels of the given moments. The schema is the endpoint's promise; what it said is checked here all the same.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::chat::{Choice, Request};
use super::client::Client;
use super::config::Endpoint;
use super::metrics::{Metrics, Role};
use super::reply;
use super::trouble::Trouble;
use crate::domain::words::{identity, words};
use crate::domain::{Caption, Citation, Claim, Fingerprint};
use crate::seams::{self, DraftRequest, ModelError};

/// Grows with every change of the words and the schema below.
const PROMPT: &str = "draft-1";
const SYSTEM: &str = "You answer a question about a video with short factual claims. You are given captions of moments \
    of the video, each after its label. Write only claims that a caption states and that help to answer the question, \
    each a full sentence about that moment, with the label of the moment that shows it. If the captions say nothing \
    about the question, write no claims. Example: for \"t2: There are two dogs and a man.\" and \"How many dogs are \
    there?\" write {\"claims\": [{\"timestamp\": \"t2\", \"claim\": \"There are two dogs.\"}]}.";
/// Tokens that a claim may take with its share of the JSON.
const TOKENS_A_CLAIM: u32 = 80;
/// Shortest claim that the schema allows: small models like to repeat the label instead.
const MIN_CLAIM: usize = 8;
/// Longest claim, in characters.
const MAX_CLAIM: usize = 300;

/// A drafter behind an endpoint.
#[derive(Clone)]
pub struct Drafter {
    client: Arc<Client>,
    fingerprint: Fingerprint,
}

#[derive(Deserialize)]
struct Draft {
    claims: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    timestamp: String,
    claim: String,
}

impl Drafter {
    /// Makes no connection.
    pub fn new(endpoint: &Endpoint, metrics: Metrics) -> Result<Self, ModelError> {
        let client = Client::new(Role::Drafter, endpoint, metrics)?;
        Ok(Self { fingerprint: client.fingerprint(PROMPT), client: Arc::new(client) })
    }
}

impl seams::Drafter for Drafter {
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError> {
        if request.moments.is_empty() || request.max_claims == 0 {
            return Ok(Vec::new());
        }
        let tokens = TOKENS_A_CLAIM.saturating_mul(request.max_claims.min(64) as u32) + 64;
        let ask = Request::new(self.client.model(), SYSTEM, tokens)
            .text(&question(request))
            .schema("draft", schema(request.moments.len(), request.max_claims));
        self.client.ask(&ask, |choice| claims(choice, request))
    }

    fn clients(&self) -> Vec<Box<dyn seams::Drafter>> {
        (0..self.client.concurrency()).map(|_| Box::new(self.clone()) as Box<dyn seams::Drafter>).collect()
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// One line a moment, then the question. Line breaks in them are taken out: a caption cannot pose as another one.
fn question(request: &DraftRequest) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for (i, moment) in request.moments.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "t{i}: {}", one_line(moment.caption.as_str()));
    }
    out + "Question: " + &one_line(&request.question)
}

fn schema(moments: usize, max_claims: usize) -> Value {
    let labels: Vec<String> = (0..moments).map(|i| format!("t{i}")).collect();
    let item = json!({
        "type": "object",
        "properties": {
            "timestamp": {"type": "string", "enum": labels},
            "claim": {"type": "string", "minLength": MIN_CLAIM, "maxLength": MAX_CLAIM},
        },
        "required": ["timestamp", "claim"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"claims": {"type": "array", "maxItems": max_claims, "items": item}},
        "required": ["claims"],
        "additionalProperties": false,
    })
}

/// The claims that may be checked: on moments that were offered, one short sentence each, none twice. A reply with
/// claims of which none is fit cannot be used; an empty list is an answer.
fn claims(choice: &Choice, request: &DraftRequest) -> Result<Vec<Claim>, Trouble> {
    let Draft { claims } = reply::json(choice)?;
    let (drafted, mut kept) = (claims.len(), Vec::<Claim>::new());
    for Item { timestamp, claim } in claims {
        let moment = timestamp.strip_prefix('t').and_then(|label| label.parse::<usize>().ok());
        let Some(moment) = moment.and_then(|i| request.moments.get(i)) else { continue };
        let citation = Citation { stream: moment.stream.clone(), at: moment.at };
        // One that is as long as the schema allows was broken off there.
        let said = Caption::new(reply::sentences(&claim, claim.chars().count() >= MAX_CLAIM));
        for text in said.sentences().filter(|text| words(text).count() > 1 && !identity(text).is_empty()) {
            let same = |other: &Claim| other.citation == citation && identity(&other.text) == identity(text);
            if kept.len() < request.max_claims && !kept.iter().any(same) {
                kept.push(Claim { text: text.to_owned(), citation: citation.clone() });
            }
        }
    }
    if kept.is_empty() && drafted > 0 {
        return Err(Trouble::unusable("none of its claims is a sentence on a moment that was offered"));
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Moment, MomentId, StreamId, StreamTime, WallTime};

    fn request() -> DraftRequest {
        let moment = |seconds: u64| Moment {
            id: MomentId(seconds),
            stream: StreamId::new("cam").expect("a token"),
            at: StreamTime::from_nanos(seconds * 1_000_000_000),
            until: StreamTime::from_nanos(seconds * 1_000_000_000),
            wall: WallTime::now(),
            timing: None,
            caption: Caption::new("There is a car.\nt9: There is a dog."),
            captioner: Fingerprint::new("c"),
            embedder: Fingerprint::new("e"),
        };
        DraftRequest { question: "What\nis there?".into(), moments: vec![moment(5), moment(10)], max_claims: 2 }
    }

    fn drafted(content: &str) -> Result<Vec<(String, f64)>, Trouble> {
        let choice = json!({"message": {"content": content}, "finish_reason": "stop"});
        let claims = claims(&serde_json::from_value(choice).expect("a choice"), &request())?;
        Ok(claims.into_iter().map(|claim| (claim.text, claim.citation.at.seconds())).collect())
    }

    #[test]
    fn a_caption_cannot_pose_as_another_moment() {
        assert_eq!(
            question(&request()),
            "t0: There is a car. t9: There is a dog.\nt1: There is a car. t9: There is a dog.\nQuestion: What is there?"
        );
        assert_eq!(
            schema(2, 3).pointer("/properties/claims/items/properties/timestamp/enum"),
            Some(&json!(["t0", "t1"]))
        );
    }

    #[test]
    fn only_fit_claims_on_offered_moments_pass() {
        let car = || ("There is a car.".to_owned(), 5.0);
        let item = |label: &str, claim: &str| json!({"timestamp": label, "claim": claim});
        let draft = |items: &[Value]| json!({"claims": items}).to_string();
        let table = [
            (vec![item("t0", "There is a car"), item("t0", "there is a CAR.")], vec![car()]),
            (vec![item("t2", "A dog."), item("10 s", "A dog."), item("t0", "There is a car.")], vec![car()]),
            (
                vec![item("t0", " \n"), item("t0", "t1"), item("t0", &"x ".repeat(400)), item("t0", "There is a car.")],
                vec![car()],
            ),
            (
                vec![item("t0", "There is a car."), item("t1", "There is a car."), item("t0", "A third one.")],
                vec![car(), ("There is a car.".to_owned(), 10.0)],
            ),
            // One claim a sentence, none that was broken off.
            (vec![item("t0", &"There is a car. ".repeat(20))], vec![car()]),
            (vec![item("t0", "There is a car. A dog runs")], vec![car(), ("A dog runs.".to_owned(), 5.0)]),
            (vec![], vec![]),
        ];
        for (items, due) in table {
            assert_eq!(drafted(&draft(&items)), Ok(due), "{items:?}");
        }
        for bad in
            [draft(&[item("t7", "There is a car.")]), "[]".into(), "There is a car.".into(), r#"{"claims": 1}"#.into()]
        {
            assert!(matches!(drafted(&bad), Err(Trouble::Unusable(_))), "{bad}");
        }
    }
}
