//! `eval retrieval` and `eval relevance` as a shell sees them: the real embedder over a few captions.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::eval::{code, groundedvqa};
use crate::text;

const STREET: &str = "A quiet street with parked cars.";

/// Half a minute of a street in which something happens from 10 to 14 s.
fn video(name: &str, event: &str) -> String {
    let captions: Vec<&str> = (0..30).map(|at| if (10..=14).contains(&at) { event } else { STREET }).collect();
    json!({"video": name, "duration": 30.0, "captions_1fps": captions}).to_string()
}

fn question(video: &str, kind: &str, text: &str, (from, to): (f64, f64)) -> String {
    json!({"video": video, "qid": 0, "type": kind, "question": text, "choices": [], "answer": 0, "evidence": [[from, to]]})
        .to_string()
}

/// Two videos with two questions each; the second one of each asks for what is told nowhere near its evidence.
fn data(folder: &Path) {
    let videos =
        [video("1", "A brown dog is chasing a red ball."), video("2", "A man in a blue coat is reading a newspaper.")];
    let questions = [
        question("1", "CW", "why is the dog chasing the ball", (10.0, 14.0)),
        question("2", "CH", "how does the man hold the newspaper", (10.0, 14.0)),
        question("1", "TN", "what is the dog chasing", (24.2, 24.8)),
        question("2", "TN", "what is the man reading", (24.2, 24.8)),
    ];
    fs::write(folder.join("captions.jsonl"), videos.join("\n")).expect("written");
    fs::write(folder.join("questions.jsonl"), questions.join("\n")).expect("written");
}

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))).expect("JSON")
}

#[test]
fn retrieval_is_measured_over_questions_with_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    data(folder.path());
    let measure = |out: &str| {
        let run = groundedvqa(
            &["eval", "retrieval", "--data", ".", "--half", "both", "--cache", "vectors", "--out", out],
            folder.path(),
        );
        assert_eq!(code(&run), 0, "{}", text(&run));
        fs::read_to_string(folder.path().join(out).join("retrieval.md")).expect("a report")
    };
    let first = measure("one");
    let results = json_of(&folder.path().join("one/retrieval.json"));
    let figures = results["figures"].as_array().expect("one an interval");
    assert_eq!(figures.iter().filter_map(|it| it["every"].as_u64()).collect::<Vec<_>>(), [5, 2, 1]);
    for figures in figures {
        let share = |kind: &str, whose: &str, at: &str| &figures["by_kind"][kind][whose][at];
        let hits = |kind: &str, whose: &str, at: &str| share(kind, whose, at)["hits"].as_u64();
        for whose in ["cosine", "ours", "possible"] {
            assert_eq!((hits("CW", whose, "at_5"), hits("CH", whose, "at_5")), (Some(1), Some(1)), "{figures:#}");
            // The control: no moment lies between 24.2 and 24.8 s, so nothing can hit.
            assert_eq!(hits("TN", whose, "at_5"), Some(0), "{figures:#}");
            assert_eq!((hits("all", whose, "at_5"), share("all", whose, "at_5")["of"].as_u64()), (Some(2), Some(4)));
        }
        assert_eq!(hits("CW", "cosine", "at_1"), Some(1), "cosine alone finds the dog at once: {figures:#}");
    }
    assert!(first.contains("## One moment every 1 s") && first.contains("4 questions"), "{first}");
    assert!(folder.path().join("vectors").metadata().expect("vectors were kept").len() > 0);
    assert_eq!(measure("two"), first, "kept vectors give the same figures");
}

const SUITE: &str = r#"
name = "small"
[clips]
cam = { file = "cam.mp4" }
[[question]]
kind = "factual"
stream = "cam"
text = "What colour is the dog?"
[[question.claim]]
at = 1
text = "The dog is brown."
truth = "true"
answers = true
[[question.claim]]
at = 1
text = "The car is red."
truth = "true"
answers = false
"#;

#[test]
fn relevance_is_measured_over_labelled_claims_and_captions() {
    let folder = tempfile::tempdir().expect("a folder");
    data(folder.path());
    fs::write(folder.path().join("small.toml"), SUITE).expect("written");
    let run = groundedvqa(&["eval", "relevance", "small.toml", "--data", ".", "--half", "both"], folder.path());
    assert_eq!(code(&run), 0, "{}", text(&run));
    let results = json_of(&folder.path().join("eval-out/relevance.json"));
    let small = &results["small"];
    assert_eq!((small["told"]["hits"].as_u64(), small["told"]["of"].as_u64()), (Some(1), Some(1)), "{results:#}");
    assert_eq!((small["kept_back"]["hits"].as_u64(), small["auroc"].as_f64()), (Some(1), Some(1.0)), "{results:#}");
    assert_eq!(results["captions"]["own"]["questions"]["of"].as_u64(), Some(4), "{results:#}");
    let report = fs::read_to_string(folder.path().join("eval-out/relevance.md")).expect("a report");
    assert!(text(&run).contains(&report) && report.contains("## Suite small"), "{report}");
}

#[test]
fn input_that_cannot_be_used_is_refused_with_its_place_and_a_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, body: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, body).expect("written");
    };
    let (good, asked) = (video("1", "A dog."), question("1", "CW", "why", (0.0, 1.0)));
    write("half/captions.jsonl", &good);
    write("broken/captions.jsonl", &format!("{good}\n{{\"video\": 7}}"));
    write("broken/questions.jsonl", &asked);
    write("strange/captions.jsonl", &good);
    write("strange/questions.jsonl", &question("2", "CW", "why", (0.0, 1.0)));
    write("unnamable/captions.jsonl", &video("a b", "A dog."));
    write("unnamable/questions.jsonl", &question("a b", "CW", "why", (0.0, 1.0)));
    write("unlabelled.toml", &SUITE.replace("answers = true\n", "").replace("answers = false\n", ""));
    write("other", "no vectors");
    data(folder.path());
    let table: [(&[&str], i32, &str); 9] = [
        (&["retrieval"], 2, "--data"),
        (&["retrieval", "--data", "nowhere"], 66, "holds neither captions.jsonl nor captions.jsonl.gz"),
        (&["retrieval", "--data", "half"], 66, "questions.jsonl"),
        (&["retrieval", "--data", "broken", "--half", "both"], 65, "captions.jsonl cannot be used: line 2, column"),
        (&["retrieval", "--data", "strange", "--half", "both"], 65, "no question about a video"),
        (&["retrieval", "--data", "unnamable", "--half", "both"], 65, "unnamable cannot be used"),
        (&["retrieval", "--data", ".", "--half", "both", "--cache", "other"], 65, "not written by this embedder"),
        (&["relevance", "nowhere.toml"], 66, "cannot read nowhere.toml"),
        (&["relevance", "unlabelled.toml"], 65, "none of its claims says whether it answers"),
    ];
    for (arguments, due, told) in table {
        let run = groundedvqa(&[&["eval"], arguments].concat(), folder.path());
        assert!(code(&run) == due && text(&run).contains(told), "{arguments:?}: {} {}", code(&run), text(&run));
        assert!(!folder.path().join("eval-out").exists(), "{arguments:?} wrote something");
    }
}
