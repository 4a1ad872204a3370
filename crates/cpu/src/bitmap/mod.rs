//! Compressed unoptimised automata: what the engines of Zha (2010), chapter 2, share.
//!
//! * [`model`] counts the memory accesses that processing a node takes, from the places of its fields.

pub mod model;
