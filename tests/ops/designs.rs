//! The paper's ablation as a shell runs it: every verifier design over one suite, from the clip to the tables, with a
//! vision-language model and a chat judge behind an endpoint of this test's own. What the endpoint says is made up, so
//! only that it is asked rightly and told by design is looked at, never how good a design is.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::common::clips;
use crate::{repository, text};

const SUITE: &str = r#"
name = "ablation"
about = "Two claims whose truth is told by their words."
[clips]
bikes = { file = "bikes.mp4", every = "2s" }
[[claim]]
kind = "presence"
stream = "bikes"
at = 4.0
text = "There is a car."
truth = "true"
[[claim]]
kind = "presence"
stream = "bikes"
at = 4.0
text = "There is an elephant."
truth = "false"
"#;

/// Describes every picture as one with a car, and says yes to what a car is named in.
struct Endpoint {
    url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Endpoint {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let noted = asked.clone();
        // Ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = noted.clone();
                std::thread::spawn(move || serve(&stream, &noted));
            }
        });
        Self { url, asked }
    }

    /// How many requests had a picture and a text with these words.
    fn count(&self, with_picture: bool, words: &str) -> usize {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |body: &&Value| {
            let all = body["messages"].to_string();
            all.contains("data:image/jpeg") == with_picture && all.contains(words)
        };
        asked.iter().filter(fits).count()
    }
}

fn serve(stream: &TcpStream, noted: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    let mut out = stream;
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line != "\r\n" {
            if let Some((_, value)) =
                line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        let mut body = vec![0; length];
        if length == 0 || reader.read_exact(&mut body).is_err() {
            return;
        }
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let said = reply(&body);
        noted.lock().unwrap_or_else(PoisonError::into_inner).push(body);
        let message = json!({"role": "assistant", "content": said});
        let reply = json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", reply.len());
        if out.write_all(format!("{head}{reply}").as_bytes()).is_err() {
            return;
        }
    }
}

fn reply(body: &Value) -> String {
    let asked = body["messages"].to_string();
    let is_false = asked.contains("elephant");
    if body.get("response_format").is_some() {
        return json!({"label": if is_false { "no" } else { "yes" }}).to_string();
    }
    let claim = asked.contains("the following is true");
    if claim { if is_false { "No." } else { "Yes." } } else { "There is a car on a street." }.to_owned()
}

#[test]
fn every_design_checks_the_same_claims_and_has_its_column() {
    let endpoint = Endpoint::start();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("suite.toml"), SUITE).expect("written");
    let bikes = clips::bikes();
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
    command.current_dir(folder.path()).env("GVQA_MODELS", repository("models"));
    command.args([
        "eval",
        "suite.toml",
        "--designs",
        "none,vlm-direct,caption-llm-judge,caption-llm-judge-lenient,caption-nli",
    ]);
    command.arg("--clips").arg(bikes.parent().expect("a folder"));
    for role in ["CAPTIONER", "CHAT_JUDGE"] {
        command.env(format!("GVQA__MODELS__{role}__KIND"), "remote");
        command.env(format!("GVQA__MODELS__{role}__URL"), &endpoint.url);
        command.env(format!("GVQA__MODELS__{role}__MODEL"), "made-up");
    }
    // Nothing is drafted.
    command.env("GVQA__MODELS__DRAFTER", "extractive");
    let run = command.output().expect("the program starts");
    let told = text(&run);
    assert_eq!(run.status.code(), Some(0), "{told}");
    assert!(told.contains("checked 10 of 10 claims"), "no progress was told: {told}");
    // One look at the frame for each claim, told the claim; the neighbours of the one that is false too.
    assert!(endpoint.count(true, "\\\"There is a car.\\\"") == 1, "vlm-direct is told the claim");
    assert!(endpoint.count(true, "elephant") >= 1 && endpoint.count(true, "Describe what this picture shows") > 0);
    assert!(endpoint.count(false, "Claim: There is an elephant.") >= 2, "both strictnesses read the caption");

    let results = fs::read_to_string(folder.path().join("eval-out/results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let figures = results["figures"].as_array().expect("a list");
    let names: Vec<&str> = figures.iter().filter_map(|design| design["design"].as_str()).collect();
    let due = ["none", "vlm-direct", "caption-llm-judge", "caption-llm-judge-lenient", "caption-nli"];
    assert_eq!(names, due);
    for design in figures {
        let all = &design["groups"][0]["all"];
        let caught = u64::from(design["design"] != "none");
        assert_eq!((all["caught"]["hits"].as_u64(), all["caught"]["of"].as_u64()), (Some(caught), Some(1)), "{design}");
        assert_eq!(all["flagged"]["hits"].as_u64(), Some(0), "{design}");
    }
    let report = fs::read_to_string(folder.path().join("eval-out/report.md")).expect("a report");
    let head = "| | `none` | `vlm-direct` | `caption-llm-judge` | `caption-llm-judge-lenient` | `caption-nli` |";
    assert!(report.contains(head) && report.contains("| fabricated and caught | 0.0 % (0 of 1;"), "{report}");
}
