//! What happens before the daemon is ready: damaged models, and an end that is asked for while they load.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::{models_dir, temp_dir};
use crate::process::Process;
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
