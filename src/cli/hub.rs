//! How a hub is reached: options, and the variables that other programs of hubs read.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::{FalseyValueParser, StringValueParser, TypedValueParser as _};

use crate::config::SecretFile;
use crate::models::fetch::hub::Hub;
use crate::secret::Secret;

/// Options of everything that downloads from a hub.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Address of the hub.
    #[arg(long = "hub-endpoint", env = "HF_ENDPOINT", default_value = "https://huggingface.co")]
    endpoint: String,
    /// File that holds the token. Default: the token of `hf auth login`, if there is one.
    #[arg(long = "hub-token-file", env = "HF_TOKEN_PATH")]
    token_file: Option<PathBuf>,
    /// A cache of the hub to look into before anything is downloaded. Default: `hub` in HF_HOME.
    #[arg(long = "hub-cache", env = "HF_HUB_CACHE")]
    cache: Option<PathBuf>,
    /// Use no network: install what the cache holds, and say what is missing.
    #[arg(long, env = "GVQA_OFFLINE", value_parser = FalseyValueParser::new())]
    offline: bool,
    #[arg(long, env = "HF_HUB_OFFLINE", value_parser = FalseyValueParser::new(), hide = true)]
    hub_offline: bool,
    #[arg(long, env = "HF_TOKEN", value_parser = StringValueParser::new().map(Secret::new), hide = true, hide_env_values = true)]
    hub_token: Option<Secret>,
    #[arg(long, env = "HF_HOME", hide = true)]
    hub_home: Option<PathBuf>,
    #[arg(long, env = "HOME", hide = true)]
    user_home: Option<PathBuf>,
}

impl Args {
    /// The hub that is meant. A token file that was named must be readable.
    pub(super) fn hub(&self) -> anyhow::Result<Hub> {
        let home = self.hub_home.clone().or_else(|| Some(self.user_home.as_ref()?.join(".cache/huggingface")));
        Ok(Hub {
            endpoint: self.endpoint.clone(),
            token: self.token(home.as_deref())?,
            cache: self.cache.clone().or_else(|| Some(home?.join("hub"))),
            offline: self.offline || self.hub_offline,
            ..Hub::default()
        })
    }

    fn token(&self, home: Option<&Path>) -> anyhow::Result<Option<Secret>> {
        if let Some(token) = self.hub_token.as_ref().filter(|token| !token.expose().is_empty()) {
            return Ok(Some(token.clone()));
        }
        let logged_in = home.map(|home| home.join("token")).filter(|path| path.is_file());
        let Some(path) = self.token_file.clone().or(logged_in) else { return Ok(None) };
        SecretFile::new(path).read().map(Some).context("cannot read the token of the hub")
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        hub: Args,
    }

    fn hub(arguments: &[&str]) -> anyhow::Result<Hub> {
        Line::try_parse_from([&["models"], arguments].concat())?.hub.hub()
    }

    #[test]
    fn options_say_how_the_hub_is_reached() {
        let dir = tempfile::tempdir().expect("a directory");
        let (home, file) = (dir.path().display().to_string(), dir.path().join("token"));
        let common = ["--hub-endpoint", "http://mirror", "--hub-home", &home];
        let bare = hub(&common).expect("valid");
        assert_eq!((bare.endpoint.as_str(), bare.offline), ("http://mirror", false));
        assert_eq!(bare.cache, Some(dir.path().join("hub")));
        assert!(bare.token.is_none());
        std::fs::write(&file, "hunter2\n").expect("writable");
        let logged_in = hub(&[common.as_slice(), &["--offline"]].concat()).expect("valid");
        assert_eq!(logged_in.token.as_ref().map(Secret::expose), Some("hunter2"));
        assert!(logged_in.offline && !format!("{logged_in:?}").contains("hunter2"));
        let error = hub(&["--hub-token-file", "/nowhere/token"]).expect_err("not readable");
        assert!(format!("{error:#}").contains("/nowhere/token"), "{error:#}");
    }
}
