//! Video on real clips, generated ones, and a live camera in another process.

#[path = "video/archive.rs"]
mod archive;
mod common;
#[path = "common/fakes.rs"]
mod fakes;
#[path = "video/files.rs"]
mod files;
#[path = "video/live.rs"]
mod live;
#[path = "video/make.rs"]
mod make;
#[path = "video/sight.rs"]
mod sight;
#[path = "video/sources.rs"]
mod sources;
