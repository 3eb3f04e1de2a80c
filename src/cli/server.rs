//! Which server and which daemon: the arguments that every client subcommand has, and how its end is told.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::bus::wire::ErrorCode;
use crate::bus::{BusError, Client, ClientError, Config};
use crate::config::Span;
use crate::secret::Secret;

/// The request was answered and something was found.
pub const FOUND: u8 = 0;
/// The request was refused, or nothing was found or grounded.
pub const NOTHING: u8 = 1;
/// Wrong configuration (`EX_USAGE`): here, or of the daemon, which has no model for the design asked for.
const CONFIG: u8 = 64;
/// No server or no daemon (`EX_UNAVAILABLE`).
pub const UNAVAILABLE: u8 = 69;

/// Where the daemon is found and how to log in.
#[derive(Debug, Clone, Args)]
pub struct ServerArgs {
    /// NATS servers, separated by commas.
    #[arg(long, env = "GVQA__BUS__URL", hide_env_values = true, default_value = "nats://127.0.0.1:4222")]
    server: String,
    /// First token of every subject.
    #[arg(long, env = "GVQA__BUS__PREFIX", default_value = "gvqa")]
    prefix: String,
    /// User name; goes with --password-file.
    #[arg(long)]
    user: Option<String>,
    /// File that holds the password.
    #[arg(long)]
    password_file: Option<PathBuf>,
    /// File that holds a token.
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// A .creds file.
    #[arg(long)]
    creds_file: Option<PathBuf>,
    /// File that holds an NKey seed.
    #[arg(long)]
    nkey_seed_file: Option<PathBuf>,
    /// Certificate authority to trust, PEM.
    #[arg(long)]
    tls_ca: Option<PathBuf>,
    /// How long to wait for an answer, such as 30s or 2m.
    #[arg(long, default_value = "60s", value_parser = span)]
    timeout: Span,
}

impl ServerArgs {
    /// Connects to the server.
    pub async fn connect(&self) -> Result<Client, ClientError> {
        let cfg = Config {
            url: Secret::new(self.server.clone()),
            prefix: self.prefix.clone(),
            user: self.user.clone(),
            password_file: self.password_file.clone(),
            token_file: self.token_file.clone(),
            creds_file: self.creds_file.clone(),
            nkey_seed_file: self.nkey_seed_file.clone(),
            tls_ca: self.tls_ca.clone(),
            deadline: self.timeout,
            max_deadline: self.timeout,
            ..Config::default()
        };
        Client::connect(&cfg).await
    }

    /// What the daemon is told about the patience of this side.
    pub fn deadline_s(&self) -> Option<f64> {
        (self.timeout.0 > Duration::ZERO).then_some(self.timeout.0.as_secs_f64())
    }
}

pub(super) fn span(text: &str) -> Result<Span, String> {
    Span::try_from(text.to_owned()).map_err(|error| error.to_string())
}

/// Prints what went wrong and says how it shall end.
pub fn failed(error: &ClientError, json: bool) -> ExitCode {
    match error {
        ClientError::Refused(body) if json => {
            println!("{}", serde_json::json!({ "v": 1, "error": body }));
        }
        _ => eprintln!("groundedvqa: {error}"),
    }
    ExitCode::from(code(error))
}

fn code(error: &ClientError) -> u8 {
    match error {
        ClientError::Bus(BusError::Prefix(_) | BusError::Key { .. }) => CONFIG,
        ClientError::Refused(body) if body.name == ErrorCode::NotConfigured => CONFIG,
        _ if error.is_unavailable() => UNAVAILABLE,
        _ => NOTHING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::wire::ErrorBody;

    #[test]
    fn a_refusal_ends_with_1_unless_a_model_is_not_configured() {
        for (name, due) in
            [(ErrorCode::NotConfigured, CONFIG), (ErrorCode::BadRequest, NOTHING), (ErrorCode::Busy, NOTHING)]
        {
            let error = ClientError::Refused(ErrorBody { code: 0, name, message: String::new() });
            assert_eq!(code(&error), due, "{name}");
        }
    }
}
