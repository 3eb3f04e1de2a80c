//! The bus on a real nats-server: every subject, every refusal, every outage, and what strangers send.

#[path = "../common/fakes.rs"]
mod fakes;
#[path = "../common/nats.rs"]
mod nats;

mod command;
mod harness;
mod hostile;
mod messages;
mod outage;
mod refusals;
mod service;
