//! The shipped configuration files are valid, and the commented default holds every key there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Copies a shipped file with its secret files pointed at ones that exist, as on a real site.
fn site(name: &str, dir: &Path) -> PathBuf {
    let secret = dir.join("secret");
    fs::write(&secret, "hunter2\n").expect("written");
    let text = fs::read_to_string(root().join("config").join(name)).expect("shipped");
    let lines = text.lines().map(|line| match line.split_once("password_file = ") {
        Some((before, _)) => format!("{before}password_file = {secret:?}"),
        None => line.to_owned(),
    });
    let path = dir.join(name);
    fs::write(&path, lines.collect::<Vec<_>>().join("\n")).expect("written");
    path
}

fn check_config(path: &Path) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_groundedvqa"))
        .args(["check-config", "--config"])
        .arg(path)
        .env_remove("CREDENTIALS_DIRECTORY")
        .output()
        .expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn shipped_files_are_valid() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in ["groundedvqa.toml", "one-file.toml", "two-cameras.toml"] {
        let (code, out, err) = check_config(&site(name, dir.path()));
        assert_eq!(code, Some(0), "{name}: {err}");
        assert!(out.contains("valid") && !out.contains("hunter2"), "{name}: {out}");
    }
}

#[test]
fn a_bad_file_exits_64_and_names_file_key_and_reason() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("site.toml");
    fs::write(&path, "[streams.door]\nurl = 'test://ball'\n[bus]\nurll = 'x'\n").expect("written");
    let (code, _, err) = check_config(&path);
    assert_eq!(code, Some(64), "{err}");
    assert!(err.contains("site.toml") && err.contains("urll"), "{err}");
    let (code, _, err) = check_config(&dir.path().join("missing.toml"));
    assert_eq!(code, Some(64), "{err}");
    assert!(err.contains("missing.toml"), "{err}");
}

#[test]
fn files_that_cannot_be_read_are_refused_by_key() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("site.toml");
    let check = |more: &str| {
        fs::write(&path, format!("[streams.door]\nurl = 'test://ball'\n{more}")).expect("written");
        check_config(&path)
    };
    let judge = |more: &str| format!("[models.judge]\nkind = 'remote'\nurl = 'https://h/v1'\nmodel = 'm'\n{more}\n");
    #[cfg(not(feature = "metal"))]
    let vlm = |more: &str| format!("[models]\n{more}\n[models.captioner]\nkind = 'vlm'\nfolder = 'v'\n");
    let (empty, own) = (dir.path().join("empty"), root().join("tests/fixtures/bus"));
    fs::write(&empty, "").expect("written");
    for (more, due) in [
        (judge("key_file = '/nowhere/key'"), "models.judge.key_file: secret file /nowhere/key: cannot be read"),
        (judge(&format!("key_file = {empty:?}")), "is empty"),
        (judge("tls_ca = '/nowhere/ca.pem'"), "models.judge.tls_ca: /nowhere/ca.pem cannot be read"),
        (judge(&format!("tls_ca = {empty:?}")), "empty holds no certificate"),
        ("[bus]\ntoken_file = '/nowhere/token'\n".to_owned(), "bus.token_file: /nowhere/token cannot be read"),
        ("[bus]\ntls_ca = '/nowhere/ca.pem'\n".to_owned(), "bus.tls_ca: /nowhere/ca.pem cannot be read"),
        (format!("[bus]\ntls_cert = {empty:?}\ntls_key = {empty:?}\n"), "bus.tls_cert: "),
        #[cfg(not(feature = "metal"))]
        (vlm("device = 'metal'"), "models.device: device metal needs a program built with `--features metal`"),
    ] {
        let (code, out, err) = check(&more);
        assert_eq!(code, Some(64), "{more}: {out}");
        assert!(err.contains(due) && out.is_empty(), "{more}: {err}");
    }
    // What only the service is given, and what may come later, is told and not refused.
    let later = "user = 'u'\npassword_file = '/nowhere/password'\n";
    for (more, due) in [
        (judge("key_file = 'gpu-key'"), "it would have no key: "),
        (later.to_owned(), "could not log in"),
        ("[models]\ndir = '/nowhere'\n".to_owned(), "run `groundedvqa models fetch --dir /nowhere`"),
        (
            "[models.captioner]\nkind = 'vlm'\nfolder = 'v'\n[models]\ndir = '/nowhere'\n".to_owned(),
            "it would not start: models.captioner: /nowhere/v/config.json is missing",
        ),
        (
            "[models.judge]\nkind = 'checkpoint'\ndir = '/nowhere/j'\n".to_owned(),
            "it would not start: models.judge: /nowhere/j/config.json is missing",
        ),
    ] {
        fs::write(&path, format!("[streams.door]\nurl = 'rtsp://h/1'\n{more}")).expect("written");
        let (code, out, err) = check_config(&path);
        assert_eq!(code, Some(0), "{more}: {err}");
        assert!(out.contains(due), "{more}: {out}");
    }
    let good = judge(&format!("tls_ca = {:?}", own.join("ca.pem")));
    assert_eq!(check(&good).0, Some(0), "{:?}", check(&good));
}

/// Fields of the structs that are read from configuration, found in their source.
fn keys(file: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("src").join(file)).expect("source");
    let start = text.find(&format!("struct {name} {{")).unwrap_or_else(|| panic!("{file} has no struct {name}"));
    let body = &text[start..start + text[start..].find("\n}").expect("ends")];
    let fields = body.lines().filter_map(|line| {
        let (field, _) = line.trim().split_once(": ")?;
        let field = field.trim_start_matches("pub ").trim_start_matches("(super) ");
        field.chars().all(|c| c.is_ascii_lowercase() || c == '_').then(|| field.to_owned())
    });
    fields.collect()
}

#[test]
fn the_commented_default_holds_every_key() {
    let default = fs::read_to_string(root().join("config/groundedvqa.toml")).expect("shipped");
    let shown = |key: &str| {
        default.lines().any(|line| line.trim_start_matches("# ").starts_with(&format!("{key} = ")))
            || default.contains(&format!("[{key}"))
            || default.contains(&format!(".{key}]"))
    };
    let mut checked = 0;
    for (file, name) in [
        ("config/mod.rs", "Config"),
        ("config/mod.rs", "Daemon"),
        ("video/stream.rs", "Raw"),
        ("sight/mod.rs", "Config"),
        ("video/archive/config.rs", "Config"),
        ("narrate/backoff.rs", "Reconnect"),
        ("models/mod.rs", "Config"),
        ("models/vlm/mod.rs", "Config"),
        ("remote/config.rs", "Endpoint"),
        ("models/judge.rs", "Checkpoint"),
        ("models/drafter/mod.rs", "File"),
        ("engine/mod.rs", "Config"),
        ("index/mod.rs", "Config"),
        ("answer/config.rs", "Config"),
        ("bus/config.rs", "Config"),
        ("telemetry/mod.rs", "Config"),
    ] {
        for key in keys(file, name) {
            assert!(shown(&key), "config/groundedvqa.toml does not show {key} of {file}");
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} keys were found in the source");
}
