//! Fetching from a hub of our own over real connections: every way it answers, and every way it fails.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::server::{Content, TestHub};
use super::*;
use crate::models::fetch::Fetcher;
use crate::models::manifest::{Lock, Manifest, Role};

const TOKENIZER: &[u8] = b"{\"tokenizer\": true}";

fn sha(mut bytes: &[u8]) -> Sha {
    Sha::of(&mut bytes).expect("a slice is readable").0
}

/// More than one read of a connection.
fn weights() -> Vec<u8> {
    (0..700_000u32).map(|i| (i * 31 % 251) as u8).collect()
}

fn large(bytes: Vec<u8>) -> Content {
    Content { linked: Some(sha(&bytes).as_str().to_owned()), bytes, ..Content::default() }
}

fn small(bytes: &[u8]) -> Content {
    Content { bytes: bytes.to_owned(), ..Content::default() }
}

/// A hub with one repository of two files, and a models directory.
struct Bench {
    hub: TestHub,
    dir: tempfile::TempDir,
    manifest: Manifest,
    fetcher: Fetcher,
}

impl Bench {
    fn new() -> Self {
        let hub = TestHub::start();
        for revision in ["main", &"c".repeat(40)] {
            hub.put(&format!("own/judge/resolve/{revision}/onnx/model.safetensors"), large(weights()));
            hub.put(&format!("own/judge/resolve/{revision}/tokenizer.json"), small(TOKENIZER));
        }
        let file = |path: &str, install: &str| RepositoryFile {
            role: Role::Judge,
            path: path.to_owned(),
            install: install.to_owned(),
            sha256: None,
            bytes: None,
        };
        let repository = Repository {
            name: "own/judge".to_owned(),
            revision: "main".to_owned(),
            licence: "MIT".to_owned(),
            redistributable: true,
            provenance: "made by a test".to_owned(),
            files: vec![file("onnx/model.safetensors", "j/m.safetensors"), file("tokenizer.json", "j/tokenizer.json")],
        };
        let own = Hub { endpoint: hub.endpoint.clone(), patience: Duration::from_secs(10), ..Hub::default() };
        let dir = tempfile::tempdir().expect("a temporary directory");
        let manifest = Manifest { packages: vec![], repositories: vec![repository] };
        Self { hub, dir, manifest, fetcher: Fetcher { hub: own, ..Fetcher::default() } }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn fetch(&self) -> Result<usize, FetchError> {
        self.fetcher.fetch(&self.manifest, self.dir.path(), &mut |_| ())
    }

    fn refused(&self) -> HubError {
        match self.fetch() {
            Err(FetchError::Hub { file, trouble }) => {
                assert!(file.starts_with("own/judge@") && file.contains(": "), "{file}");
                *trouble
            }
            other => panic!("{other:?}"),
        }
    }

    fn large_at(&self, revision: &str, change: impl FnOnce(&mut Content)) {
        let mut content = large(weights());
        change(&mut content);
        self.hub.put(&format!("own/judge/resolve/{revision}/onnx/model.safetensors"), content);
    }

    fn parts(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("j")) else { return Vec::new() };
        let parts = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|ending| ending == "part"));
        parts.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

#[test]
fn a_first_fetch_follows_the_store_and_writes_down_what_it_found() {
    let bench = Bench::new();
    assert_eq!(bench.fetch().expect("all is there"), 2);
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), weights());
    assert_eq!(fs::read(bench.path("j/tokenizer.json")).expect("installed"), TOKENIZER);
    let commit = "c".repeat(40);
    // The second file is asked for at the commit that the first one came from.
    assert_eq!(
        bench.hub.requests(),
        [
            "/own/judge/resolve/main/onnx/model.safetensors".to_owned(),
            "store /own/judge/resolve/main/onnx/model.safetensors".to_owned(),
            format!("/own/judge/resolve/{commit}/tokenizer.json"),
        ]
    );
    let mut manifest = bench.manifest.clone();
    Lock::read(bench.dir.path()).expect("written").complete(&mut manifest);
    assert_eq!(manifest.unknown().count(), 0);
    manifest.verify(bench.dir.path(), &[]).expect("what was installed is what was locked");
    assert_eq!(bench.fetch().expect("nothing is missing"), 0);
    assert_eq!(bench.hub.requests(), Vec::<String>::new(), "asked although nothing was missing");
}

