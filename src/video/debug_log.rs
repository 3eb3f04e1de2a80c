//! GStreamer's own debug log (`GST_DEBUG`), without credentials.
//!
//! GStreamer writes what it gets: a playlist's address with the login that some elements take from nowhere else, or the
//! headers of a request. Whoever turns the log on to find out why a camera does not play must be able to show it around.
//! Dumps of whole buffers (level 9) are not looked into.

use std::fs::File;
use std::io::{Write, stderr};
use std::sync::{Mutex, Once, PoisonError};

use gstreamer as gst;

use crate::secret::scrub_log;

static ONCE: Once = Once::new();

/// Puts our writer in the place of GStreamer's, if its log was asked for. To be called after GStreamer has started.
pub(super) fn keep_clean() {
    if std::env::var_os("GST_DEBUG").is_some() {
        ONCE.call_once(|| {
            gst::log::remove_default_log_function();
            install(destination());
        });
    }
}

/// The file that GStreamer would have taken, else standard error.
fn destination() -> Box<dyn Write + Send> {
    let Some(path) = std::env::var_os("GST_DEBUG_FILE") else { return Box::new(stderr()) };
    match File::create(&path) {
        Ok(file) => Box::new(file),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "GStreamer's log goes to standard error");
            Box::new(stderr())
        }
    }
}

fn install(to: Box<dyn Write + Send>) {
    let to = Mutex::new(to);
    gst::log::add_log_function(move |category, level, file, _function, line, object, message| {
        let object = object.map(ToString::to_string).unwrap_or_default();
        let said = message.get().map(|said| said.to_string()).unwrap_or_default();
        let told = format!("{level:?} {} {file}:{line} {object} {said}", category.name());
        // A log that cannot be written is no reason to stop watching.
        let _ = writeln!(to.lock().unwrap_or_else(PoisonError::into_inner), "{}", scrub_log(&told));
    });
}
