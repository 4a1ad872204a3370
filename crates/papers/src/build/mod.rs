//! Tables that several engines of the papers build when they compile a set.

pub mod arena;
pub mod lists;
pub mod order;
pub mod reverse;

pub use arena::Arena;
pub use order::RowOrder;
pub use reverse::ReverseTrie;
