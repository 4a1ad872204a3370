//! The registry of GPU engines: a module line and a slice entry each, nothing else.

use crate::matcher::GpuEngine;

pub mod gpu_ac0;
pub mod gpu_ac1;
pub mod gpu_ac2;
pub mod gpu_ac3;
pub mod gpu_ac4;
pub mod gpu_ac_global;
pub mod gpu_ac_shared;
pub mod gpu_dfa;
pub mod gpu_ebm;
pub mod gpu_filter;
pub mod gpu_kmp;
pub mod gpu_mbm0;
pub mod gpu_mbm1;
pub mod gpu_pfac;

/// Every GPU engine.
pub static ENGINES: &[&GpuEngine] = &[
    &gpu_ac0::ENGINE,
    &gpu_ac1::ENGINE,
    &gpu_ac2::ENGINE,
    &gpu_ac3::ENGINE,
    &gpu_ac4::ENGINE,
    &gpu_ac_global::ENGINE,
    &gpu_ac_shared::ENGINE,
    &gpu_dfa::ENGINE,
    &gpu_ebm::ENGINE,
    &gpu_filter::ENGINE,
    &gpu_kmp::ENGINE,
    &gpu_mbm0::ENGINE,
    &gpu_mbm1::ENGINE,
    &gpu_pfac::ENGINE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::inventory;
    use fyke_core::sink::Count;
    use fyke_core::{Block, Matcher, Options, PatternId, PatternSet, Scratch};
    use fyke_core::{SliceSource, oracle};

    /// Words of a text, some of them for several ids.
    fn cut(text: &[u8], seed: usize, nocase: bool) -> PatternSet {
        let mut set = PatternSet::builder();
        for i in 0..25 {
            let (at, len) = ((seed + 37 * i) % (text.len() - 20), 1 + (seed + i * i) % 19);
            for id in 0..1 + i % 3 {
                let id = PatternId((3 * i + id) as u32);
                set.push_with(id, &text[at..at + len], nocase && i % 4 != 0).unwrap();
            }
        }
        set.build()
    }

    fn check_count(engine: &GpuEngine, device: usize, set: &PatternSet, text: &[u8]) {
        let opt = Options::with_params(&format!("device={device}")).unwrap();
        let matcher = match engine.compile_for_device(set, &opt) {
            Ok(matcher) => matcher,
            Err(refusal) => panic!("{}: {refusal}", engine.info.name),
        };
        let expected = oracle::find_all(set, text).len() as u64;
        let mut count = Count::default();
        let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut count);
        assert_eq!(count.matches, expected, "{}, in one block", engine.info.name);
        let mut count = Count::default();
        let at = text.len() / 3;
        for (from, to) in [(0, at), (at, at + 1), (at + 1, text.len())] {
            let block = Block::whole(text).part(from, to, set.overlap());
            let _ = matcher.scan(block, &mut Scratch::new(), &mut count);
        }
        assert_eq!(count.matches, expected, "{}, in three blocks", engine.info.name);
        let mut count = Count::default();
        let mut source = SliceSource::new(text, 300, set.overlap());
        let _ = matcher.drive(&mut source, &mut count).unwrap();
        assert_eq!(count.matches, expected, "{}, in a stream", engine.info.name);
    }

    #[test]
    fn what_is_counted_is_what_is_found() {
        let mut next = crate::forecast::random_numbers();
        for round in 0..3 {
            let text: Vec<u8> =
                (0..4000 + round).map(|_| b"aaAbB\0"[next() % [6, 3, 5][round]]).collect();
            let set = cut(&text, next() % 1000, round != 1);
            for engine in ENGINES {
                for device in 0..inventory().devices.len() {
                    check_count(engine, device, &set, &text);
                }
            }
        }
    }

    /// A forgotten entry would be dead code; a forgotten file would be nothing at all.
    #[test]
    fn every_file_is_an_entry_and_has_a_kernel() {
        let stems = |folder: &str, extension: &str| {
            let path = format!("{}/src/{folder}", env!("CARGO_MANIFEST_DIR"));
            let mut names: Vec<String> = std::fs::read_dir(path)
                .unwrap()
                .map(|e| e.unwrap().path())
                .filter(|p| p.extension().is_none_or(|e| e == extension))
                .map(|p| p.file_stem().unwrap().to_string_lossy().replace('_', "-"))
                .filter(|name| name.starts_with("gpu-"))
                .collect();
            names.sort();
            names
        };
        let mut names: Vec<_> = ENGINES.iter().map(|e| e.info.name.to_owned()).collect();
        names.sort();
        assert_eq!(stems("engine", "rs"), names);
        assert_eq!(stems("kernel", "cu"), names);
    }
}
