//! Video on real clips, generated ones, and a live camera in another process.

mod common;
#[path = "video/files.rs"]
mod files;
#[path = "video/live.rs"]
mod live;
#[path = "video/make.rs"]
mod make;
