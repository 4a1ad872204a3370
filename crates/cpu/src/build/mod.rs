//! What engines share when they compile a set.

pub mod arena;
pub mod classes;
pub mod lists;
pub mod order;
pub mod trie;

pub use arena::Arena;
pub use classes::ByteClasses;
pub use order::RowOrder;
pub use trie::{Fold, Trie};
