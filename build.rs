//! Records which CPU features the binary is built for, so that it can refuse to run where they are missing.

#![allow(clippy::disallowed_methods, reason = "cargo speaks to build scripts through the environment")]

fn main() {
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    println!("cargo:rustc-env=GVQA_TARGET_FEATURES={features}");
    println!("cargo:rerun-if-changed=build.rs");
}
