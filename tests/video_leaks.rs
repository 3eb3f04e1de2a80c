//! Opening and closing streams leaves nothing behind. A binary of its own: the process is counted as a whole.

mod common;
#[path = "video/make.rs"]
mod make;

use std::time::Duration;

use common::{RtspServer, clips};
use groundedvqa::video::StreamConfig;
use make::{at, config, evidence, open};

const TENTH: Duration = Duration::from_millis(100);

#[test]
fn opening_and_closing_leaves_no_thread_and_no_descriptor() {
    let server = RtspServer::ball();
    let camera = |url: &str| StreamConfig::new(url).expect("is an address");
    let configs = [camera(server.url()), config(&clips::bikes()), camera("test://ball?size=64x48")];
    let replay = evidence(&configs[1]);
    let cycle = || {
        for config in &configs {
            let mut source = open(config, TENTH, None).expect("opens");
            assert!(source.next_frame().expect("decodes").is_some());
        }
        replay.frame_at(at(3.0)).expect("is on display");
    };
    // Thread pools and type registrations of the first rounds stay.
    (0..3).for_each(|_| cycle());
    let (threads, descriptors) = held();
    (0..10).for_each(|_| cycle());
    let (threads_after, descriptors_after) = held();
    assert!(descriptors_after <= descriptors + 2, "{descriptors} descriptors became {descriptors_after}");
    assert!(threads_after <= threads + 4, "{threads} threads became {threads_after}");
}

/// Threads and open descriptors of this process.
fn held() -> (usize, usize) {
    let count = |dir: &str| std::fs::read_dir(dir).expect("/proc is mounted").count();
    (count("/proc/self/task"), count("/proc/self/fd"))
}
