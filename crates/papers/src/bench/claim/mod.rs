//! What a paper says about its figures, and whether it holds for others.

mod check;
pub mod judge;
mod places;
pub mod verdict;
pub mod written;

pub use verdict::Verdict;
pub use written::Claim;
