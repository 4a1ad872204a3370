//! Compressed automata with bitmap nodes: what the engines of Zha (2010), chapter 2, share.
//!
//! `ac-bitmap1`, `ac-bitmap2` and `ac-bitmap3` are this module with one type of [`summary`] each.
//! `ac-tuck` uses its model of memory [`accesses`].
//!
//! * [`classify`] decides which states need which kind of node.
//! * [`layout`] gives each state a node and each node a place.
//! * [`node`] has the bytes of the nodes, [`summary`] the ranks in their bitmaps.
//! * [`build`] writes the nodes, `walk` reads them.
//! * [`accesses`] counts the memory accesses of a visit to a node, from the places of its fields.
//!
//! # What the paper leaves open
//! * **Order of fields.** The paper gives sizes, and for each width of memory another order with
//!   unused bits that its own nodes have no space for: type I would take 116 bytes for W = 32.
//!   Here each node has one order, that of [`node`], in exactly the paper's bytes, and the model
//!   counts the accesses of that order.
//! * **Size of low-degree nodes.** The paper says that 22 bytes would do. Its fields take 22 bytes
//!   and 1 bit; here they take 23 of the 25.
//! * **LO states without a child of class OO** cannot be O2 nodes. They are O1 nodes in 25 bytes.
//! * **BO states.** The paper says that only a part of their space is used. Its tables 2-5 to 2-8
//!   show that states of paths fill the rest: without all other nodes, the memory of its first set
//!   leaves 12,107, 12,125 and 12,221 states in path nodes for types I to III. So OO states that
//!   follow a BO state move into its space here, after the packing of LX states, which uses the
//!   space better.
//! * **Rests of chains.** A rest of fewer than 6 states is too short for an O node and becomes an
//!   O1 to O5 node. A chain that follows a BO, LO or OO state needs no O1 to O5 node before its O
//!   node.
//! * **Rule lists** are in none of the paper's figures. Here they stand after the nodes, in the
//!   same arena. The tables T4 (16 bytes) and T16 (256 KiB) are not in its figures of memory
//!   either.
//! * **Address space.** A pointer is the offset of a node. Sets whose nodes end beyond 2^32 are
//!   refused.

pub mod accesses;
pub mod build;
pub mod classify;
pub mod layout;
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

/// Compiles a set for the engine of one type of summaries.
///
/// # Errors
/// An option was given, or the set takes too much memory.
pub fn compile<S: Summary>(
    info: &'static Info,
    set: &PatternSet,
    opt: &Options,
) -> Result<Arc<dyn Matcher>, Refusal> {
    opt.check_params(&[])?;
    Ok(Walker::matcher(set, build::compress::<S>(info, set, opt)?))
}

/// Counts the steps of the matchers of one type of summaries.
pub(crate) fn counted<S: Summary>(matcher: &dyn Any) -> Option<&dyn Counted> {
    downcast::<Walker<walk::BitmapAutomaton<S>>>(matcher)
}
