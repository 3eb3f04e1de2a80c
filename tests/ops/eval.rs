//! How true is it? The harness and the replay, as a shell sees them: real clip, real models, no bus.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use groundedvqa::bus::wire::{ClaimRequest, SearchRequest, V1, VerifyRequest};
use serde_json::Value;

use crate::common::{RtspServer, clips};
use crate::site::{Site, id};
use crate::{repository, text};

const SUITE: &str = r#"
name = "small"
about = "Labelled by eye."
[clips]
bikes = { file = "bikes.mp4", every = "1s" }
[[question]]
kind = "factual"
stream = "bikes"
text = "What is there?"
[[question.claim]]
at = 6.0
text = "There is an elephant."
truth = "false"
written = true
[[claim]]
kind = "presence"
stream = "bikes"
at = 6.0
text = "There is a car."
truth = "true"
[[claim]]
kind = "presence"
stream = "bikes"
at = 6.0
text = "There is a train <b>now</b>."
truth = "false"
[[claim]]
kind = "absence"
stream = "bikes"
at = 6.0
text = "There are no cars."
truth = "false"
"#;

pub(crate) fn groundedvqa(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
    command.args(arguments).current_dir(folder).env("GVQA_MODELS", repository("models"));
    command.output().expect("the program starts")
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("it was killed: {}", text(output)))
}

#[test]
fn a_suite_gives_the_same_results_twice_and_an_audit_that_stands_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SUITE).expect("written");
    let bikes = clips::bikes();
    let from = bikes.parent().and_then(Path::to_str).expect("a folder");
    for out in ["one", "two"] {
        let run = groundedvqa(&["eval", "small.toml", "--clips", from, "--out", out], folder.path());
        assert_eq!(code(&run), 0, "{}", text(&run));
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(read("one/results.json"), read("two/results.json"));
    let results: Value = serde_json::from_str(&read("one/results.json")).expect("JSON");
    let designs: Vec<&str> =
        results["figures"].as_array().expect("designs").iter().filter_map(|d| d["design"].as_str()).collect();
    assert!(designs.contains(&"none") && designs.contains(&"caption-nli"), "{designs:?}");
    let caught = |design: usize| results["figures"][design]["groups"][0]["all"]["caught"].clone();
    assert_eq!(
        (caught(0)["hits"].as_u64(), caught(0)["of"].as_u64()),
        (Some(0), Some(3)),
        "the baseline catches nothing"
    );
    assert_eq!(caught(1)["hits"], 3, "{results:#}");
    assert!(read("one/report.md").contains("| `contradicted` |") && read("one/latency.json").contains("cold_s"));

    let audit = read("one/audit.html");
    let again = read("two/audit.html");
    let is_seconds = |(line, other): (&str, &str)| line == other || line.contains(" s</td>");
    assert!(audit.lines().zip(again.lines()).all(is_seconds), "two runs differ in more than seconds");
    assert_eq!(audit.lines().count(), again.lines().count());
    for outside in ["http://", "https://", "src=\"", "<link", "@import", "url("] {
        assert!(!audit.contains(outside), "{outside} reaches outside the page");
    }
    for shown in ["data:image/jpeg;base64,", "There is a train &lt;b&gt;now", "a person says: false", "class=\"plot\""]
    {
        assert!(audit.contains(shown), "{shown} is missing");
    }
}

#[test]
fn a_suite_that_cannot_be_run_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.toml");
    let table = [
        (SUITE.replace("bikes.mp4", "none.mp4"), 66, "none.mp4 is in none of the folders"),
        (SUITE.replace("every = \"1s\"", "every = \"0s\""), 65, "every = \"0s\" is too short"),
        (SUITE.replace("truth = \"true\"", "truth = \"yes\""), 65, "unknown variant `yes`"),
        (SUITE.replace("stream = \"bikes\"", "stream = \"door\""), 65, "which [clips] does not name"),
    ];
    for (suite, ends, due) in table {
        fs::write(&path, suite).expect("written");
        let run = groundedvqa(&["eval", "bad.toml", "--clips", "."], folder.path());
        assert!(code(&run) == ends && text(&run).contains(due), "{} {}", code(&run), text(&run));
    }
    let nothing = groundedvqa(&["eval", "nowhere.toml"], folder.path());
    assert!(code(&nothing) == 66 && text(&nothing).contains("cannot read nowhere.toml"), "{}", text(&nothing));
    let text_of_nothing = groundedvqa(&["eval", "text", "bad.toml"], folder.path());
    assert!(code(&text_of_nothing) == 65 && text(&text_of_nothing).contains("line 2"), "{}", text(&text_of_nothing));
}

