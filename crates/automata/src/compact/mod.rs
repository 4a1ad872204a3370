//! The compact automaton: Aho and Corasick's in one step a byte and about a word a transition.
//!
//! [`Contexts`] says how bytes are told apart and how many of them make a context, [`Edges`] what the states still have to
//! store, [`Placement`] where that stands in a double array, and [`Reports`] what is reported where. The engine
//! `ac_simd` explains the form; `gpu_dfa` has the same in the layout of a device.

mod contexts;
mod edges;
mod place;
mod reports;

pub use contexts::{Contexts, used_bytes};
pub use edges::{Edge, EdgeLimit, Edges};
pub use place::{BLOCK, Placement};
pub use reports::{COPY_LEN, MAX_FLAT_LEN, ReportList, Reports};
