//! The built binary from outside: output, bad input, verbs.

mod bad_input;
mod common;
mod devices;
mod golden;
mod grep;
mod lines;
#[cfg(feature = "papers")]
mod model;
mod output;
mod verbs;