#[test]
fn a_stored_verdict_is_checked_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let bikes = clips::bikes();
    let bikes = bikes.to_str().expect("UTF-8");
    let asked = groundedvqa(&["ask", "--json", "--file", bikes, "--every", "2s", "Is there a car?"], folder.path());
    assert_eq!(code(&asked), 0, "{}", text(&asked));
    let path = folder.path().join("reply.json");
    fs::write(&path, &asked.stdout).expect("written");
    let replay =
        |arguments: &[&str]| groundedvqa(&[&["verify", "--replay", "reply.json"], arguments].concat(), folder.path());

    let same = replay(&["--file", bikes]);
    assert!(code(&same) == 0 && text(&same).contains("same: "), "{}", text(&same));
    assert!(text(&same).contains("not checked: verdict_id, "), "{}", text(&same));

    let mut reply: Value = serde_json::from_slice(&asked.stdout).expect("JSON");
    let verdict = &mut reply["claims"][0];
    verdict["trials"][0]["evidence"]["caption"] = "There is an elephant.".into();
    verdict["models"]["judge"] = "another@000000000000/cal0".into();
    fs::write(&path, verdict.to_string()).expect("written");
    let changed = replay(&["--file", bikes]);
    assert_eq!(code(&changed), 1, "{}", text(&changed));
    for due in ["changed: ", "the judge was another@000000000000/cal0", "the caption at", "\"There is an elephant.\""] {
        assert!(text(&changed).contains(due), "{due} is missing: {}", text(&changed));
    }
    // Another video under the same name shows other frames.
    let other = clips::vtest();
    let other = replay(&["--file", other.to_str().expect("UTF-8"), "--json"]);
    assert!(code(&other) == 1 && text(&other).contains("\"what\":\"frame\""), "{}", text(&other));

    assert_eq!(code(&replay(&["--file", "nowhere.mp4"])), 66);
    // Without models nothing was found out, so nothing has changed.
    assert_eq!(code(&replay(&["--file", bikes, "--models", "nowhere"])), 69);
    let nothing = groundedvqa(&["verify", "--replay", "nowhere.json"], folder.path());
    assert!(code(&nothing) == 66 && text(&nothing).contains("cannot read nowhere.json"), "{}", text(&nothing));
    fs::write(&path, "{\"claims\": []}").expect("written");
    assert_eq!(code(&replay(&["--file", bikes])), 65);
    fs::write(&path, "no JSON").expect("written");
    assert_eq!(code(&replay(&["--file", bikes])), 65);
}

