//! The built binary from outside: output, bad input, verbs.

mod bad_input;
mod common;
mod compressed;
mod devices;
mod golden;
#[cfg(feature = "papers")]
mod model;
mod output;
mod rules;
mod verbs;
