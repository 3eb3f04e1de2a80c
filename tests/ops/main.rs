//! What an operator is given: the Grafana board, the Prometheus rules and the systemd unit, each checked with the
//! program that will read it (promtool, prometheus, systemd-analyze; Grafana itself by its linter's rules), the first
//! two also over the running daemon; the model fetcher, killed in the middle, and over a hub; the evaluation harness; and the life of
//! streams in the daemon as a process: cameras that die, freeze and refuse, configurations that change, kill -9.

#[path = "../common/mod.rs"]
mod common;
mod daemon;
mod designs;
mod eval;
mod faults;
mod fetch;
mod hub;
mod life;
mod lint;
#[path = "../common/nats.rs"]
mod nats;
mod process;
mod promql;
mod recall;
mod rules;
mod scrape;
mod site;
mod start;
mod unit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file of the repository.
fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(repository(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Runs a program that `scripts/setup.sh` installs.
fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; run `make setup`"))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}
