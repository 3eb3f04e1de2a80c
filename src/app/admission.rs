//! What strangers may have opened on the daemon's behalf. Pure, but for looking whether a secret's file is there.
//!
//! A stream added over the bus may only have an address that begins with one that the site allows, and only a password
//! from a directory that the site sets aside. Launch fragments, credentials in an address, and ways out of a directory
//! are refused before anything else looks at them.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::bus::OrderError;
use crate::bus::wire::StreamRequest;
use crate::video::StreamConfig;

/// What an address may begin with at all: no fragment of a pipeline, and no bare path.
const SCHEMES: [&str; 7] = ["rtsp", "rtsps", "http", "https", "file", "v4l2", "test"];

/// What the site allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) allow: Vec<String>,
    pub(super) secrets: Option<PathBuf>,
    pub(super) streams: usize,
}

impl Rules {
    pub(super) fn of(config: &crate::bus::Config) -> Self {
        Self {
            allow: config.manage_allow.clone(),
            secrets: config.manage_passwords.clone(),
            streams: config.manage_streams,
        }
    }

    /// Whether anybody may change streams over the bus.
    pub(super) fn check_open(&self) -> Result<(), OrderError> {
        if self.allow.is_empty() {
            return Err(forbidden("streams cannot be changed over the bus here: bus.manage_allow is empty"));
        }
        Ok(())
    }

    /// The settings that were asked for, if they are allowed and make sense.
    pub(super) fn admit(&self, request: &StreamRequest) -> Result<StreamConfig, OrderError> {
        self.check_address(&request.url)?;
        let mut section = section(request)?;
        if let Some(name) = &request.password_file {
            section.insert("password_file".to_owned(), Value::String(self.secret(name)?));
        }
        StreamConfig::deserialize(Value::Object(section)).map_err(|error| OrderError::Settings(error.to_string()))
    }

    fn check_address(&self, url: &str) -> Result<(), OrderError> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        if !SCHEMES.contains(&scheme) {
            return Err(forbidden("url: is no address of rtsp, rtsps, http, https, file, v4l2 or test"));
        }
        if url.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(OrderError::Settings("url: holds white space, a control character or a backslash".to_owned()));
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            let message = "url: holds credentials: name the user, and a file with the password in password_file";
            return Err(OrderError::Settings(message.to_owned()));
        }
        // An escape could spell a way out that the comparison below does not see.
        let path_of_this_machine = matches!(scheme, "file" | "v4l2");
        if path_of_this_machine && (rest.contains('%') || rest.split('/').any(|part| part == "..")) {
            return Err(forbidden("url: holds a % or a way out of its directory"));
        }
        if !self.allow.iter().any(|beginning| url.starts_with(beginning)) {
            return Err(forbidden("url: begins with nothing that bus.manage_allow holds"));
        }
        Ok(())
    }

    /// The path of a file in the directory that was set aside, by its bare name.
    fn secret(&self, name: &str) -> Result<String, OrderError> {
        let Some(directory) = &self.secrets else {
            return Err(forbidden("password_file: this site sets no directory aside for it (bus.manage_passwords)"));
        };
        let bare = !name.starts_with('.') && !name.contains(['/', '\\', '\0']) && !name.is_empty();
        let path = directory.join(name);
        if !bare || !is_inside(&path, directory) {
            return Err(forbidden("password_file: is not the bare name of a file in bus.manage_passwords"));
        }
        path.to_str().map(str::to_owned).ok_or_else(|| forbidden("password_file: its directory is not UTF-8"))
    }
}

/// What was asked for as a section of the configuration, under the same names: only what a section may hold and strangers
/// may set is a member of the request.
fn section(request: &StreamRequest) -> Result<Map<String, Value>, OrderError> {
    let request = serde_json::to_value(request).map_err(|error| OrderError::Settings(error.to_string()))?;
    let Value::Object(mut section) = request else { unreachable!("a struct is an object") };
    section.retain(|key, _| !matches!(key.as_str(), "v" | "stream"));
    Ok(section)
}

/// Whether a file is there, and not a link to somewhere else.
fn is_inside(path: &Path, directory: &Path) -> bool {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    match (canonical(path), canonical(directory)) {
        (Some(path), Some(directory)) => path.parent() == Some(&directory),
        _ => false,
    }
}

