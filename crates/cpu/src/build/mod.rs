//! What engines share when they compile a set.

pub mod classes;
pub mod lists;
pub mod trie;

pub use classes::ByteClasses;
pub use trie::{Fold, Trie};
