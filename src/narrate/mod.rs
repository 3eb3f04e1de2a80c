//! Frames in, moments stored.
