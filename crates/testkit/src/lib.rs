//! The tests that every fyke engine must pass, and the tools that report what failed.
//!
//! The kit depends on `fyke-core` only. Each test program passes it a registry, so an engine that
//! is added to a registry is tested by everything here without a line of its own:
//!
//! * [`vectors`] reads `vectors/*.toml`: patterns, a haystack, the expected matches.
//! * [`expand`] runs one vector in many ways that must give the same matches: shifted, in chunks,
//!   saved and restored, on several threads, ignoring case, with more ids.
//! * [`conformance`] is the test program: every vector, in many ways, on every variant of every
//!   engine.
//! * [`foreign`] runs test cases of other matchers: aho-corasick, daachorse, Hyperscan, Suricata.
//! * [`golden`] compares counts and fingerprints of real pattern sets in real texts.
//! * [`properties`] generates sets and haystacks; [`fuzz`] decodes them from a fuzzer's bytes.
//! * [`hostile`] builds the sets and haystacks that filters and automata handle worst.
//! * [`counting`] compares counts with matches.
//! * [`devices`] counts what tests checked on which device, and fails if a required one is
//!   absent.
//! * [`registry`] compares a registry with its folder, and kernels with their PTX.
//! * [`naive`] is a second definition of the correct result, independent of `fyke_core::oracle`.
//! * [`audit`] is a sink that checks every batch.
//! * [`tally`] counts checks, refusals and skips, and [`require`] turns refusals into failures, so
//!   that a skipped test cannot be mistaken for one that passed.
//! * [`share`] chooses the share of a suite that runs with each change.
#![forbid(unsafe_code)]

pub mod audit;
pub mod case;
pub mod conformance;
pub mod counting;
pub mod devices;
pub mod expand;
pub mod foreign;
pub mod fuzz;
pub mod fuzz_gpu;
pub mod golden;
pub mod hostile;
pub mod naive;
pub mod properties;
pub mod random;
pub mod registry;
pub mod require;
pub mod share;
pub mod strategies;
pub mod subject;
pub mod tally;
pub mod text;
pub mod vectors;

pub use case::{Case, Entry};
pub use subject::{Parallel, Subject, Suite};

/// The example of CONTRIBUTING.md, compiled so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;
