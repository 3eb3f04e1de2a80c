//! The command line: one file a subcommand.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage, 64 bad configuration (systemd does not restart), 65 unusable input,
//! 66 no input, 69 server unavailable, 70 wrong CPU.

pub mod ask;
mod ask_file;
mod check_config;
mod cpu;
pub mod demo;
pub mod eval;
mod hub;
pub mod models;
mod one_file;
mod page;
mod replay;
mod run;
pub mod search;
pub mod server;
pub mod show;
pub mod streams;
pub mod verify;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::answer::AnswerError;
use crate::config::{self, ConfigError};
use crate::seams::ModelError;
use crate::telemetry;

/// sysexits.h EX_USAGE; the systemd unit knows it.
const EXIT_CONFIG: u8 = 64;
const EXIT_CPU: u8 = 70;
const EXIT_FAILED: u8 = 1;
/// `EX_UNAVAILABLE`: the models cannot be loaded, so nothing was found out.
const EXIT_MODELS: u8 = server::UNAVAILABLE;
/// What tells which device models run on, and how much memory they need.
const NOTES: [&str; 2] = ["groundedvqa::models::device", "groundedvqa::models::vlm"];

/// Watches video, answers questions about it over NATS, and proves every claim against a freshly extracted frame.
#[derive(Debug, Parser)]
#[command(version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon.
    Run(ConfigArgs),
    /// Check a configuration and say what it means, without running anything.
    CheckConfig(ConfigArgs),
    /// Ask a question and print the verified answer.
    Ask(ask::AskArgs),
    /// Have somebody else's claims verified.
    Verify(verify::VerifyArgs),
    /// Find moments by meaning.
    Search(search::SearchArgs),
    /// List the streams of a daemon, or add, change and remove some.
    Streams(Box<streams::StreamsArgs>),
    /// Fetch, verify or list the model files.
    Models(models::Args),
    /// Measure how true the verdicts are, on claims of known truth.
    Eval(eval::Args),
    /// Run the whole job on sample clips and show the verdicts.
    Demo(demo::Args),
}

/// Where the configuration is.
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    /// The TOML file.
    #[arg(long, short, default_value_os_t = config::default_path(), env = "GVQA_CONFIG")]
    config: PathBuf,
}

/// Parses the arguments, runs the subcommand, prints an error once.
pub fn main() -> ExitCode {
    if let Err(error) = cpu::check() {
        complain(&error.to_string());
        return ExitCode::from(EXIT_CPU);
    }
    match begin(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            complain(&format!("{error:#}"));
            exit_code(&error)
        }
    }
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(code(error))
}

fn code(error: &anyhow::Error) -> u8 {
    let lacks_model = matches!(error.downcast_ref::<AnswerError>(), Some(AnswerError::NotConfigured(_)));
    if lacks_model || error.is::<ConfigError>() {
        return EXIT_CONFIG;
    }
    if error.is::<ModelError>() {
        return EXIT_MODELS;
    }
    error.downcast_ref::<eval::InputError>().map_or(EXIT_FAILED, eval::InputError::exit_code)
}

/// Only the daemon logs; the others still tell what a model needs before it is loaded.
fn begin(command: Command) -> anyhow::Result<ExitCode> {
    if !matches!(command, Command::Run(_)) {
        telemetry::init_notes(&NOTES)?;
    }
    dispatch(command)
}

fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(&args.config),
        Command::CheckConfig(args) => check_config::run(&args.config),
        Command::Models(args) => models::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Ask(args) => block_on(ask::run(args)),
        Command::Verify(args) => block_on(verify::run(args)),
        Command::Search(args) => block_on(search::run(args)),
        Command::Eval(args) => block_on(eval::run(args)),
        Command::Streams(args) => block_on(streams::run(*args)),
        Command::Demo(args) => block_on(demo::run(args)),
    }
}

fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Runtime::new()?.block_on(work)
}

fn complain(message: &str) {
    // Without a stderr there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "groundedvqa: {message}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Design;

    #[test]
    fn what_is_not_configured_is_a_wrong_configuration() {
        for (error, due) in [
            (anyhow::Error::new(AnswerError::NotConfigured(Design::VlmDirect)), 64),
            (anyhow::Error::new(AnswerError::NotConfigured(Design::VlmDirect)).context("it cannot be checked"), 64),
            (anyhow::Error::new(AnswerError::Busy), 1),
            (anyhow::anyhow!("something else"), 1),
        ] {
            assert_eq!(code(&error), due, "{error:#}");
        }
    }
}
