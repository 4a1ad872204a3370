//! The compact automaton: Aho-Corasick at one step per byte and about one word per transition.
//!
//! [`Contexts`] groups the bytes into classes and the last few classes into contexts. [`Edges`]
//! are the transitions that contexts do not give. [`Placement`] puts them into a double array.
//! [`Reports`] lists the patterns that end in each state. The engine `ac_simd` explains the
//! automaton; `gpu_dfa` has the same in a layout for the GPU.

mod contexts;
mod edges;
mod place;
mod reports;

pub use contexts::{Contexts, used_bytes};
pub use edges::{Edge, EdgeLimit, Edges};
pub use place::{BLOCK, Placement};
pub use reports::{COPY_LEN, MAX_FLAT_LEN, ReportList, Reports};
