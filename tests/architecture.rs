//! Reads the source and fails on an arrow that the design forbids.
//!
//! Three rules: foreign worlds never meet, seams hide models and sources, policy and domain depend on nothing below.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that live in one module and nowhere else.
const FOREIGN: [(&str, &str); 6] = [
    ("gstreamer", "video"),
    ("gstreamer_app", "video"),
    ("gstreamer_video", "video"),
    ("redb", "index"),
    ("async_nats", "bus"),
    ("candle_", "models"),
];

/// Which modules of this crate each module may use. `app` wires, `cli` starts: both may use everything else.
const ALLOWED: [(&str, &[&str]); 17] = [
    ("domain", &[]),
    ("secret", &[]),
    ("stop", &[]),
    ("panics", &[]),
    ("seams", &["domain"]),
    ("telemetry", &["config", "stop", "domain"]),
    ("sight", &["domain", "config"]),
    ("video", &["domain", "seams", "config", "secret", "sight", "stop"]),
    // Which model serves a role is chosen in one place, whether it computes here or elsewhere.
    ("models", &["domain", "seams", "config", "secret", "remote"]),
    ("remote", &["domain", "seams", "config", "secret", "stop"]),
    ("engine", &["domain", "seams", "config", "panics", "telemetry"]),
    ("index", &["domain", "config", "panics", "telemetry"]),
    ("narrate", &["domain", "seams", "config", "sight", "stop", "panics", "engine", "index", "telemetry"]),
    ("answer", &["domain", "seams", "config", "sight", "engine", "index", "telemetry"]),
    ("bus", &["domain", "seams", "config", "secret", "stop", "answer", "narrate", "engine", "index", "telemetry"]),
    ("eval", &["domain", "seams", "config", "answer"]),
    ("config", &["domain", "secret", "video", "models", "engine", "index", "narrate", "answer", "bus", "telemetry"]),
];

struct Source {
    path: PathBuf,
    module: String,
    /// Lines without comments.
    lines: Vec<String>,
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("src can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &mut found);
    found.sort();
    assert!(found.len() > 40, "only {} source files found", found.len());
    found.iter().map(|path| source(&root, path)).collect()
}

fn source(root: &Path, path: &Path) -> Source {
    let relative = path.strip_prefix(root).expect("below src").to_path_buf();
    let first = relative.iter().next().expect("a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("readable");
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned()).collect();
    Source { module: first.trim_end_matches(".rs").to_owned(), path: relative, lines }
}

/// Modules named by `crate::x` or `crate::{x, y::z}`.
fn used(lines: &[String]) -> Vec<String> {
    let text = lines.join("\n");
    let mut names = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(heads(group)),
            None => names.push(ident(rest)),
        }
    }
    names
}

fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// First identifiers of a brace group, at its own depth.
fn heads(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut fresh) = (1, Vec::new(), true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => fresh = true,
            c if fresh && depth == 1 && c.is_alphabetic() => {
                names.push(ident(&group[at..]));
                fresh = false;
            }
            _ => {}
        }
    }
    names
}

/// Whether a line of code names the crate: `krate::…`, or `use krate`. A prefix that ends in `_` stands for a family.
fn names_crate(line: &str, krate: &str) -> bool {
    line.match_indices(krate).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let rest = line[at + krate.len()..].trim_start_matches(|c: char| krate.ends_with('_') && c.is_alphanumeric());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"' || c == '.')
            && (rest.starts_with("::") || rest.starts_with(" as ") || rest.starts_with(';'))
    })
}

#[test]
fn modules_use_only_what_the_design_allows() {
    let allowed: BTreeMap<_, _> = ALLOWED.into_iter().collect();
    let mut wrong = Vec::new();
    for Source { path, module, lines } in sources() {
        if ["lib", "main", "app", "cli"].contains(&module.as_str()) {
            continue;
        }
        let may = allowed.get(module.as_str()).unwrap_or_else(|| panic!("{module} is not a module of the design"));
        let strangers = used(&lines).into_iter().filter(|name| *name != module && !may.contains(&name.as_str()));
        wrong.extend(strangers.map(|name| format!("{}: {module} uses {name}", path.display())));
    }
    assert!(wrong.is_empty(), "forbidden arrows:\n{}", wrong.join("\n"));
}

#[test]
fn foreign_worlds_never_meet() {
    let mut wrong = Vec::new();
    for Source { path, module, lines } in sources() {
        for (krate, home) in FOREIGN {
            if module != home && lines.iter().any(|line| names_crate(line, krate)) {
                wrong.push(format!("{}: {krate} belongs in {home}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "foreign crates outside their module:\n{}", wrong.join("\n"));
}

#[test]
fn tokio_and_candle_share_no_file() {
    for Source { path, lines, .. } in sources() {
        let has = |krate: &str| lines.iter().any(|line| names_crate(line, krate));
        assert!(!(has("tokio") && has("candle_")), "{} holds both tokio and candle", path.display());
    }
}

#[test]
fn files_stay_small_enough_to_read() {
    for Source { path, lines, .. } in sources() {
        let code = lines.iter().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
        assert!(code <= 400, "{} has {code} lines before its tests: split it", path.display());
    }
}

#[test]
fn the_reader_of_arrows_sees_them() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(used(&lines("use crate::bus::Subjects;")), ["bus"]);
    assert_eq!(used(&lines("use crate::{answer, bus::{A, B}, index};")), ["answer", "bus", "index"]);
    assert_eq!(used(&lines("$crate::x othercrate::y")), Vec::<String>::new());
    assert!(names_crate("use candle_core::Tensor;", "candle_"));
    assert!(names_crate("    let x = redb::Database::open();", "redb"));
    assert!(!names_crate("    gvqa_redb::x", "redb") && !names_crate("let redb_size = 1;", "redb"));
}
