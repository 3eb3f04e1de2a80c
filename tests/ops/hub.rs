//! `groundedvqa models fetch` as a program, from a hub that speaks the paths of the real one: token, lock, cache, offline,
//! resume, certificates.

#[allow(dead_code, reason = "the hub's own tests use all of it")]
#[path = "../../src/models/fetch/hub/server.rs"]
mod server;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use server::{Content, TestHub};

use crate::{repository, run, text};

const WEIGHTS: &str = "own/judge/resolve/main/model.safetensors";
const TOKENIZER: &str = "own/judge/resolve/main/tokenizer.json";
const TOKEN: &str = "hf_hunter2";

/// An operator's machine: a home, a manifest of two files, and nothing installed.
struct Site(tempfile::TempDir);

impl Site {
    fn new() -> Self {
        let site = Self(tempfile::tempdir().expect("a temporary directory"));
        let file =
            |path: &str| format!("[[repository.file]]\nrole = \"judge\"\npath = {path:?}\ninstall = \"j/{path}\"\n");
        let manifest = format!(
            "[[repository]]\nname = \"own/judge\"\nrevision = \"main\"\nlicence = \"MIT\"\nredistributable = true\n\
             provenance = \"a test\"\n{}{}",
            file("model.safetensors"),
            file("tokenizer.json")
        );
        fs::write(site.path("manifest.toml"), manifest).expect("writable");
        fs::write(site.path("token"), format!("{TOKEN}\n")).expect("writable");
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, action: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
        command.args(["models", action, "--dir"]).arg(self.path("models"));
        command.arg("--manifest").arg(self.path("manifest.toml"));
        command.env("HOME", self.0.path());
        for name in
            ["HF_ENDPOINT", "HF_TOKEN", "HF_TOKEN_PATH", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "GVQA_OFFLINE"]
        {
            command.env_remove(name);
        }
        command
    }

    fn fetch(&self, endpoint: &str, arguments: &[&str]) -> Output {
        run(self.command("fetch").args(["--hub-endpoint", endpoint]).args(arguments))
    }

    fn installed(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path("models/j").join(name)).ok()
    }
}

/// More than one read of a connection.
fn weights() -> Vec<u8> {
    (0..700_000_u32).map(|i| (i * 31 % 251) as u8).collect()
}

fn sha(bytes: &[u8]) -> String {
    groundedvqa::domain::Sha256::of(bytes).as_str().to_owned()
}

/// A hub that lets in only who has the token.
fn hub() -> TestHub {
    let hub = TestHub::start();
    hub.guard(TOKEN);
    for revision in ["main".to_owned(), "c".repeat(40)] {
        let at = |path: &str| path.replace("main", &revision);
        hub.put(&at(WEIGHTS), Content { linked: Some(sha(&weights())), bytes: weights(), ..Content::default() });
        hub.put(&at(TOKENIZER), Content { bytes: b"{}".to_vec(), ..Content::default() });
    }
    hub
}

#[test]
fn a_token_opens_the_hub_and_the_lock_remembers_what_came() {
    let (site, hub) = (Site::new(), hub());
    let refused = site.fetch(&hub.endpoint, &[]);
    assert!(!refused.status.success() && text(&refused).contains("status 401"), "{}", text(&refused));
    assert!(site.installed("model.safetensors").is_none());

    let token = site.path("token");
    let with_token = ["--hub-token-file", token.to_str().expect("UTF-8")];
    let fetched = site.fetch(&hub.endpoint, &with_token);
    assert!(fetched.status.success(), "{}", text(&fetched));
    assert!(!text(&fetched).contains(TOKEN), "the token was told");
    assert_eq!(site.installed("model.safetensors"), Some(weights()));
    let asked = hub.requests();
    let of_hub = asked.iter().filter(|line| !line.starts_with("store") && line.ends_with("+auth")).count();
    assert!(
        of_hub == 2 && asked.iter().all(|line| !line.starts_with("store") || !line.ends_with("+auth")),
        "{asked:?}"
    );
    let lock = fs::read_to_string(site.path("models/hub.lock")).expect("a lock");
    assert!(lock.contains(&"c".repeat(40)) && lock.contains(&sha(&weights())), "{lock}");
    assert!(run(&mut site.command("verify")).status.success());

    // Nothing is missing, so nobody is asked, not even with the hub gone.
    let again = site.fetch("http://127.0.0.1:9", &["--offline"]);
    assert!(again.status.success() && hub.requests().is_empty(), "{}", text(&again));
    // Other bytes under the same name are refused from now on.
    fs::remove_file(site.path("models/j/tokenizer.json")).expect("installed");
    hub.put(&TOKENIZER.replace("main", &"c".repeat(40)), Content { bytes: b"[]".to_vec(), ..Content::default() });
    let changed = site.fetch(&hub.endpoint, &with_token);
    assert!(!changed.status.success() && text(&changed).contains("an earlier fetch found"), "{}", text(&changed));
}

