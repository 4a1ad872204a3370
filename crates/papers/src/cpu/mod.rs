//! The registry of the papers' CPU engines: a module line and a slice entry for each.

use fyke_core::Engine;

pub mod ac_array;
pub mod ac_bitmap1;
pub mod ac_bitmap2;
pub mod ac_bitmap3;
pub mod ac_oo;
pub mod ac_oo_compressed;
pub mod ac_packed;
pub mod ac_tuck;
pub mod bm;
pub mod bm_multi;
pub mod bm_set;
pub mod ebm;
pub mod kmp;
pub mod pfac;
pub mod wu_manber;

/// Every CPU engine of a paper.
pub static ENGINES: &[&dyn Engine] = &[
    &ac_array::ENGINE,
    &ac_bitmap1::ENGINE,
    &ac_bitmap2::ENGINE,
    &ac_bitmap3::ENGINE,
    &ac_oo::ENGINE,
    &ac_oo_compressed::ENGINE,
    &ac_packed::ENGINE,
    &ac_tuck::ENGINE,
    &bm::ENGINE,
    &bm_multi::ENGINE,
    &bm_set::ENGINE,
    &ebm::ENGINE,
    &kmp::ENGINE,
    &pfac::ENGINE,
    &wu_manber::ENGINE,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler reports a forgotten entry as dead code, but not a forgotten file.
    #[test]
    fn every_file_is_an_entry() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cpu");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().replace('_', "-"))
            .filter(|name| name != "mod")
            .collect();
        let mut names: Vec<_> = ENGINES.iter().map(|e| e.info().name.to_owned()).collect();
        files.sort();
        names.sort();
        assert_eq!(files, names);
    }
}
