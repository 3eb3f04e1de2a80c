//! Programs started by a test, found by what they print, killed on drop; and talking HTTP to them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use groundedvqa::stop::Stop;

/// Longer than anything here takes, on a busy machine too; only a failing test waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// How often a probe looks.
const GLANCE: Duration = Duration::from_millis(50);

/// A running program.
pub(crate) struct Process(Child);

impl Process {
    /// Starts `command` and waits for the line of its stderr in which `find` finds something.
    pub(crate) fn start<T: Send + 'static>(
        command: &mut Command,
        find: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> (Self, T) {
        let name = format!("{:?}", command.get_program());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|e| panic!("{name}: {e}; run `make setup`"));
        let log = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let (tell, told) = mpsc::sync_channel(1);
        // Reads to the end, so that the program never blocks on a full pipe.
        std::thread::spawn(move || {
            let mut seen = Vec::new();
            for line in log.lines().map_while(Result::ok) {
                if let Some(found) = find(&line) {
                    let _ = tell.try_send(Ok(found));
                }
                if seen.len() < 50 {
                    seen.push(line);
                }
            }
            let _ = tell.try_send(Err(seen.join("\n")));
        });
        let process = Self(child);
        match told.recv_timeout(PATIENCE) {
            Ok(Ok(found)) => (process, found),
            Ok(Err(log)) => panic!("{name} ended:\n{log}"),
            Err(_) => panic!("{name} was not ready within {PATIENCE:?}"),
        }
    }

    /// Asks it to end, as systemd does, and waits until it has.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        self.signal(rustix::process::Signal::TERM);
        eventually("the end", || self.0.try_wait().expect("it can be asked"))
    }

    /// Asks it to read its configuration again, as systemd does.
    pub(crate) fn hang_up(&self) {
        self.signal(rustix::process::Signal::HUP);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.0), signal).expect("it runs");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Already gone after `terminate`.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Looks again and again until `probe` finds something.
pub(crate) fn eventually<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let (clock, deadline) = (Stop::new(), Instant::now() + PATIENCE);
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not happen within {PATIENCE:?}");
        clock.pause(GLANCE);
    }
}

/// Status code and body of a GET.
pub(crate) fn get(address: SocketAddr, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    // Version 1.0: the answer is neither chunked nor kept alive.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let code = head.split(' ').nth(1)?.parse().ok()?;
    Some((code, body.to_owned()))
}

/// `text` as a value in a query string.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}
