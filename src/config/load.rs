//! From a file and the environment to a checked [`Config`].

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use toml::Table;

use super::environment::{Origins, overlay};
use super::{Config, ConfigError};
use crate::bus::BusError;
use crate::telemetry;

/// More frames a second than this are video, not samples.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(10);

/// Fewer frames than one a day are none.
const LONGEST_SAMPLE: Duration = Duration::from_hours(24);
/// Bytes of a configuration file.
const LONGEST: u64 = 1 << 20;

/// Reads `path`, lays the environment over it, and checks the result.
pub fn load(path: &Path) -> Result<Config, ConfigError> {
    let text = read(path).map_err(|reason| ConfigError::Read { path: path.to_path_buf(), reason })?;
    parse(&text, path, std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))))
}

/// A device or a film given by mistake is not read to its end.
fn read(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LONGEST { Err(format!("it is longer than {LONGEST} bytes")) } else { Ok(text) }
}

/// The same from text that was read from `path`, with `variables` as the environment.
pub fn parse(
    text: &str,
    path: &Path,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    let mut table: Table = text.parse().map_err(|error| syntax(path, text, &error))?;
    let origins = overlay(&mut table, variables)?;
    let config: Config = serde_path_to_error::deserialize(table).map_err(|error| {
        let key = error.path().to_string();
        refusal(path, &origins, &key, first_line(&error.into_inner().to_string()))
    })?;
    check(&config).map_err(|(key, reason)| refusal(path, &origins, &key, reason))?;
    Ok(config)
}

/// The library's own display repeats the line, which may hold a password.
fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let reason = format!("line {line}: {}", first_line(error.message()));
    ConfigError::Syntax { path: path.to_path_buf(), reason }
}

