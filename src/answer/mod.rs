//! A question in, an answer with verdicts out.
