//! What engines share when they compile a set.

pub mod arena;
pub mod classes;
pub mod compact;
pub mod lists;
pub mod model;
pub mod order;
pub mod reverse;
pub mod trie;

pub use arena::Arena;
pub use classes::ByteClasses;
pub use model::Model;
pub use order::RowOrder;
pub use reverse::ReverseTrie;
pub use trie::{Direction, Fold, Trie};
