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
    use fyke_testkit::registry::check_files;

    #[test]
    fn every_file_is_an_entry() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cpu");
        check_files(ENGINES.iter().map(|e| e.info().name), folder, "rs", "");
    }
}
