//! Hyperscan 5.4's C interface on fyke, for sets of literals.
//!
//! The shared library has Hyperscan's symbols and its soname, `libhs.so.5`. A program that uses
//! Hyperscan for literals, as Suricata does, loads it by `LD_LIBRARY_PATH` and compiles its sets in
//! a fraction of the time. A set with a regular expression is refused, or passed to a real
//! Hyperscan that the environment variable `FYKE_HS_NEXT` names. docs/libhs.md says what is
//! accepted and where the two differ.
//!
//! `unsafe` code is at the FFI boundary: functions that C calls, pointers that they get, memory
//! from C's allocators, and calls into another library. Expressions, rules, searches, reports,
//! stream windows and the serialized form are safe code with tests of their own.

pub mod abi;
mod alloc;
mod arguments;
mod border;
pub mod compile;
pub mod database;
mod engine;
mod error;
mod expression;
pub mod info;
mod multi;
mod next;
mod report;
mod rules;
pub mod scan;
pub mod scratch;
pub mod serialize;
mod single;
pub mod stream;
pub mod stream_state;
mod window;
mod wire;

pub use alloc::{
    hs_set_allocator, hs_set_database_allocator, hs_set_misc_allocator, hs_set_scratch_allocator,
    hs_set_stream_allocator,
};
pub use error::hs_free_compile_error;