fn refusal(path: &Path, origins: &Origins, key: &str, reason: String) -> ConfigError {
    let origin = origins.iter().find(|(set, _)| *set == key || set.starts_with(&format!("{key}.")));
    let origin =
        origin.map_or_else(|| path.display().to_string(), |(_, variable)| format!("environment variable {variable}"));
    ConfigError::Key { origin, key: key.to_owned(), reason }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// What types cannot say. Returns the key and the reason.
fn check(config: &Config) -> Result<(), (String, String)> {
    let refuse = |key: &str, reason: &str| Err((key.to_owned(), reason.to_owned()));
    if config.streams.is_empty() && config.bus.manage_allow.is_empty() {
        return refuse("streams", "is empty: add at least one [streams.NAME] with a url, or allow adding over the bus");
    }
    if config.daemon.sample_every.0 < SHORTEST_SAMPLE {
        return refuse(
            "daemon.sample_every",
            "is shorter than 10ms: write the time between two frames, such as \"5s\"",
        );
    }
    if config.daemon.sample_every.0 > LONGEST_SAMPLE {
        return refuse(
            "daemon.sample_every",
            "is longer than a day: write the time between two frames, such as \"5s\"",
        );
    }
    if config.daemon.grace.0.is_zero() {
        return refuse("daemon.grace", "is zero: write how long the end may take, such as \"30s\"");
    }
    if config.index.path.as_os_str().is_empty() {
        return refuse("index.path", "is empty: write where the index is kept, such as \"index.redb\"");
    }
    telemetry::check_level(&config.telemetry.log_level)
        .map_err(|error| ("telemetry.log_level".to_owned(), error.to_string()))?;
    within(config)?;
    config.models.check().map_err(|(key, problem)| (format!("models.{key}"), problem))?;
    config.archive.check().map_err(|(key, problem)| (format!("archive.{key}"), problem))?;
    config.reconnect.check().map_err(|error| (format!("reconnect.{}", error.key), error.problem))?;
    config.answer.check().map_err(|error| (format!("answer.{}", error.key), error.problem.to_owned()))?;
    let missing = config.answer.design.needs().filter(|need| !config.models.has(*need));
    if let Some(need) = missing {
        let design = config.answer.design.as_str();
        return refuse("answer.design", &format!("is {design}, which needs another model: {}", need.remedy()));
    }
    config.bus.check().map_err(|error| match error {
        BusError::Key { key, reason } => (format!("bus.{key}"), reason),
        other => ("bus".to_owned(), other.to_string()),
    })
}

/// Numbers that would starve the machine or leave a queue without a place.
fn within(config: &Config) -> Result<(), (String, String)> {
    let (models, engine, bus) = (&config.models, &config.engine, &config.bus);
    let bounds = [
        ("models.threads", models.threads, 0..=1024),
        ("engine.interactive_jobs", engine.interactive_jobs, 1..=65_536),
        ("engine.background_jobs", engine.background_jobs, 1..=65_536),
        ("engine.max_pictures", engine.max_pictures, 1..=256),
        ("engine.max_texts", engine.max_texts, 1..=4096),
        ("bus.max_questions", bus.max_questions, 1..=10_000),
        ("bus.max_lookups", bus.max_lookups, 1..=10_000),
        ("bus.max_request_bytes", bus.max_request_bytes, 1..=64 << 20),
        ("bus.outbox_events", bus.outbox_events, 1..=1_000_000),
    ];
    match bounds.into_iter().find(|(_, value, bounds)| !bounds.contains(value)) {
        Some((key, _, bounds)) => {
            Err((key.to_owned(), format!("must be between {} and {}", bounds.start(), bounds.end())))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[streams.door]\nurl = 'test://ball?duration=10s'\n";

    fn refused(text: &str, variables: &[(&str, &str)]) -> String {
        let owned = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        parse(text, Path::new("site.toml"), owned).expect_err("refused").to_string()
    }

    #[test]
    fn a_device_is_not_read_to_its_end() {
        let error = load(Path::new("/dev/zero")).expect_err("endless").to_string();
        assert!(error.contains("longer than"), "{error}");
        let error = load(Path::new("/nowhere/site.toml")).expect_err("missing").to_string();
        assert!(error.contains("/nowhere/site.toml: cannot be read"), "{error}");
    }

    #[test]
    fn the_smallest_configuration_is_one_stream() {
        let config = parse(GOOD, Path::new("site.toml"), std::iter::empty()).expect("valid");
        assert_eq!(config.streams.len(), 1);
    }

    #[test]
    fn every_refusal_names_file_key_and_reason() {
        let table = [
            ("", "site.toml: streams: is empty"),
            ("[streams.door]\nurl = 5\n", "site.toml: streams.door"),
            ("[streams.'a.b']\nurl = 'x.mp4'\n", "a.b"),
            ("[streams.door]\nurl = 'x.mp4'\nspeed = 1\n", "speed"),
            ("[streams.door]\nurl = 'x.mp4'\n[answer]\nkk = 1\n", "site.toml: answer.kk"),
            ("[streams.door]\nurl = 'x.mp4'\n[answer]\nk = 0\n", "site.toml: answer.k: must be"),
            ("[streams.door]\nurl = 'x.mp4'\n[daemon]\nsample_every = '0s'\n", "daemon.sample_every: is shorter"),
            (
                "[streams.door]\nurl = 'x.mp4'\n[daemon]\ngrace = '5'\n",
                "site.toml: daemon.grace: \"5\" is not a duration",
            ),
            ("[streams.door]\nurl = 'x.mp4'\n[reconnect]\nlongest = '1ms'\n", "site.toml: reconnect.longest: must be"),
            ("[bus]\nprefix = 'a b'\n[streams.door]\nurl = 'x.mp4'\n", "bus.prefix"),
            (
                "[models]\nthreads = 100000\n[streams.door]\nurl = 'x.mp4'\n",
                "models.threads: must be between 0 and 1024",
            ),
            (
                "[models]\ncaptioner = 'remote'\n[streams.door]\nurl = 'x.mp4'\n",
                "models.captioner.url: is missing: write an address",
            ),
            (
                "[models.judge]\nkind = 'remote'\nurl = 'https://h/v1'\nmodell = 'm'\n[streams.door]\nurl = 'x.mp4'\n",
                "unknown field `modell`",
            ),
            ("[models.drafter]\nkind = 'smollm3'\n[streams.door]\nurl = 'x.mp4'\n", "unknown variant `smollm3`"),
            (
                "[models.judge]\nkind = 'checkpoint'\ndir = 'j'\nthreshold = 0.4\n[streams.door]\nurl = 'x.mp4'\n",
                "a threshold is at least 0.5",
            ),
            (
                "[models.judge]\nkind = 'checkpoint'\ndir = 'j'\nlimit = 1\n[streams.door]\nurl = 'x.mp4'\n",
                "models.judge",
            ),
            (
                "[engine]\nmax_texts = 0\n[streams.door]\nurl = 'x.mp4'\n",
                "engine.max_texts: must be between 1 and 4096",
            ),
            (
                "[answer]\ndesign = 'caption-llm-judge'\n[streams.door]\nurl = 'x.mp4'\n",
                "answer.design: is caption-llm-judge, which needs another model: set [models.chat_judge]",
            ),
            ("[answer]\ndesign = 'vlm-direct'\n[streams.door]\nurl = 'x.mp4'\n", "set [models.captioner]"),
            ("[models]\ndevice = 'cuda:0'\n[streams.door]\nurl = 'x.mp4'\n", "models.device: names a device on which"),
            ("[archive]\nsegment = '0s'\n[streams.door]\nurl = 'x.mp4'\n", "archive.segment: must be at least"),
            ("[reconnect]\nhealthy = '0s'\n[streams.door]\nurl = 'x.mp4'\n", "reconnect.healthy: must be"),
            ("[bus]\nmax_lookups = 0\n[streams.door]\nurl = 'x.mp4'\n", "bus.max_lookups: must be between 1 and 10000"),
            ("[daemon]\nsample_every = '9000h'\n[streams.door]\nurl = 'x.mp4'\n", "daemon.sample_every: is longer"),
            ("[daemon]\ngrace = '0s'\n[streams.door]\nurl = 'x.mp4'\n", "daemon.grace: is zero"),
            ("[index]\npath = ''\n[streams.door]\nurl = 'x.mp4'\n", "index.path: is empty"),
            ("[telemetry]\nlog_level = 'loud'\n[streams.door]\nurl = 'x.mp4'\n", "log_level \"loud\" is not a level"),
            ("[bus]\nurl = 'nats://a:4222,nats://b:bad'\n[streams.door]\nurl = 'x.mp4'\n", "bus.url: has a port"),
            ("nonsense", "site.toml: is not TOML"),
        ];
        for (text, expected) in table {
            let message = refused(text, &[]);
            assert!(message.contains(expected), "{text:?} gave {message:?}, not {expected:?}");
        }
    }

    #[test]
    fn a_captioner_that_answers_nothing_cannot_verify_alone() {
        let of = |folder: &str| {
            let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/vlm");
            let captioner = format!("[models.captioner]\nkind = 'vlm'\nfolder = {folder:?}\n");
            format!("[answer]\ndesign = 'vlm-direct'\n[models]\ndir = {dir:?}\n{captioner}{GOOD}")
        };
        let message = refused(&of("blip"), &[]);
        let due = "site.toml: answer.design: is vlm-direct, which needs another model: set [models.captioner]";
        assert!(message.contains(due) && message.contains("BLIP does not"), "{message}");
        // What is not there yet might answer; loading it says what is missing.
        for folder in ["smolvlm", "qwen3-tied", "nowhere"] {
            parse(&of(folder), Path::new("site.toml"), std::iter::empty()).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn the_commented_default_shows_the_defaults_in_force() {
        let text = include_str!("../../config/groundedvqa.toml");
        let shown = parse(text, Path::new("groundedvqa.toml"), std::iter::empty()).expect("valid");
        let default = Config::default();
        assert_eq!(shown.answer, default.answer);
        assert_eq!(shown.reconnect, default.reconnect);
        assert_eq!(shown.engine, default.engine);
        assert_eq!(shown.telemetry, default.telemetry);
        let path = default.index.path.clone();
        assert_eq!(crate::index::Config { path, ..shown.index }, default.index);
        let dir = default.archive.dir.clone();
        assert_eq!(crate::video::ArchiveConfig { dir, ..shown.archive }, default.archive);
        assert_eq!(shown.daemon.grace, default.daemon.grace);
        let bus = |config: &Config| format!("{:?}", config.bus);
        assert_eq!(bus(&shown), bus(&default));
    }

    #[test]
    fn a_wrong_variable_is_named_instead_of_the_file() {
        let message = refused(GOOD, &[("GVQA__ANSWER__K", "many")]);
        assert!(message.contains("environment variable GVQA__ANSWER__K: answer.k"), "{message}");
    }

    #[test]
    fn a_refusal_shows_no_credentials() {
        let message = refused("[bus]\nurl = nats://gvqa:hunter2@db:4222\n", &[]);
        assert!(message.contains("line 2") && !message.contains("hunter2"), "{message}");
        let message = refused("[streams.door]\nurl = 'rtsp://u:hunter2@cam/1'\nuser = 'u'\n", &[]);
        assert!(!message.contains("hunter2"), "{message}");
    }
}
