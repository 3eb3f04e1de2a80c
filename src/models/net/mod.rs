//! Networks and the kernels under them: tensors in, tensors out. No files but through `Weights`, no text.
//!
//! Sentences are laid end to end ([`Packed`]) instead of padded to one length: no work is spent on padding and none of
//! it can leak into a result. Matrices are multiplied by candle; what lies between two matrices is one pass over memory
//! each ([`ops`], [`attention`]), because stock elementwise operators cost more than the matrices near them.

mod attention;
mod bert;
mod conv;
mod deberta;
mod encoder;
pub(crate) mod gguf;
pub(crate) mod llama;
pub(super) mod map;
mod math;
pub(super) mod nanodet;
mod ops;
mod packed;
mod slim;
pub(super) mod vlm;

pub(super) use bert::Bert;
pub(super) use deberta::{Deberta, Design, DesignError};
pub(super) use packed::{Packed, runs};

/// Sizes the thread pool that candle's and our own kernels share; 0 is one thread a core. Only the first call counts:
/// the pool belongs to the process.
pub(super) fn set_threads(threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("models-{i}"));
    if let Err(error) = pool.build_global() {
        tracing::debug!(%error, threads, "the thread pool of the models exists already");
    }
}
