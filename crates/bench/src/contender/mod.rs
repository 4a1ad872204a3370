//! Contenders: fyke's engines and the rival libraries, behind one trait.
//!
//! Engines are adapted to [`Rival`](fyke_rivals::Rival), so that every contender is built, verified
//! and timed by the same code. An engine pays one virtual call per scan, as each rival does.

pub mod args;
mod caller;
pub mod choose;
pub mod engine;
pub mod forced;
mod sets;

pub use args::ContenderArgs;
pub use choose::{Contender, Selection, Side, choose};
pub use engine::CompiledEngine;