#[test]
fn a_branch_that_moves_changes_nothing_and_a_changed_file_is_refused() {
    let bench = Bench::new();
    bench.fetch().expect("all is there");
    bench.large_at("main", |content| *content = large(b"another".to_vec()));
    bench.hub.commit(&"d".repeat(40));
    assert_eq!(bench.fetch().expect("locked"), 0);
    // Lost here: fetched again from the commit of the first time, not from the branch.
    fs::remove_file(bench.path("j/m.safetensors")).expect("there");
    bench.hub.requests();
    assert_eq!(bench.fetch().expect("the commit is there"), 1);
    assert!(bench.hub.requests()[0].contains(&"c".repeat(40)));
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), weights());
    // The same commit with other bytes: somebody rewrote history.
    bench.large_at(&"c".repeat(40), |content| *content = large(b"another".to_vec()));
    fs::write(bench.path("j/m.safetensors"), b"damaged").expect("writable");
    let error = bench.refused();
    assert!(matches!(error, HubError::Digest { origin: Origin::Lock, .. }), "{error:?}");
    assert!(error.to_string().contains("hub.lock"), "{error}");
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("left alone"), b"damaged");
}

#[test]
fn a_download_that_breaks_off_is_resumed_where_it_ended() {
    let bench = Bench::new();
    bench.large_at("main", |content| content.cut = Some(300_000));
    let error = bench.refused();
    assert!(matches!(&error, HubError::Truncated { got: 300_000, of, .. } if of == "700000"), "{error:?}");
    assert!(!bench.path("j/m.safetensors").exists() && bench.parts().len() == 1, "{:?}", bench.parts());
    bench.hub.requests();
    assert_eq!(bench.fetch().expect("the rest"), 2);
    assert_eq!(bench.hub.requests()[1], "store /own/judge/resolve/main/onnx/model.safetensors 300000-");
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), weights());
    assert_eq!(bench.parts(), Vec::<String>::new());
}

#[test]
fn a_small_file_and_a_store_without_ranges_are_resumed_too() {
    let bench = Bench::new();
    let at = "own/judge/resolve/main/onnx/model.safetensors";
    // Sent at once by the hub itself: the rest is asked for after its tag is known.
    bench.hub.put(at, Content { cut: Some(400), ..small(&weights()[..1000]) });
    assert!(matches!(bench.refused(), HubError::Truncated { got: 400, .. }));
    bench.hub.requests();
    bench.fetch().expect("the rest");
    assert_eq!(bench.hub.requests()[1], format!("/{at} 400-"));
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), &weights()[..1000]);

    let bench = Bench::new();
    bench.large_at("main", |content| (content.cut, content.whole) = (Some(5), true));
    assert!(matches!(bench.refused(), HubError::Truncated { got: 5, .. }));
    bench.fetch().expect("sent whole");
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), weights());
}

#[test]
fn a_kept_beginning_of_something_else_does_no_harm() {
    let bench = Bench::new();
    bench.large_at("main", |content| content.cut = Some(300_000));
    bench.refused();
    let part = bench.path("j").join(&bench.parts()[0]);
    fs::write(&part, vec![7; 300_000]).expect("writable");
    assert_eq!(bench.fetch().expect("from the beginning"), 2);
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), weights());
    // As long as the file, and wrong: nothing is sent, the digest tells.
    fs::remove_file(bench.path("j/m.safetensors")).expect("there");
    fs::write(&part, vec![7; 700_000]).expect("writable");
    assert_eq!(bench.fetch().expect("from the beginning"), 1);
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), weights());
}

