//! The registry of GPU engines: a module line and a slice entry each, nothing else.

use crate::matcher::GpuEngine;

pub mod gpu_ac0;
pub mod gpu_ac1;
pub mod gpu_ac2;
pub mod gpu_ac3;
pub mod gpu_ac4;
pub mod gpu_ac_global;
pub mod gpu_ac_shared;
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
