//! Remote models over llama.cpp's own server with SmolLM2, and the same weights as a chat judge in this process.
//!
//! What a model of 135 M parameters says is not judged here, and as a judge it is worthless: that everything it says is
//! well-formed and within what was offered is.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use groundedvqa::config::Span;
use groundedvqa::models::drafter::SmolLm2Judge;
use groundedvqa::remote::{self, Endpoint};
use groundedvqa::seams::{ChatJudge, Judge, Pair, Strictness};
use prometheus::Registry;

use super::*;

/// A server as a child; it ends when its standard input does, at the latest with this process.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(script: &str, arguments: &[PathBuf]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common").join(script);
        let mut child = Command::new("python3")
            .arg(script)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("standard output is piped");
        BufReader::new(stdout).read_line(&mut url).expect("standard output can be read");
        let server = Self { child, url: url.trim().to_owned() };
        assert!(server.url.contains("://"), "the server did not start: run `make setup` first");
        server
    }

    fn llama() -> Self {
        Self::start("llama_server.py", &[folder().join("model.gguf")])
    }

    /// Patient: the machine may be busy with other tests.
    fn endpoint(&self) -> Endpoint {
        let patience = Span(Duration::from_mins(10));
        let url = format!("{}/v1", self.url);
        Endpoint { url, model: "smollm2".into(), request_timeout: patience, deadline: patience, ..Endpoint::default() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Failing means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn metrics() -> remote::Metrics {
    remote::Metrics::register(&Registry::new()).expect("registers")
}

fn pairs() -> Vec<Pair> {
    let pair = |premise: &str, hypothesis: &str| Pair { premise: premise.into(), hypothesis: hypothesis.into() };
    vec![
        pair("There is a red car on the left.", "There is a red car."),
        pair("There is a red car on the left.", "Two dogs are playing in the snow."),
    ]
}

#[test]
fn a_real_server_drafts_and_judges() {
    let server = Server::llama();
    let mut drafter = remote::Drafter::new(&server.endpoint(), metrics()).expect("is configured");
    let asked =
        request("What vehicles are there?", &["There is a red car. There are two people.", "There is a bus."], 2);
    let claims = drafter.draft(&asked).expect("the server answers within its grammar");
    assert!(!claims.is_empty(), "a question about what the captions say");
    for claim in &claims {
        assert!(
            asked.moments.iter().any(|moment| moment.at == claim.citation.at),
            "{claim:?} cites what was not offered"
        );
        assert_eq!(claim.text.matches(['.', '!', '?']).count(), 1, "{claim:?} is one sentence");
    }

    let mut judge = remote::Judge::new(&server.endpoint(), metrics()).expect("is configured");
    let mut opinions = 0;
    for odds in pairs().into_iter().filter_map(|pair| meant(judge.judge(&[pair]))) {
        let sum = odds[0].entailment + odds[0].neutral + odds[0].contradiction;
        assert!((sum - 1.0).abs() < 1e-4, "{odds:?}");
        opinions += 1;
    }
    let mut chat = remote::ChatJudge::new(&server.endpoint(), metrics()).expect("is configured");
    for strictness in [Strictness::Strict, Strictness::Lenient] {
        for supports in pairs().into_iter().filter_map(|pair| meant(chat.supports(&[pair], strictness))) {
            assert!((0.0..=1.0).contains(&supports[0]), "{supports:?}");
            opinions += 1;
        }
    }
    assert!(opinions > 0, "the server answers with labels");
}

/// What the server answered; nothing where the grammar made so small a model write another label than it favours.
fn meant<T>(answer: Result<T, ModelError>) -> Option<T> {
    let refusal = |error: ModelError| assert!(error.to_string().contains("favour another label"), "{error}");
    answer.map_err(refusal).ok()
}

#[test]
fn a_server_that_has_gone_is_told() {
    let server = Server::llama();
    let endpoint = Endpoint { retries: 0, ..server.endpoint() };
    drop(server);
    let mut judge = remote::Judge::new(&endpoint, metrics()).expect("is configured");
    let error = judge.judge(&pairs()).expect_err("nobody is there").to_string();
    assert!(error.contains("cannot be reached"), "{error}");
}

#[test]
fn a_certificate_is_checked_against_the_one_that_is_trusted() {
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bus").join(name);
    let server = Server::start("tls_endpoint.py", &[fixture("server.pem"), fixture("server.key")]);
    let trusting = Endpoint { retries: 0, tls_ca: Some(fixture("ca.pem")), ..server.endpoint() };
    let mut judge = remote::ChatJudge::new(&trusting, metrics()).expect("is configured");
    assert_eq!(judge.supports(&pairs(), Strictness::Strict).expect("is trusted"), [1.0, 1.0]);
    // The client's own certificate signed nothing.
    let suspicious = Endpoint { tls_ca: Some(fixture("client.pem")), ..trusting.clone() };
    let mut judge = remote::ChatJudge::new(&suspicious, metrics()).expect("is configured");
    let error = judge.supports(&pairs(), Strictness::Strict).expect_err("is not trusted").to_string();
    assert!(error.contains("cannot be reached") && error.contains("certificate"), "{error}");
    let none = Endpoint { tls_ca: Some(fixture("server.key")), ..trusting };
    let error = remote::ChatJudge::new(&none, metrics()).err().expect("holds no certificate").to_string();
    assert!(error.contains("holds no certificate"), "{error}");
}

/// It does not tell what the caption says from what it does not (0.108 and 0.112 of these two): asked is only that its
/// word depends on nothing but the pair and the prompt.
#[test]
fn the_small_chat_judge_judges_each_pair_by_itself() {
    let mut judge = SmolLm2Judge::load(&folder()).expect("run `make setup` first");
    let mut seen = Vec::new();
    for strictness in [Strictness::Strict, Strictness::Lenient] {
        let supports = judge.supports(&pairs(), strictness).expect("judges");
        assert!(supports.iter().all(|p| (0.0..=1.0).contains(p)), "{strictness:?}: {supports:?}");
        let reversed: Vec<Pair> = pairs().into_iter().rev().collect();
        let again = judge.supports(&reversed, strictness).expect("judges again");
        assert_eq!((again[1], again[0]), (supports[0], supports[1]), "one judgement leaves nothing behind");
        assert_ne!(supports[0], supports[1], "{strictness:?} reads the pair");
        seen.push(supports);
    }
    assert_ne!(seen[0], seen[1], "the prompts differ");
    let long = Pair { premise: "There is a car. ".repeat(2000), hypothesis: "word ".repeat(2000) };
    let supports = judge.supports(&[long], Strictness::Strict).expect("is cut, not refused");
    assert!((0.0..=1.0).contains(&supports[0]));
}
