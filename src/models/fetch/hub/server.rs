//! A hub for tests: speaks the paths of the real one over real connections, and fails as told.
//!
//! Two listeners, as two hosts: the hub itself, and the store that its large files are sent from. Only the standard
//! library, so that tests of the program can use it too.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a path of the hub holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    /// Announced digest: large files live in the store and have one.
    pub(crate) linked: Option<String>,
    /// Where the store breaks off, once.
    pub(crate) cut: Option<usize>,
    /// Answered instead, with this `X-Error-Code`.
    pub(crate) refuse: Option<(u16, &'static str)>,
    /// Whether a range is ignored and the whole is sent.
    pub(crate) whole: bool,
    /// What it is said to be, such as `text/html`.
    pub(crate) kind: Option<&'static str>,
    /// Commit that is named instead of the right one; none if it is empty.
    pub(crate) pretend: Option<String>,
    /// Sends there first.
    pub(crate) moved: Option<String>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, Content>,
    requests: Vec<String>,
    commit: String,
    /// Without it everything is refused with 401.
    token: Option<String>,
}

/// Both hosts; they end with the process.
#[derive(Clone)]
pub(crate) struct TestHub {
    state: Arc<Mutex<State>>,
    pub(crate) endpoint: String,
}

impl TestHub {
    /// Serves from ports that the system chose.
    pub(crate) fn start() -> Self {
        let listen = || TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (hub, store) = (listen(), listen());
        let address = |listener: &TcpListener| format!("http://{}", listener.local_addr().expect("bound"));
        let (endpoint, elsewhere) = (address(&hub), address(&store));
        let started = Self { state: Arc::default(), endpoint };
        started.lock().commit = "c".repeat(40);
        for (listener, is_store) in [(hub, false), (store, true)] {
            let (server, elsewhere) = (started.clone(), elsewhere.clone());
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    // A client that hangs up in the middle is what some tests are about.
                    let _ = server.answer(&stream, is_store, &elsewhere);
                }
            });
        }
        started
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts `content` at `owner/name/resolve/revision/path`.
    pub(crate) fn put(&self, path: &str, content: Content) {
        self.lock().files.insert(format!("/{path}"), content);
    }

    /// The commit that every branch leads to; a revision that is a commit leads to itself.
    pub(crate) fn commit(&self, commit: &str) {
        commit.clone_into(&mut self.lock().commit);
    }

    /// Lets in only who knows `token`.
    pub(crate) fn guard(&self, token: &str) {
        self.lock().token = Some(token.to_owned());
    }

    /// Request lines since the last call, each with its range and with `+auth` if a token came along; those to the store
    /// begin with `store`.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().requests)
    }

    fn answer(&self, stream: &TcpStream, is_store: bool, elsewhere: &str) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream).lines();
        let path = lines.next().transpose()?.unwrap_or_default();
        let path = path.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut range, mut token) = (None, None);
        for line in lines {
            let line = line?;
            let Some((name, value)) = line.split_once(": ") else { break };
            match name.to_lowercase().as_str() {
                "range" => range = value.strip_prefix("bytes=").and_then(|r| r.strip_suffix('-')).map(str::to_owned),
                "authorization" => token = value.strip_prefix("Bearer ").map(str::to_owned),
                _ => {}
            }
        }
        let (content, commit, known) = {
            let mut state = self.lock();
            let from = range.as_ref().map_or(String::new(), |from| format!(" {from}-"));
            let who = if is_store { "store " } else { "" };
            let auth = if token.is_some() { " +auth" } else { "" };
            state.requests.push(format!("{who}{path}{from}{auth}"));
            (state.files.get(&path).cloned(), state.commit.clone(), state.token.is_none() || state.token == token)
        };
        let mut out = stream;
        let head = |status: &str, more: &str| format!("HTTP/1.1 {status} x\r\nConnection: close\r\n{more}");
        let empty = |status: &str, more: &str| head(status, &format!("{more}Content-Length: 0\r\n\r\n"));
        if !is_store && !known {
            return out.write_all(empty("401", "").as_bytes());
        }
        let Some(content) = content else {
            return out.write_all(empty("404", "X-Error-Code: EntryNotFound\r\n").as_bytes());
        };
        if let Some((status, code)) = content.refuse {
            return out.write_all(empty(&status.to_string(), &format!("X-Error-Code: {code}\r\n")).as_bytes());
        }
        let named = path.split('/').nth(4).filter(|revision| revision.len() == 40).unwrap_or(&commit);
        let commit = match content.pretend.as_deref().unwrap_or(named) {
            // A store knows of no commits.
            named if is_store || named.is_empty() => String::new(),
            named => format!("X-Repo-Commit: {named}\r\n"),
        };
        match (&content.moved, &content.linked) {
            (Some(to), _) => return out.write_all(empty("307", &format!("Location: {to}\r\n")).as_bytes()),
            (None, Some(sha)) if !is_store => {
                let (size, to) = (content.bytes.len(), format!("Location: {elsewhere}{path}\r\n"));
                let linked = format!("X-Linked-Etag: \"{sha}\"\r\nX-Linked-Size: {size}\r\n");
                return out.write_all(empty("302", &format!("{commit}{linked}{to}")).as_bytes());
            }
            _ => {}
        }
        let start = range.filter(|_| !content.whole).and_then(|from| from.parse().ok()).unwrap_or(0_usize);
        let size = content.bytes.len();
        if start > 0 && start >= size {
            return out.write_all(empty("416", &commit).as_bytes());
        }
        let more =
            if start > 0 { format!("Content-Range: bytes {start}-{}/{size}\r\n", size - 1) } else { String::new() };
        let status = if start > 0 { "206" } else { "200" };
        let kind = content.kind.map_or(String::new(), |kind| format!("Content-Type: {kind}\r\n"));
        let tag = format!("{commit}{kind}ETag: \"tag-{size}\"\r\n");
        out.write_all(head(status, &format!("{tag}{more}Content-Length: {}\r\n\r\n", size - start)).as_bytes())?;
        let end = content.cut.map_or(size, |cut| cut.clamp(start, size));
        if content.cut.is_some() {
            self.lock().files.entry(path).and_modify(|content| content.cut = None);
        }
        out.write_all(&content.bytes[start..end])
    }
}
