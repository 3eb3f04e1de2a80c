//! The bus on a real nats-server: every subject, every refusal, every outage, and what strangers send.

#![allow(clippy::large_futures, reason = "a test is awaited once, on a stack that has room")]

#[path = "../common/fakes.rs"]
mod fakes;
#[path = "../common/nats.rs"]
mod nats;

mod command;
mod harness;
mod hostile;
mod logins;
mod messages;
mod orders;
mod outage;
mod refusals;
mod service;
