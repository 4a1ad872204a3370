//! Compressed unoptimised automata: what the engines of Zha (2010), chapter 2, share.
//!
//! `ac-tuck` takes the [`model`]; `ac-bitmap1`, `ac-bitmap2` and `ac-bitmap3` are this room with one type of
//! [`summary`] each.
//!
//! * [`classify`] says which states need which kind of node.
//! * [`layout`] gives each state a node and each node a place.
//! * [`node`] has the bytes of the nodes, [`summary`] the ranks in their bitmaps.
//! * [`build`] writes the nodes, `walk` reads them.
//! * [`model`] counts the memory accesses that processing a node takes, from the places of its fields.
//!
//! # What the paper leaves open
//! * **Order of fields.** It gives sizes, and for each width of memory another order with unused bits, for
//!   which its own nodes have no room: type I would take 116 bytes for W = 32. Here each node has one order,
//!   that of [`node`], in exactly the paper's bytes, and the model counts the accesses of that.
//! * **Size of low-degree nodes.** It says that 22 bytes would do. Its fields are 22 bytes and 1 bit; here
//!   they take 23 of the 25.
//! * **LO states whose child is not OO**, or that have none, cannot be O2 nodes. They are O1 nodes in 25 bytes.
//! * **BO states.** The paper says that only a portion of their room is used. Its tables 2-5 to 2-8 show
//!   that states of paths are in the rest: what is left of the memory of its first set, all other nodes taken
//!   off, are 12,107, 12,125 and 12,221 states in path nodes for types I to III. So OO states that follow a BO
//!   state are taken into its room here, after the packing of LX states, which has the better use for it.
//! * **What is left of a chain** when fewer than 6 states are, too few for an O node, is in an O1 to O5 node; and
//!   a chain that follows a BO, LO or OO state needs no node of type O1 to O5 before its O node.
//! * **Rule lists** are in no account of the paper. Here they stand behind the nodes, in the same arena.
//!   The tables T4 (16 bytes) and T16 (256 KiB) are not in its account of memory either.
//! * **Reach.** A pointer is the byte that a node begins with; nodes that end beyond 2^32 are refused.

pub mod build;
pub mod classify;
pub mod layout;
pub mod model;
pub mod node;
pub mod summary;
#[cfg(test)]
mod tests;
mod walk;

use crate::cost::{Counted, downcast};
use fyke_automata::walk::Walker;
use fyke_core::{Info, Matcher, Options, PatternSet, Refusal};
use std::any::Any;
use std::sync::Arc;
use summary::Summary;

/// Compiles a set for the engine of a type of summaries.
///
/// # Errors
/// An option is not known, or the set takes too much memory.
pub fn compile<S: Summary>(
    info: &'static Info,
    set: &PatternSet,
    opt: &Options,
) -> Result<Arc<dyn Matcher>, Refusal> {
    opt.check_params(&[])?;
    Ok(Walker::matcher(set, build::compress::<S>(info, set, opt)?))
}

/// Counts the steps of the matchers of a type of summaries.
pub(crate) fn counted<S: Summary>(matcher: &dyn Any) -> Option<&dyn Counted> {
    downcast::<Walker<walk::Compressed<S>>>(matcher)
}
