//! What every engine of fyke has to pass, and the tools to say clearly what failed.
//!
//! The kit sees `fyke-core` only. The facade's tests hand it their registry, so an engine that is
//! added there is tested by all of this without a line of its own:
//!
//! * [`vectors`] reads `vectors/*.toml`: patterns, a haystack, the matches that are in it.
//! * [`expand`] runs one vector in many ways that must not matter: shifted, cut into chunks, saved
//!   and restored, cut among threads, folded, under more ids.
//! * [`conformance`] is the test program: every vector, every way, every engine, every variant.
//! * [`golden`] compares counts and fingerprints of real rule sets on real traffic.
//! * [`properties`] makes up sets and haystacks, and [`fuzz`] decodes them from a fuzzer's bytes.
//! * [`hostile`] makes haystacks for those who know the patterns, and what filters and automata are weak at.
//! * [`counting`] compares counts with matches.
//! * [`naive`] defines the right answer once more, apart from `fyke_core::oracle`.
//! * [`audit`] is the sink that looks at every batch; [`tally`] counts what was refused, so that
//!   "skipped" is never mistaken for "passed".
#![forbid(unsafe_code)]

pub mod audit;
pub mod case;
pub mod conformance;
pub mod counting;
pub mod expand;
pub mod fuzz;
pub mod golden;
pub mod hostile;
pub mod naive;
pub mod properties;
pub mod random;
pub mod strategies;
pub mod subject;
pub mod tally;
pub mod text;
pub mod vectors;

pub use case::{Case, Entry};
pub use subject::{Parallel, Subject, Suite};
