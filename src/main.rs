//! argv → configuration → telemetry → app → exit code. Nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    groundedvqa::cli::main()
}
