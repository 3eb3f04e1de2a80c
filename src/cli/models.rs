//! `groundedvqa models fetch|verify|list`: the files the models are loaded from.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

use super::hub;
use crate::models::fetch::Fetcher;
use crate::models::manifest::{Expected, Lock, Manifest, fetch_command};

/// Fetch, check and list the model files of a profile.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
    /// Directory of the installed files.
    #[arg(long, global = true, default_value = "models", env = "GVQA_MODELS")]
    dir: PathBuf,
    /// Which of the built-in manifests.
    #[arg(long, global = true, default_value = "edge")]
    profile: Profile,
    /// Another manifest than those that are built in.
    #[arg(long, global = true)]
    manifest: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Profile {
    Edge,
    Gpu,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Install what is missing, with pip, npm, and from a Hugging Face-style hub. Does nothing, offline, once everything
    /// is in place.
    Fetch {
        /// Packages and repositories to fetch, by name. Default: all of the manifest.
        names: Vec<String>,
        #[command(flatten)]
        hub: Box<hub::Args>,
    },
    /// Compute every SHA-256 again. Fails naming each file that is missing or corrupt.
    Verify,
    /// Print each file with its role, size, licence and origin.
    List,
}

/// Runs the subcommand. Progress goes to stderr, results to stdout.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let manifest = match &args.manifest {
        Some(path) => Manifest::read(path)?,
        None => match args.profile {
            Profile::Edge => Manifest::edge(),
            Profile::Gpu => Manifest::gpu(),
        },
    };
    match &args.action {
        Action::Fetch { names, hub } => {
            let manifest = manifest.only(names).map_err(|name| anyhow!("nothing in the manifest is called {name}"))?;
            let fetcher = Fetcher { hub: hub.hub()?, ..Fetcher::default() };
            fetch(&fetcher, &manifest, &args.dir)
        }
        Action::Verify => verify(&locked(manifest, &args.dir)?, &args.dir, &mut io::stdout().lock()),
        Action::List => list(&locked(manifest, &args.dir)?, &args.dir, &mut io::stdout().lock()),
    }
}

/// With what earlier fetches found.
fn locked(mut manifest: Manifest, dir: &Path) -> anyhow::Result<Manifest> {
    Lock::read(dir)?.complete(&mut manifest);
    Ok(manifest)
}

fn fetch(fetcher: &Fetcher, manifest: &Manifest, dir: &Path) -> anyhow::Result<()> {
    let mut report = |progress: crate::models::fetch::Progress<'_>| {
        // A closed stderr is no reason to stop installing.
        let _ = writeln!(io::stderr(), "models: {progress}");
    };
    let installed = fetcher.fetch(manifest, dir, &mut report)?;
    let _ = writeln!(io::stderr(), "models: {installed} files installed, all in place in {}", dir.display());
    Ok(())
}

fn verify(manifest: &Manifest, dir: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut wrong = 0;
    for file in manifest.expected() {
        match file.verify(dir) {
            Ok(()) => writeln!(out, "ok       {}", file.install).context("cannot write the result")?,
            Err(error) => {
                wrong += 1;
                writeln!(out, "WRONG    {}: {error}", file.install).context("cannot write the result")?;
            }
        }
    }
    for (repository, file) in manifest.unknown() {
        wrong += 1;
        let fetch = fetch_command(Some(&repository.name), dir);
        writeln!(out, "WRONG    {}: was never fetched: run `{fetch}`", file.install)
            .context("cannot write the result")?;
    }
    if wrong > 0 {
        bail!("{wrong} model files under {} are missing or corrupt", dir.display());
    }
    Ok(())
}

fn list(manifest: &Manifest, dir: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    for package in &manifest.packages {
        writeln!(out, "{} ({}): {}", package.id(), package.registry, package.provenance)?;
        writeln!(out, "  licence: {}", package.licence)?;
        for item in &package.files {
            for file in std::iter::once(item.fetched()).chain(item.converted()) {
                writeln!(out, "  {}", row(&file, dir))?;
            }
        }
    }
    for repository in &manifest.repositories {
        writeln!(out, "{} (hub): {}", repository.id(), repository.provenance)?;
        writeln!(out, "  licence: {}", repository.licence)?;
        for file in &repository.files {
            let known = repository.expected().find(|known| known.install == file.install).map(|file| row(&file, dir));
            let unknown = || format!("{:<10} {:<10} {:>7} MB  {}", file.role.to_string(), "missing", "?", file.install);
            writeln!(out, "  {}", known.unwrap_or_else(unknown))?;
        }
    }
    Ok(())
}

fn row(file: &Expected<'_>, dir: &Path) -> String {
    let state = if dir.join(file.install).is_file() { "installed" } else { "missing" };
    let role = file.role.to_string();
    format!("{role:<10} {state:<10} {:>7.1} MB  {}", file.bytes as f64 / 1e6, file.install)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_names_each_wrong_file_and_fails() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut out = Vec::new();
        let error = verify(&Manifest::edge(), dir.path(), &mut out).expect_err("nothing is installed");
        let text = String::from_utf8(out).expect("text");
        assert!(
            text.contains("WRONG    judge/model.onnx") && error.to_string().contains("missing or corrupt"),
            "{text}"
        );
        let mut out = Vec::new();
        verify(&Manifest::gpu(), dir.path(), &mut out).expect_err("nothing was fetched");
        let text = String::from_utf8(out).expect("text");
        let due = format!("models fetch --profile gpu --dir {} Qwen/Qwen3-4B-GGUF`", dir.path().display());
        assert!(text.contains(&due), "{text}");
    }

    #[test]
    fn list_says_what_may_not_be_passed_on() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut out = Vec::new();
        list(&Manifest::edge(), dir.path(), &mut out).expect("a vector is writable");
        list(&Manifest::gpu(), dir.path(), &mut out).expect("a vector is writable");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("never redistributed") && text.contains("missing"), "{text}");
        assert!(text.contains("Qwen/Qwen3-4B-GGUF@main (hub)") && text.contains("? MB  qwen3-4b/model.gguf"), "{text}");
    }
}
