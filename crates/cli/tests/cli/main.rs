//! The built binary from outside: output, bad input, folders, signals, verbs.

mod bad_input;
mod browser;
mod carve_database;
mod carve_one_shot;
mod carve_scan;
mod common;
mod compressed;
mod database;
mod devices;
mod golden;
mod grep;
mod lines;
#[cfg(feature = "papers")]
mod model;
mod output;
mod rules;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod tail;
mod trees;
mod verbs;
