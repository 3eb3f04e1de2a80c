//! Disks that are full, and that hang: recording is what suffers, loudly, and it recovers by itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use groundedvqa::domain::StreamTime;
use groundedvqa::seams::EvidenceError;
use groundedvqa::video::StreamConfig;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::child::{self, Disk};
use crate::common::{RtspServer, root, temp_dir};
use crate::make::{epoch, stream, video};

#[test]
fn a_full_disk_is_told_and_recording_goes_on_when_there_is_room() {
    // No file may be longer than this: what a full disk does to each segment, also to root, and without mounting one.
    fills_up(Disk::ShortFiles(4096));
}

#[test]
fn so_is_a_small_disk_of_its_own() {
    // Where no user may mount anything, files that may not grow are as full as a disk gets.
    fills_up(if Disk::Small.is_possible() { Disk::Small } else { Disk::ShortFiles(8192) });
}

fn fills_up(disk: Disk) {
    let server = RtspServer::ball();
    let dir = temp_dir();
    let (mut child, lines) = child::start(dir.path(), &server, disk);
    let mut told = lines.map_while(Result::ok).filter_map(|line| child::told(&line));
    let full = told.find(|(_, _, remark)| remark.contains("is interrupted")).expect("the full disk is told");
    if disk == Disk::Small {
        assert!(full.2.contains("No space left on device"), "{full:?}");
    }
    make_room(&mut child, disk);
    let well = told.find(|(_, _, remark)| remark.is_empty()).expect("it recovers by itself");
    let later: Vec<_> = told.by_ref().take(10).collect();
    // The disk may be told to be full before a picture is lost to it.
    assert!(well.1 > 0 && later[9].1 == well.1, "lost {} then {} then {}", full.1, well.1, later[9].1);
    // A disk of its own is seen through the child alone, which has to live for that.
    let seen_by = Path::new("/proc").join(child.id().to_string()).join("root");
    let top = if disk == Disk::Small {
        seen_by.join(dir.path().strip_prefix("/").expect("is absolute"))
    } else {
        dir.path().to_path_buf()
    };
    // The last ones may not have reached the disk yet.
    let shown: Vec<StreamTime> = later[..5].iter().map(|(at, ..)| *at).collect();
    come_back(&top, &server, &shown);
    child.kill().expect("the child is ours");
    child.wait().expect("the child ends");
}

fn make_room(child: &mut Child, disk: Disk) {
    match disk {
        Disk::Small => child.stdin.take().expect("is piped").write_all(b"\n").expect("the child lives"),
        Disk::Roomy | Disk::ShortFiles(_) => {
            let unlimited = Rlimit { current: None, maximum: None };
            prlimit(Some(Pid::from_child(child)), Resource::Fsize, unlimited).expect("the limit is lifted");
        }
    }
}

fn come_back(dir: &Path, server: &RtspServer, times: &[StreamTime]) {
    let (video, _) = video(dir, "");
    let camera = StreamConfig::new(server.url()).expect("is an address");
    let evidence = video.evidence(&stream(), &camera, epoch());
    for at in times {
        assert_eq!(evidence.frame_at(*at).unwrap_or_else(|error| panic!("{error}")).at, *at);
    }
}

/// Holds the thread of that name in a process as a disk that hangs would: inside a call of the system. Lets go on drop.
struct Held(Child);

impl Held {
    fn thread(process: &Child, name: &str) -> Self {
        let mut child = Command::new("/usr/bin/python3")
            .arg(root().join("tests/common/hold_thread.py"))
            .args([&process.id().to_string(), name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("is piped")).read_line(&mut line).expect("can be read");
        let held = Self(child);
        assert_eq!(line.trim(), "held", "{name} could not be held: see above");
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The end of its input lets it go.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_disk_that_hangs_costs_pictures_and_never_keeps_the_camera_waiting() {
    // The queue in front of the disk is full after some seconds.
    let server = RtspServer::start(&["--pattern", "ball", "--size", "160x120", "--fps", "100"]);
    let dir = temp_dir();
    let (mut child, lines) = child::start(dir.path(), &server, Disk::Roomy);
    let mut told = lines.map_while(Result::ok).filter_map(|line| child::told(&line));
    assert_eq!(told.nth(9).expect("frames come").1, 0);
    let held = Held::thread(&child, "record-cam");
    let slow = told.find(|(_, _, remark)| remark.contains("too slow")).expect("the slow disk is told");
    let meanwhile = told.nth(9).expect("frames come while nothing is written");
    assert!(meanwhile.1 > slow.1 && !meanwhile.2.is_empty(), "{slow:?} became {meanwhile:?}");
    drop(held);
    let well = told.find(|(_, _, remark)| remark.is_empty()).expect("it recovers by itself");
    let later: Vec<_> = told.by_ref().take(10).collect();
    assert_eq!(later[9].1, well.1, "pictures are lost that need not be");
    child.kill().expect("the child is ours");
    child.wait().expect("the child ends");
    let shown: Vec<StreamTime> = later[..5].iter().map(|(at, ..)| *at).collect();
    come_back(dir.path(), &server, &shown);
    let (video, _) = video(dir.path(), "");
    let camera = StreamConfig::new(server.url()).expect("is an address");
    let error = video.evidence(&stream(), &camera, epoch()).frame_at(meanwhile.0).expect_err("was lost");
    let EvidenceError::NoFrame { reason, .. } = &error else { panic!("{error}") };
    assert!(reason.contains("nothing was recorded from") && reason.contains(" to "), "{error}");
}
