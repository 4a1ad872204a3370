//! File carving: finds files in a disk image by their headers and footers, without a file system.
//!
//! A carve has two phases. Phase 1 reads the image once, finds the headers and footers of all
//! rules with one multi-pattern matcher, and pairs them to files. It writes a list and no file:
//! *in-place carving*. Phase 2 copies the files that the user chose.
//!
//! ```text
//! scalpel.conf -> RuleSet -> Finder: image -> Hits -> pair: Hits -> [CarvedFile] -> exports, extraction
//! ```
//!
//! The hits are kept, so the same image can be paired again under other limits without reading it.
//!
//! Sources: Scalpel 1.60 (grammar, pairing, audit file); Zha, dissertation, chapter 5 (one pass for
//! all rules, reading while searching).
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::single_range_in_vec_init, reason = "lists of one range"))]

pub mod again;
pub mod audit;
pub mod compat;
pub mod conf;
pub mod database;
mod default_rules;
pub mod embedded;
pub mod export;
pub mod extract;
mod file;
pub mod filter;
pub mod finder;
mod hit;
pub mod hit_list;
pub mod image;
pub mod layout;
pub mod naive;
mod needle;
pub mod pair;
pub mod pipeline;
pub mod regex;
mod rule;
pub mod validate;

pub use compat::Compat;
pub use default_rules::{DEFAULT_CONF, DEFAULT_CONF_NAME, default_rules};
pub use file::{CarvedFile, Validity};
pub use hit::{Hits, Lengths, NeedleHits};
pub use image::Image;
pub use needle::{Needle, NeedleId};
pub use rule::{Interner, Mode, Rule, RuleSet};
