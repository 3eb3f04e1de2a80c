//! The systemd unit, read by systemd.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{read, run, text};

/// A copy of the unit with `change` made to it and the program replaced by the one that was built.
fn copy(dir: &Path, change: impl Fn(String) -> String) -> String {
    let unit = read("systemd/groundedvqa.service");
    let built = unit.replace("/usr/bin/groundedvqa", env!("CARGO_BIN_EXE_groundedvqa"));
    assert_ne!(built, unit, "the unit starts another program");
    let path = dir.join("groundedvqa.service");
    fs::write(&path, change(built)).expect("writable");
    path.display().to_string()
}

/// What `systemd-analyze verify` says; it exits 0 for unknown keys, so any word is a failure.
fn verify(unit: &str) -> String {
    let output = run(Command::new("systemd-analyze").args(["verify", "--man=no", unit]));
    text(&output)
}

#[test]
fn systemd_has_nothing_to_say_about_the_unit() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    assert_eq!(verify(&copy(dir.path(), |unit| unit)), "");
}

#[test]
fn a_misspelt_key_would_be_noticed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let said = verify(&copy(dir.path(), |unit| unit.replace("WatchdogSec", "WatchDogSec")));
    assert!(said.contains("WatchDogSec"), "{said}");
}

#[test]
fn the_unit_is_exposed_to_no_more_than_2_0() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let security = |unit: &str| {
        run(Command::new("systemd-analyze").args(["security", "--offline=yes", "--no-pager", "--threshold=20", unit]))
    };
    let output = security(&copy(dir.path(), |unit| unit));
    assert!(output.status.success(), "{}", text(&output));
    let opened = copy(dir.path(), |unit| unit.replace("ProtectSystem=strict", "").replace("DynamicUser=yes", ""));
    assert!(!security(&opened).status.success(), "the threshold does not notice a weaker unit");
}

/// Restarting does not mend a configuration: the unit and the program have to mean the same exit code.
#[test]
fn a_bad_configuration_is_not_restarted() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = dir.path().join("groundedvqa.toml");
    fs::write(&config, "[telemetry]\nlisen = \"127.0.0.1:0\"\n").expect("writable");
    let output = run(Command::new(env!("CARGO_BIN_EXE_groundedvqa")).arg("run").arg("--config").arg(&config));
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("lisen"), "{}", text(&output));
}

#[test]
fn the_unit_agrees_with_the_program() {
    let unit = read("systemd/groundedvqa.service");
    for line in [
        "Type=notify",
        "WatchdogSec=",
        "StateDirectory=groundedvqa",
        "RestartPreventExitStatus=64",
        "ExecReload=/bin/kill -HUP $MAINPID",
    ] {
        assert!(unit.lines().any(|found| found.starts_with(line)), "{line} is missing");
    }
}
