//! Whether this machine has the CPU features that the binary was compiled for.
//!
//! The build targets the machine it runs on (`.cargo/config.toml`): quantised matrix products need AVX. Run elsewhere
//! such a binary would die of SIGILL in the middle of its work, so it looks first. The standard library's detection
//! macros answer from the build's own settings and cannot be used for this.

/// Rust's name of a feature and Linux's flag for it, for features that kernels are compiled to.
const FEATURES: [(&str, &str); 17] = [
    ("sse4.2", "sse4_2"),
    ("popcnt", "popcnt"),
    ("avx", "avx"),
    ("avx2", "avx2"),
    ("fma", "fma"),
    ("f16c", "f16c"),
    ("bmi1", "bmi1"),
    ("bmi2", "bmi2"),
    ("avxvnni", "avx_vnni"),
    ("avx512f", "avx512f"),
    ("avx512bw", "avx512bw"),
    ("avx512dq", "avx512dq"),
    ("avx512vl", "avx512vl"),
    ("avx512vnni", "avx512_vnni"),
    ("avx512bf16", "avx512_bf16"),
    ("avx512fp16", "avx512_fp16"),
    ("avx512vbmi", "avx512vbmi"),
];

/// The binary needs features that this CPU lacks.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this binary was built for a CPU with {0}, which this one lacks: \
     build it here, or with RUSTFLAGS=\"-C target-cpu=x86-64-v3\" for any CPU since 2013"
)]
pub(super) struct CpuError(String);

/// Compares the build's features with this machine's. Says nothing where the system does not tell (not Linux).
pub(super) fn check() -> Result<(), CpuError> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = info.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    missing(env!("GVQA_TARGET_FEATURES"), flags)
}

fn missing(built_for: &str, flags: &str) -> Result<(), CpuError> {
    if flags.is_empty() {
        return Ok(());
    }
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    let needed = |name: &str| built_for.split(',').any(|feature| feature == name);
    let lacking: Vec<_> =
        FEATURES.iter().filter(|(name, flag)| needed(name) && !has(flag)).map(|(name, _)| *name).collect();
    if lacking.is_empty() { Ok(()) } else { Err(CpuError(lacking.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_are_missing_are_named() {
        let old = "flags : fpu sse4_2 popcnt avx";
        assert_eq!(missing("avx,sse4.2", old), Ok(()));
        assert_eq!(missing("avx,avx2,avx512f", old), Err(CpuError("avx2, avx512f".to_owned())));
        assert_eq!(missing("avx512f", ""), Ok(()));
    }

    #[test]
    fn the_machine_that_built_the_tests_can_run_them() {
        assert_eq!(check(), Ok(()));
    }
}
