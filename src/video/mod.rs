//! GStreamer lives here and only here: source, sampler, archive, extract, jpeg.