#[test]
fn other_bytes_than_announced_or_named_are_not_installed() {
    let mut bench = Bench::new();
    bench.large_at("main", |content| content.linked = Some("0".repeat(64)));
    let error = bench.refused();
    assert!(matches!(error, HubError::Digest { origin: Origin::Hub, .. }), "{error:?}");
    assert!(!bench.path("j/m.safetensors").exists() && bench.parts().is_empty());
    bench.large_at("main", |_| ());
    let file = &mut bench.manifest.repositories[0].files[0];
    (file.sha256, file.bytes) = (Some(sha(b"other")), Some(5));
    assert!(matches!(bench.refused(), HubError::Digest { origin: Origin::Manifest, .. }));
    let file = &mut bench.manifest.repositories[0].files[0];
    (file.sha256, file.bytes) = (Some(sha(&weights())), Some(700_000));
    assert_eq!(bench.fetch().expect("as named"), 2);
}

#[test]
fn refusals_are_told_apart() {
    let bench = Bench::new();
    for (status, code, expected) in [
        (401, "GatedRepo", HubError::Gated),
        (401, "", HubError::Unauthorized { status: 401 }),
        (404, "RepoNotFound", HubError::NoRepository),
        (404, "RevisionNotFound", HubError::NoRevision),
        (404, "EntryNotFound", HubError::NoFile),
        (429, "", HubError::Busy { after: None }),
        (500, "", HubError::Status { status: 500 }),
    ] {
        bench.large_at("main", |content| content.refuse = Some((status, code)));
        assert_eq!(bench.refused(), expected);
        assert!(!bench.path("j/m.safetensors").exists() && bench.parts().is_empty());
    }
    bench.large_at("main", |content| {
        content.moved = Some("/own/judge/resolve/main/onnx/model.safetensors".to_owned());
    });
    assert!(matches!(bench.refused(), HubError::Redirect(_)), "sent in circles for ever");
}

#[test]
fn a_page_in_place_of_the_hub_is_neither_installed_nor_written_down() {
    let bench = Bench::new();
    let at = "own/judge/resolve/main/onnx/model.safetensors";
    let page = || small(b"<html>log in</html>");
    let named = || Some(String::new());
    let large = || large(weights());
    for (case, content) in [
        ("a login page", Content { kind: Some("text/html; charset=utf-8"), pretend: named(), ..page() }),
        ("a page that is said to be a file", Content { pretend: named(), ..page() }),
        ("a commit that is none", Content { pretend: Some("../main".to_owned()), ..page() }),
        ("a page of the hub itself", Content { kind: Some("text/html"), ..page() }),
        ("a page in place of the store", Content { kind: Some("Text/HTML"), ..large() }),
        ("a store that no hub led to", Content { pretend: named(), ..large() }),
    ] {
        bench.hub.put(at, content);
        let error = bench.refused();
        assert!(matches!(error, HubError::NotAHub(_)), "{case}: {error:?}");
        assert!(error.to_string().contains("does not answer as a hub"), "{error}");
        assert!(!bench.path("j/m.safetensors").exists() && !bench.path("hub.lock").exists(), "{case}");
    }
    bench.large_at("main", |content| content.kind = Some("application/octet-stream"));
    bench.fetch().expect("a hub");
    assert!(bench.path("hub.lock").exists());
}

