//! `fyke bench gpu`: what the engines of graphics processors are judged by.
//!
//! A row is a set, a text and an engine. The engine is verified on the text first, through the same call that users
//! make: count and fingerprint have to be those of the processor's engine. Then the text is repeated in device memory
//! and searched there, on the device's clock; the rate of a kernel that only reads the same memory, measured in the
//! same run, is what the share is of.

pub mod cli;
mod plot;
mod print;
mod rows;
pub mod run;
mod stream;
pub mod turn;

pub use cli::Args;