fn forbidden(message: &str) -> OrderError {
    OrderError::Forbidden(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::wire::SightRequest;
    use crate::domain::{StreamId, StreamKind};

    fn request(url: &str) -> StreamRequest {
        StreamRequest::new(StreamId::new("cam").expect("valid"), url)
    }

    fn rules(allow: &[&str], secrets: Option<&Path>) -> Rules {
        let allow = allow.iter().map(|&text| text.to_owned()).collect();
        Rules { allow, secrets: secrets.map(Path::to_path_buf), streams: 9 }
    }

    #[test]
    fn addresses_are_allowed_by_their_beginning() {
        let rules = rules(&["rtsp://10.0.0.11/", "https://", "file:///srv/video/", "test://"], None);
        for good in ["rtsp://10.0.0.11/live", "https://h/a.m3u8", "file:///srv/video/a/b.mp4", "test://ball"] {
            rules.admit(&request(good)).unwrap_or_else(|error| panic!("{good}: {error:?}"));
        }
        let bad = [
            "rtsp://10.0.0.110/live",
            "rtsp://10.0.0.12/live",
            "rtsps://10.0.0.11/live",
            "RTSP://10.0.0.11/live",
            "http://h/a.m3u8",
            "/srv/video/a.mp4",
            "file:///srv/video/../../etc/shadow",
            "file:///srv/video/%2e%2e/%2e%2e/etc/shadow",
            "file:///etc/shadow",
            "file://localhost/etc/shadow",
            "v4l2:///dev/video0",
            "videotestsrc ! fakesink",
            "launch://videotestsrc ! fakesink",
            "ftp://h/x",
            "",
        ];
        for url in bad {
            let error = rules.admit(&request(url)).expect_err(url);
            assert!(matches!(error, OrderError::Forbidden(_)), "{url}: {error:?}");
        }
        for url in ["https://cam:hunter2@h/x", "rtsp://10.0.0.11/a b", "https://h\\x", "test://dancing"] {
            let error = rules.admit(&request(url)).expect_err(url);
            assert!(matches!(&error, OrderError::Settings(_)), "{url}: {error:?}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn nothing_is_allowed_by_default() {
        let rules = Rules::of(&crate::bus::Config::default());
        assert!(rules.check_open().is_err());
        assert!(rules.admit(&request("test://ball")).is_err());
    }

    #[test]
    fn settings_are_those_of_a_section() {
        let rules = rules(&["rtsp://"], None);
        let request = StreamRequest {
            sample_every: Some("250ms".into()),
            protocol: Some("udp".into()),
            stall_timeout: Some("3s".into()),
            zone: Some("+02:00".into()),
            record: Some(false),
            decode: Some("keyframes".into()),
            sight: Some(SightRequest {
                extend_unchanged: Some(false),
                caption_at_least: Some("1m".into()),
                frozen_after: Some("0s".into()),
                extra_every: Some("9s".into()),
            }),
            ..request("rtsp://h/live")
        };
        let due = "url = 'rtsp://h/live'\nsample_every = '250ms'\nprotocol = 'udp'\nstall_timeout = '3s'\n\
                   zone = '+02:00'\nrecord = false\ndecode = 'keyframes'\n[sight]\nextend_unchanged = false\n\
                   caption_at_least = '1m'\nfrozen_after = '0s'\nextra_every = '9s'";
        let settings = rules.admit(&request).expect("is allowed");
        assert_eq!(settings, toml::from_str(due).expect("is a section"));
        assert_eq!(settings.kind(), StreamKind::Live);
        for (wrong, word) in [
            (StreamRequest { sample_every: Some("often".into()), ..request.clone() }, "duration"),
            (StreamRequest { protocol: Some("sctp".into()), ..request.clone() }, "sctp"),
            (StreamRequest { zone: Some("Nowhere/Atlantis".into()), ..request.clone() }, "time zone"),
            (StreamRequest { decode: Some("some".into()), ..request.clone() }, "some"),
            (
                StreamRequest {
                    sight: Some(SightRequest { extra_every: Some("-1s".into()), ..SightRequest::default() }),
                    ..request.clone()
                },
                "duration",
            ),
            (StreamRequest { user: Some("viewer".into()), ..request.clone() }, "password"),
            (StreamRequest { starts_at: Some("2026-09-21T14:13:20Z".into()), ..request.clone() }, "starts_at"),
        ] {
            match rules.admit(&wrong).expect_err("makes no sense") {
                OrderError::Settings(message) => assert!(message.contains(word), "{message}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn passwords_come_from_one_directory_by_bare_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let secrets = dir.path().join("secrets");
        std::fs::create_dir(&secrets).expect("is made");
        std::fs::write(secrets.join("cam.password"), "hunter2").expect("is written");
        std::fs::write(dir.path().join("other"), "hunter2").expect("is written");
        std::os::unix::fs::symlink(dir.path().join("other"), secrets.join("link")).expect("is made");
        let named = |name: &str| {
            let request = request("rtsp://h/live");
            StreamRequest { user: Some("viewer".into()), password_file: Some(name.to_owned()), ..request }
        };
        let open = rules(&["rtsp://"], Some(&secrets));
        open.admit(&named("cam.password")).expect("is allowed");
        let outside = dir.path().join("other").display().to_string();
        for bad in
            ["../other", "link", "missing", "", ".", "..", ".cam.password", "a/../cam.password", outside.as_str()]
        {
            let error = open.admit(&named(bad)).expect_err(bad);
            assert!(matches!(error, OrderError::Forbidden(_)), "{bad}: {error:?}");
        }
        let closed = rules(&["rtsp://"], None);
        assert!(matches!(closed.admit(&named("cam.password")), Err(OrderError::Forbidden(_))));
    }
}