/// Claims of one's own over a file need no server, and their verdicts can be checked again.
#[test]
fn claims_are_verified_over_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let bikes = clips::bikes();
    let bikes = bikes.to_str().expect("UTF-8");
    let verify = |arguments: &[&str]| groundedvqa(&[&["verify"], arguments].concat(), folder.path());
    let (car, elephant) = (["--claim", "There is a car.@6"], ["--claim", "There is an elephant.@6"]);
    let over = ["--file", bikes, "--every", "1s", "--json"];
    assert_eq!(code(&verify(&[&over[..], &car].concat())), 0, "all are grounded");
    let both = verify(&[&over[..], &car, &elephant].concat());
    assert_eq!(code(&both), 1, "{}", text(&both));
    let reply: Value = serde_json::from_slice(&both.stdout).expect("JSON");
    let verdicts: Vec<&Value> = reply["claims"].as_array().expect("claims").iter().map(|it| &it["verdict"]).collect();
    assert_eq!(verdicts, ["GROUNDED", "UNVERIFIED"], "{reply:#}");
    let neighbours: Vec<f64> = reply["claims"][1]["trials"]
        .as_array()
        .expect("trials")
        .iter()
        .filter_map(|trial| trial["evidence"]["timestamp"].as_f64())
        .collect();
    assert_eq!(neighbours, [6.0, 5.0, 7.0], "a second apart");

    fs::write(folder.path().join("reply.json"), &both.stdout).expect("written");
    let again = verify(&["--replay", "reply.json", "--file", bikes]);
    assert!(code(&again) == 0 && !text(&again).contains("changed: "), "{}", text(&again));
    assert_eq!(code(&verify(&[&["--file", "nowhere.mp4"][..], &car].concat())), 66);
    assert_eq!(code(&verify(&[&["--stream", "cam"][..], &over, &car].concat())), 2, "a file has no stream's name");
    assert_eq!(code(&verify(&car)), 2, "neither a stream nor a file");
}

/// Samples of one reply are no neighbours of what another one cites, though both are of one stream.
#[test]
fn stored_verdicts_of_one_stream_are_checked_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let bikes = clips::bikes();
    let bikes = bikes.to_str().expect("UTF-8");
    let mut replies = Vec::new();
    for every in ["2s", "3s"] {
        let question = "How many people are there?";
        let asked = groundedvqa(&["ask", "--json", "--file", bikes, "--every", every, question], folder.path());
        let reply: Value = serde_json::from_slice(&asked.stdout).expect("JSON");
        let has_neighbours = |verdict: &Value| verdict["trials"].as_array().is_some_and(|trials| trials.len() == 3);
        assert!(reply["claims"].as_array().expect("claims").iter().any(has_neighbours), "{every}: {reply:#}");
        replies.push(reply.to_string());
    }
    fs::write(folder.path().join("replies.jsonl"), replies.join("\n")).expect("written");
    let replay = groundedvqa(&["verify", "--replay", "replies.jsonl", "--file", bikes], folder.path());
    assert!(code(&replay) == 0 && !text(&replay).contains("changed: "), "{}", text(&replay));
}

#[test]
fn the_judge_alone_is_measured_on_claims_made_from_captions() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenes = [
        "A young boy in a red shirt is sitting on a chair. Two dogs are lying on the floor. The room has a green wall.",
        "A woman is holding a white cup in the kitchen. There is a table with three plates. The window is open.",
    ];
    let captions: Vec<&str> = scenes.iter().flat_map(|scene| [*scene; 20]).collect();
    let videos: Vec<String> =
        (0..6).map(|i| serde_json::json!({"video": i.to_string(), "captions_1fps": captions}).to_string()).collect();
    fs::write(folder.path().join("captions.jsonl"), videos.join("\n")).expect("written");
    let measure =
        || groundedvqa(&["eval", "text", "captions.jsonl", "--half", "both", "--memo", "memo.jsonl"], folder.path());
    let run = measure();
    assert_eq!(code(&run), 0, "{}", text(&run));
    let results: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("eval-out/results.json")).expect("results"))
            .expect("JSON");
    let all = &results["figures"]["all"];
    let share = |name: &str| all[name]["share"].as_f64().expect("a share");
    assert!(share("caught") > 0.9 && share("flagged") < 0.2, "{results:#}");
    assert_eq!(measure().stdout, run.stdout, "the second run only weighs again");
}

