//! An endpoint that does what a test tells it to: one scripted act a request, what it was asked kept for the test.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// What the endpoint does with a request.
pub(super) enum Act {
    /// A whole reply with this status, these header lines, and this body.
    Reply(u16, &'static str, String),
    /// Nothing, until the test is over or the client has left.
    Hang,
    /// Half of the announced body, then the end.
    Truncate,
    /// The head of a reply, then a byte from time to time until the client has left.
    Drip,
    /// A body without end.
    Flood,
    /// No HTTP.
    Garbage,
    /// Waits until the test opens the gate, then replies.
    Gated(Gate, String),
}

/// Holds requests until it is opened; counts those that wait.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<(usize, bool)>, Condvar)>);

impl Gate {
    fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        changed.notify_all();
        while !state.1 {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns when `count` requests have come to the gate, open or not.
    pub(super) fn reached(&self, count: usize) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 < count {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        changed.notify_all();
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) authorization: Option<String>,
    pub(super) body: Value,
}

/// The endpoint; it stops with its owner.
pub(super) struct Scripted {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Does `acts` in order; a request after the last one is answered with status 500.
    pub(super) fn start(acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (acts, asked) = (Arc::new(Mutex::new(acts.into_iter().collect())), Arc::default());
        let noted = Arc::clone(&asked);
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (acts, asked) = (Arc::clone(&acts), Arc::clone(&noted));
                if is_end(&stream) {
                    return;
                }
                std::thread::spawn(move || serve(stream, &acts, &asked));
            }
        });
        Self { address, asked, thread: Some(thread) }
    }

    /// The address to configure.
    pub(super) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Everything that was asked so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        // A connection on which "E" comes first ends the loop.
        if let Ok(mut stream) = TcpStream::connect(self.address) {
            let _ = stream.write_all(b"E");
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn is_end(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first), Ok(1)) && first == *b"E"
}

fn serve(stream: TcpStream, acts: &Mutex<VecDeque<Act>>, asked: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
    while let Some(request) = read(&mut reader) {
        asked.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let act = acts.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        // Whatever fails here fails because the client has left.
        if perform(act, &stream).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let (mut first, mut length, mut authorization) = (String::new(), 0, None);
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    Some(Asked { path, authorization, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn perform(act: Option<Act>, mut stream: &TcpStream) -> std::io::Result<()> {
    let reply = |code: u16, headers: &str, body: &str| {
        format!("HTTP/1.1 {code} X\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len())
    };
    let act = act.unwrap_or_else(|| Act::Reply(500, "", "the script is over".to_owned()));
    match act {
        Act::Reply(code, headers, body) => stream.write_all(reply(code, headers, &body).as_bytes()),
        Act::Gated(gate, body) => {
            gate.pass();
            stream.write_all(reply(200, "", &body).as_bytes())
        }
        Act::Hang => {
            // Returns when the client closes.
            let _ = stream.read(&mut [0]);
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        Act::Truncate => {
            stream.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 900\r\n\r\n{\"choices\": [")?;
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        Act::Drip => {
            stream.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 900000\r\n\r\n")?;
            stream.set_read_timeout(Some(std::time::Duration::from_millis(20)))?;
            loop {
                stream.write_all(b" ")?;
                if stream.read(&mut [0]).is_ok() {
                    return Err(std::io::ErrorKind::BrokenPipe.into());
                }
            }
        }
        Act::Flood => {
            stream.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 900000000000\r\n\r\n")?;
            loop {
                stream.write_all(&[b' '; 4096])?;
            }
        }
        Act::Garbage => {
            stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")?;
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
}

/// A whole reply with one choice that says `content`.
pub(super) fn says(content: &str) -> Act {
    Act::Reply(200, "", completion(content))
}

/// The body of [`says`].
pub(super) fn completion(content: &str) -> String {
    json!({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}).to_string()
}

/// A reply with only a status.
pub(super) fn status(code: u16) -> Act {
    Act::Reply(code, "", format!(r#"{{"error": {{"message": "status {code}"}}}}"#))
}
