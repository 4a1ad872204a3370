//! What is searched, and for what: corpora, pattern sets, and what is known about them beforehand.

pub mod collect;
pub mod corpora;
pub mod generate;
pub mod golden;
pub mod packed;
pub mod patterns;
pub mod place;
pub mod store;

use sha2::{Digest, Sha256};

pub use place::Place;
pub use store::{Extent, Prepared, Store};

/// The SHA-256 sum of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}
