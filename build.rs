//! Records which CPU features the binary is built for, so that it can refuse to run where they are missing.

fn main() {
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    println!("cargo:rustc-env=GVQA_TARGET_FEATURES={features}");
    println!("cargo:rerun-if-changed=build.rs");
}
