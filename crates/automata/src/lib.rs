//! What the engines of fyke share, on CPU and GPU: tries, automata, and a model of how rare bytes
//! are.
//!
//! * [`trie`] builds the trie of a pattern set with its failure and output links.
//! * [`classes`] groups the bytes that no pattern tells apart.
//! * [`compact`] lays out an Aho-Corasick automaton in a table of a few bytes per state.
//! * [`find_table`] is a transition table for short haystacks and dense matches. It finds matches
//!   that do not overlap. [`find_trie`] does the same for large sets.
//! * [`model`] estimates how rare a window of bytes is in the data to be scanned.
//! * [`walk`] turns any automaton that reads one byte at a time into a matcher; [`nfa`] is the
//!   smallest one. [`count`] counts the transitions of a scan.
//! * [`naive`] compares every pattern at every position.

pub mod classes;
pub mod compact;
pub mod count;
mod find_states;
pub mod find_table;
pub mod find_trie;
pub mod model;
pub mod naive;
pub mod nfa;
mod pairs;
pub mod trie;
pub mod walk;

pub use classes::ByteClasses;
pub use find_table::FindTable;
pub use find_trie::FindTrie;
pub use model::PairModel;
pub use trie::{CaseFold, Direction, Trie};