/// The stream times of a camera belong to the memory that it was watched with. A replay has another one, and finds the
/// recording all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_about_a_camera_is_checked_again_from_its_recording() {
    let camera = RtspServer::ball();
    let streams = format!(
        "[streams.cam]\nurl = {:?}\nsample_every = \"1s\"\nsight = {{ extend_unchanged = false }}\n",
        camera.url()
    );
    let site = Site::new(&streams).await;
    let daemon = site.start();
    site.moments("cam", 3).await;
    let hit = site.client().search(&id("cam"), &search("anything")).await.expect("moments").moments.remove(0);
    let claims = vec![ClaimRequest { claim: "There is an elephant.".into(), timestamp: hit.moment.timestamp }];
    let request = VerifyRequest { v: V1, claims, design: None, deadline_s: None };
    let reply = site.client().verify(&id("cam"), &request).await.expect("verdicts");
    assert!(reply.claims[0].evidence.is_some(), "a frame was recorded: {:?}", reply.claims[0]);
    assert_eq!(daemon.terminate().code(), Some(0));
    drop(camera);

    let stored = site.write("verdict.json", &serde_json::to_string(&reply).expect("JSON"));
    let config = site.path("groundedvqa.toml");
    let (stored, config) = (stored.to_str().expect("UTF-8"), config.to_str().expect("UTF-8"));
    let folder = tempfile::tempdir().expect("a folder");
    let replay = || groundedvqa(&["verify", "--replay", stored, "--config", config], folder.path());
    let same = replay();
    assert!(code(&same) == 0 && text(&same).contains("same: "), "{}", text(&same));
    fs::remove_dir_all(site.path("archive").join("cam")).expect("the recording is there");
    let gone = replay();
    assert!(code(&gone) == 1 && text(&gone).contains("was looked at, and is not now"), "{}", text(&gone));
}

/// The whole of the per-site check: the daemon watches a clip and ends, then its own captions are turned into claims.
#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_checked_with_its_own_captions() {
    let streams = format!("[streams.walk]\nurl = {:?}\nsample_every = \"5s\"\n", clips::vtest());
    let site = Site::new(&streams).await;
    let daemon = site.start();
    site.moments("walk", 12).await;
    assert_eq!(daemon.terminate().code(), Some(0));
    let config = site.path("groundedvqa.toml");
    let config = config.to_str().expect("UTF-8");
    let folder = tempfile::tempdir().expect("a folder");
    let run = groundedvqa(&["eval", "site", "--config", config, "--cited", "3"], folder.path());
    let told = text(&run);
    assert_eq!(code(&run), 0, "{told}");
    assert!(told.contains("walk: checked "), "no progress was told: {told}");
    let report = fs::read_to_string(folder.path().join("eval-out/site.md")).expect("a report");
    assert!(told.contains(&report), "what is written is printed");
    for due in ["## walk", "| own sentence | – | 0.0 % (0 of ", "| wrong time | ", "## All streams"] {
        assert!(report.contains(due), "{due} is missing: {report}");
    }
    let caught = report.rsplit_once("Fabricated and caught: ").and_then(|(_, rest)| rest.split_once(" %"));
    let caught: f64 = caught.and_then(|(share, _)| share.parse().ok()).expect("a share");
    assert!(caught > 80.0, "{report}");
    let results = fs::read_to_string(folder.path().join("eval-out/site.json")).expect("figures");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    assert_eq!(results["streams"][0]["stream"], "walk", "{results:#}");

    let none = groundedvqa(&["eval", "site", "--config", config, "--cited", "0"], folder.path());
    assert!(code(&none) == 2 && text(&none).contains("--cited"), "{}", text(&none));
    let index = site.path("index.redb");
    let elsewhere = site.path("elsewhere.redb");
    fs::rename(&index, &elsewhere).expect("renamed");
    let wrong = groundedvqa(&["eval", "site", "--config", config], folder.path());
    assert!(code(&wrong) == 66 && text(&wrong).contains("cannot read"), "{}", text(&wrong));
    assert!(!index.exists(), "an index was made where none was");
    let nobody = groundedvqa(&["eval", "site", "--config", config, "--stream", "door"], folder.path());
    assert!(code(&nobody) == 2 && text(&nobody).contains("names no such stream"), "{}", text(&nobody));
}

fn search(query: &str) -> SearchRequest {
    SearchRequest { v: V1, query: query.into(), from: None, to: None, k: Some(1), deadline_s: None }
}
