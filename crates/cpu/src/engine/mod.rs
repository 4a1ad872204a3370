//! The registry of CPU engines: one module line and one slice entry per engine, nothing else.

use fyke_core::Engine;

pub mod ac_dfa;
pub mod ac_nfa;
pub mod ac_simd;
pub mod naive;
pub mod qgram_filter;
pub mod qgram_sampling;
pub mod teddy;

/// Every CPU engine.
pub static ENGINES: &[&dyn Engine] = &[
    &ac_dfa::ENGINE,
    &ac_nfa::ENGINE,
    &ac_simd::ENGINE,
    &naive::ENGINE,
    &qgram_filter::ENGINE,
    &qgram_sampling::ENGINE,
    &teddy::ENGINE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_testkit::registry::check_files;

    #[test]
    fn every_file_is_an_entry() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/engine");
        check_files(ENGINES.iter().map(|e| e.info().name), folder, "rs", "");
    }
}
