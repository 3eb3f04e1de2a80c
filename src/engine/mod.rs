//! The only bridge between async code and models: one OS thread a device, two bounded lanes, batching.
