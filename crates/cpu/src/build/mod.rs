//! What engines share when they compile a set.

pub mod arena;
pub mod classes;
pub mod lists;
pub mod trie;

pub use arena::Arena;
pub use classes::ByteClasses;
pub use trie::{Fold, Trie};
