//! Video on real clips, generated ones, and a live camera in another process.

#[path = "video/archive.rs"]
mod archive;
#[path = "video/child.rs"]
mod child;
mod common;
#[path = "video/disk.rs"]
mod disk;
#[path = "common/fakes.rs"]
mod fakes;
#[path = "video/files.rs"]
mod files;
#[path = "video/gate.rs"]
mod gate;
#[path = "video/live.rs"]
mod live;
#[path = "video/loss.rs"]
mod loss;
#[path = "video/make.rs"]
mod make;
#[path = "video/sight.rs"]
mod sight;
#[path = "video/sources.rs"]
mod sources;
