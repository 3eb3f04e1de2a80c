//! What happens before the daemon is ready: damaged models, and an end that is asked for while they load.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::{models_dir, temp_dir};
use crate::process::{Process, eventually, get};
use crate::{run, text};

/// The role's folder in `dir` as it is installed, without one of its files.
fn all_but(dir: &Path, role: &str, left_out: &str) {
    fs::create_dir_all(dir.join(role)).expect("writable");
    for entry in fs::read_dir(models_dir().join(role)).expect("the models are installed") {
        let path = fs::canonicalize(entry.expect("readable").path()).expect("a file");
        let name = path.file_name().expect("a name");
        if name != left_out {
            symlink(&path, dir.join(role).join(name)).expect("writable");
        }
    }
}

fn daemon(dir: &Path) -> Command {
    let config = dir.join("site.toml");
    let text = format!(
        "[streams.ball]\nurl = \"test://ball\"\n[models]\ndir = {:?}\n[index]\npath = {:?}\n\
         [bus]\nurl = \"nats://127.0.0.1:1\"\n[telemetry]\nlisten = \"127.0.0.1:0\"\nlog_format = \"json\"\n",
        dir.join("models"),
        dir.join("index.redb"),
    );
    fs::write(&config, text).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
    command.arg("run").arg("--config").arg(config);
    command
}

fn served(line: &str) -> Option<SocketAddr> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    event["message"].as_str()?.contains("/metrics").then(|| event["address"].as_str()?.parse().ok())?
}

#[test]
fn the_end_can_be_asked_for_while_models_load() {
    let dir = temp_dir();
    // Loading opens this pipe and waits for ever for somebody to write into it.
    all_but(&dir.path().join("models"), "embedder", "model.safetensors");
    let pipe = dir.path().join("models/embedder/model.safetensors");
    assert!(run(Command::new("mkfifo").arg(pipe)).status.success());
    let (process, _) = Process::start(&mut daemon(dir.path()), served);
    assert_eq!(process.terminate().code(), Some(0));
}

#[test]
fn weights_that_changed_by_one_bit_are_refused() {
    let dir = temp_dir();
    let models = dir.path().join("models");
    for (role, without) in [("embedder", ""), ("drafter", ""), ("judge", ""), ("captioner", "nanodet.bin")] {
        all_but(&models, role, without);
    }
    let mut weights = fs::read(models_dir().join("captioner/nanodet.bin")).expect("the models are installed");
    weights[3_000_000] ^= 1;
    fs::write(models.join("captioner/nanodet.bin"), weights).expect("writable");
    let output = run(&mut daemon(dir.path()));
    let told = text(&output);
    assert!(!output.status.success(), "{told}");
    assert!(told.contains("nanodet.bin is corrupt") && told.contains("groundedvqa models fetch"), "{told}");
}

#[test]
fn a_model_that_is_left_alone_is_told_and_the_daemon_stays_ready() {
    let dir = temp_dir();
    let mut command = daemon(dir.path());
    command.env("GVQA__MODELS__DIR", models_dir()).env("GVQA__MODELS__DRAFTER", "extractive");
    command.env("GVQA__TELEMETRY__READY_REQUIRES", "[\"models\", \"index\"]");
    command.env("GVQA__STREAMS__BALL__SAMPLE_EVERY", "1s");
    for role in ["CAPTIONER", "JUDGE"] {
        // Nobody listens there.
        for (key, value) in [("KIND", "remote"), ("URL", "http://127.0.0.1:1/v1"), ("MODEL", "none"), ("RETRIES", "0")]
        {
            command.env(format!("GVQA__MODELS__{role}__{key}"), value);
        }
        command.env(format!("GVQA__MODELS__{role}__BREAKER_FAILURES"), "1");
        command.env(format!("GVQA__MODELS__{role}__BREAKER_PAUSE"), "1h");
    }
    let (process, address) = Process::start(&mut command, served);
    let ready = || get(address, "/readyz").filter(|(code, _)| *code == 200);
    let (_, body) = eventually("the daemon told it", || ready().filter(|(_, body)| body.contains("left alone")));
    let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    let models = &body["checks"]["models"];
    // Frames were shown to the captioner; nobody asked the judge anything.
    let due = "none@127.0.0.1:1/caption-1; left alone because it failed too often: captioner (remote)";
    assert_eq!((&models["ok"], models["detail"].as_str()), (&true.into(), Some(due)), "{body}");
    let (_, metrics) = get(address, "/metrics").expect("/metrics answers");
    assert!(metrics.contains("gvqa_remote_open{role=\"captioner\"} 1"), "{metrics}");
    assert!(metrics.contains("gvqa_remote_open{role=\"judge\"} 0"), "{metrics}");
    assert_eq!(process.terminate().code(), Some(0));
}
