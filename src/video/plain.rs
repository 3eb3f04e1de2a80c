//! The commonest troubles of sources in plain words. Pure.
//!
//! What GStreamer says names its own parts and mixes up causes; whoever runs cameras wants to know what to look at. What
//! is not listed here is told as GStreamer tells it.

/// A part of what GStreamer says, and what it means.
const WORDS: [(&str, &str); 9] = [
    (
        "Failed to connect. (Generic error)",
        "no connection: nobody listens at that address, it cannot be reached, its name is not known, or, with rtsps://, it \
         speaks no TLS or nobody trusted signed its certificate",
    ),
    ("Could not receive message. (Parse error)", "no connection: what answers at that address does not speak RTSP"),
    ("Could not receive message. (Timeout", "the camera took too long to answer"),
    ("Not Found (404)", "the camera has no such path (404)"),
    ("File not found (404)", "the server has nothing under that address (404)"),
    ("Unauthorized (401)", "user name or password are missing or wrong (401)"),
    ("Forbidden (403)", "this user may not watch it (403)"),
    ("Service Unavailable (503)", "the camera serves as many viewers as it can, or is still starting (503)"),
    ("reason error (-5) (souphttpsrc)", "the connection broke off, or there was none"),
];

/// What a message means, if it is a common one.
pub(super) fn words(said: &str) -> Option<&'static str> {
    WORDS.iter().find(|(part, _)| said.contains(part)).map(|(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_troubles_are_told_in_plain_words() {
        for (n, (part, due)) in WORDS.iter().enumerate() {
            assert_eq!(words(&format!("Could not read: {part}, URL: http://h/a")), Some(*due), "row {n}");
        }
        assert_eq!(words("Could not determine type of stream"), None);
    }
}
