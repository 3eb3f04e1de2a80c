//! The command line: one file a subcommand.

pub mod ask;
pub mod demo;
pub mod models;
pub mod search;
pub mod server;
pub mod show;
pub mod verify;