#[test]
fn the_token_of_a_log_in_and_of_the_environment_is_read() {
    let hub = hub();
    let site = Site::new();
    fs::create_dir_all(site.path(".cache/huggingface")).expect("writable");
    fs::write(site.path(".cache/huggingface/token"), TOKEN).expect("writable");
    let fetched = site.fetch(&hub.endpoint, &[]);
    assert!(fetched.status.success(), "{}", text(&fetched));
    let site = Site::new();
    let fetched = run(site.command("fetch").env("HF_ENDPOINT", &hub.endpoint).env("HF_TOKEN", TOKEN));
    assert!(fetched.status.success(), "{}", text(&fetched));
}

#[test]
fn offline_takes_what_the_cache_holds_and_says_what_it_lacks() {
    let site = Site::new();
    let repository = site.path("hub/models--own--judge");
    let commit = "d".repeat(40);
    fs::create_dir_all(repository.join("refs")).expect("writable");
    fs::create_dir_all(repository.join("snapshots").join(&commit)).expect("writable");
    fs::write(repository.join("refs/main"), &commit).expect("writable");
    fs::write(repository.join("snapshots").join(&commit).join("model.safetensors"), weights()).expect("writable");
    let cache = site.path("hub");
    let offline = || run(site.command("fetch").env("HF_HUB_CACHE", &cache).env("HF_HUB_OFFLINE", "1"));
    let half = offline();
    assert!(!half.status.success(), "{}", text(&half));
    for due in ["own/judge@main: tokenizer.json", "the network must not be used"] {
        assert!(text(&half).contains(due), "{due} is missing: {}", text(&half));
    }
    assert_eq!(site.installed("model.safetensors"), Some(weights()));
    fs::write(repository.join("snapshots").join(&commit).join("tokenizer.json"), "{}").expect("writable");
    let whole = offline();
    assert!(whole.status.success(), "{}", text(&whole));
    assert!(fs::read_to_string(site.path("models/hub.lock")).expect("a lock").contains(&commit));
}

#[test]
fn a_download_that_breaks_off_goes_on_from_there() {
    let (site, hub) = (Site::new(), hub());
    let cut = Content { linked: Some(sha(&weights())), bytes: weights(), cut: Some(300_000), ..Content::default() };
    hub.put(WEIGHTS, cut);
    let token = site.path("token");
    let with_token = ["--hub-token-file", token.to_str().expect("UTF-8")];
    let broken = site.fetch(&hub.endpoint, &with_token);
    assert!(!broken.status.success() && text(&broken).contains("broken off after 300000"), "{}", text(&broken));
    assert!(site.installed("model.safetensors").is_none(), "half a file is in place");
    hub.requests();
    let whole = site.fetch(&hub.endpoint, &with_token);
    assert!(whole.status.success(), "{}", text(&whole));
    assert_eq!(site.installed("model.safetensors"), Some(weights()));
    assert!(hub.requests().iter().any(|line| line.contains(" 300000-")), "it began again");
}

/// Files over TLS; it ends with its owner.
struct Mirror {
    child: Child,
    url: String,
}

impl Mirror {
    fn start(folder: &std::path::Path) -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.arg(repository("tests/common/http_server.py")).arg(folder).arg("--tls");
        command.args(["server.pem", "server.key"].map(|name| repository("tests/fixtures/bus").join(name)));
        command.args(["--commit", &"c".repeat(40)]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("python3 starts");
        let (mut url, stdout) = (String::new(), child.stdout.take().expect("it is piped"));
        BufReader::new(stdout).read_line(&mut url).expect("it can be read");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        // Failing means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_systems_certificates_are_those_that_count() {
    let site = Site::new();
    for (path, bytes) in [(WEIGHTS, weights()), (TOKENIZER, b"{}".to_vec())] {
        // The first file is asked for by its branch, the others by the commit that was named.
        for path in [path.to_owned(), path.replace("/main/", &format!("/{}/", "c".repeat(40)))] {
            let path = site.path("www").join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
            fs::write(path, &bytes).expect("writable");
        }
    }
    let mirror = Mirror::start(&site.path("www"));
    let with = |certificates: &str| {
        let mut command = site.command("fetch");
        command.args(["--hub-endpoint", &mirror.url]).env("SSL_CERT_FILE", repository(certificates));
        run(command.env_remove("SSL_CERT_DIR"))
    };
    let stranger = with("tests/fixtures/bus/client.pem");
    assert!(!stranger.status.success() && text(&stranger).contains("cannot be reached"), "{}", text(&stranger));
    let trusted = with("tests/fixtures/bus/ca.pem");
    assert!(trusted.status.success(), "{}", text(&trusted));
    assert_eq!(site.installed("model.safetensors"), Some(weights()));
}
