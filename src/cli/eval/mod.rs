//! `groundedvqa eval`: how true are the verdicts? Runs the models on claims of known truth and writes what came out.

mod audit;
mod input;
mod memo;
mod progress;
mod relevance;
mod retrieval;
mod site;
mod suite;
mod text;
mod vectors;

pub(super) use input::InputError;

use std::path::PathBuf;
use std::process::ExitCode;

/// Checks claims of known truth by every verifier design and writes tables.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    suite: suite::Args,
}

/// Other things to measure than a suite.
#[derive(Debug, clap::Subcommand)]
enum What {
    /// The judge alone, on thousands of claims made from captions of videos.
    Text(text::Args),
    /// Whether the moments that are taken for questions lie where the answers are.
    Retrieval(retrieval::Args),
    /// Whether claims that do not answer are told from those that do.
    Relevance(relevance::Args),
    /// These cameras with these models: claims made from the site's own stored captions. Also as `--site`.
    #[command(long_flag = "site")]
    Site(site::Args),
}

/// Where results go and models are.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Common {
    /// The folder that the results are written into.
    #[arg(long, default_value = "eval-out")]
    out: PathBuf,
    /// Where `groundedvqa models fetch` put the models.
    #[arg(long, default_value = "models", env = "GVQA_MODELS")]
    models: PathBuf,
}

/// Measures, writes, prints the tables.
pub async fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        Some(What::Text(args)) => text::run(&args),
        Some(What::Retrieval(args)) => retrieval::run(&args).await,
        Some(What::Relevance(args)) => relevance::run(&args),
        Some(What::Site(args)) => site::run(&args).await,
        None => suite::run(args.suite).await,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn relevance_needs_a_suite_or_data() {
        for (line, is_usable) in [
            (&["eval", "relevance"][..], false),
            (&["eval", "relevance", "--half", "both"], false),
            (&["eval", "relevance", "a.toml"], true),
            (&["eval", "relevance", "--data", "d"], true),
        ] {
            let parsed = Line::try_parse_from(line);
            assert_eq!(parsed.as_ref().map_err(clap::Error::exit_code).err(), (!is_usable).then_some(2), "{line:?}");
        }
    }

    #[test]
    fn the_check_of_a_site_has_two_spellings() {
        for spelling in ["site", "--site"] {
            let line = Line::try_parse_from(["eval", spelling]).expect(spelling);
            assert!(matches!(line.args.what, Some(What::Site(_))), "{spelling}");
        }
        let suite = Line::try_parse_from(["eval", "a.toml", "--designs", "none"]).expect("a suite");
        assert!(suite.args.what.is_none());
    }
}