#[test]
fn a_hub_that_sends_another_commit_than_the_pinned_one_is_refused() {
    let mut bench = Bench::new();
    let asked = "c".repeat(40);
    bench.manifest.repositories[0].revision.clone_from(&asked);
    for sent in ["d".repeat(40), "c".repeat(39)] {
        bench.large_at(&asked, |content| content.pretend = Some(sent.clone()));
        assert_eq!(bench.refused(), HubError::OtherCommit { asked: asked.clone(), sent });
        assert!(!bench.path("j/m.safetensors").exists() && !bench.path("hub.lock").exists());
    }
    bench.large_at(&asked, |_| ());
    assert_eq!(bench.fetch().expect("as asked"), 2);
    // Of a branch too: what comes after the first file is asked for by its commit.
    let bench = Bench::new();
    let at = format!("own/judge/resolve/{asked}/tokenizer.json");
    bench.hub.put(&at, Content { pretend: Some("d".repeat(40)), ..small(TOKENIZER) });
    assert!(matches!(bench.refused(), HubError::OtherCommit { .. }));
}

#[test]
fn a_token_travels_to_the_hub_and_not_to_its_store() {
    let mut bench = Bench::new();
    bench.hub.guard("hunter2");
    assert_eq!(bench.refused(), HubError::Unauthorized { status: 401 });
    bench.fetcher.hub.token = Some(Secret::new("hunter2"));
    assert!(!format!("{:?}", bench.fetcher).contains("hunter2"));
    // A repository that was renamed: the hub sends to itself, and still wants to know who asks.
    bench.hub.put(
        "own/judge/resolve/main/onnx/model.safetensors",
        Content { moved: Some("/new/judge/resolve/main/m".to_owned()), ..Content::default() },
    );
    bench.hub.put("new/judge/resolve/main/m", large(weights()));
    bench.hub.requests();
    assert_eq!(bench.fetch().expect("let in"), 2);
    let requests = bench.hub.requests();
    assert_eq!(requests[0], "/own/judge/resolve/main/onnx/model.safetensors +auth");
    assert_eq!(requests[1], "/new/judge/resolve/main/m +auth");
    assert_eq!(requests[2], "store /new/judge/resolve/main/m");
}

#[test]
fn no_hub_and_no_network_are_told() {
    let mut bench = Bench::new();
    bench.fetcher.hub.offline = true;
    assert_eq!(bench.refused(), HubError::Offline);
    assert_eq!(bench.hub.requests(), Vec::<String>::new(), "the network was used");
    bench.fetcher.hub.offline = false;
    // A port that nobody listens on any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    bench.fetcher.hub.endpoint = format!("http://{gone}");
    assert!(matches!(bench.refused(), HubError::Unreachable(_)));
    // One that takes the connection and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    bench.fetcher.hub.endpoint = format!("http://{}", silent.local_addr().expect("bound"));
    bench.fetcher.hub.patience = Duration::from_millis(100);
    assert!(matches!(bench.refused(), HubError::Unreachable(_)));
}

#[test]
fn the_cache_of_this_machine_serves_without_a_network() {
    let mut bench = Bench::new();
    let cache = tempfile::tempdir().expect("a temporary directory");
    let folder = cache.path().join("models--own--judge");
    let snapshot = folder.join("snapshots").join("ab12");
    fs::create_dir_all(folder.join("refs")).expect("writable");
    fs::create_dir_all(snapshot.join("onnx")).expect("writable");
    fs::write(folder.join("refs/main"), "ab12\n").expect("writable");
    fs::write(snapshot.join("onnx/model.safetensors"), weights()).expect("writable");
    (bench.fetcher.hub.offline, bench.fetcher.hub.cache) = (true, Some(cache.path().to_owned()));
    // One file is there, the other is not.
    assert_eq!(bench.refused(), HubError::Offline);
    assert_eq!(fs::read(bench.path("j/m.safetensors")).expect("installed"), weights());
    fs::write(snapshot.join("tokenizer.json"), TOKENIZER).expect("writable");
    assert_eq!(bench.fetch().expect("both"), 1);
    assert_eq!(bench.hub.requests(), Vec::<String>::new());
    // A cached file that is not what the manifest names does not count.
    let file = &mut bench.manifest.repositories[0].files[0];
    (file.sha256, file.bytes) = (Some(sha(b"other")), Some(5));
    assert_eq!(bench.refused(), HubError::Offline);
}
