//! The registry of GPU engines: a module line and a slice entry each, nothing else.

use crate::matcher::GpuEngine;

pub mod gpu_dfa;
pub mod gpu_filter;

/// Every GPU engine.
pub static ENGINES: &[&GpuEngine] = &[&gpu_dfa::ENGINE, &gpu_filter::ENGINE];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::inventory;
    use fyke_core::Engine;
    use fyke_testkit::counting;

    #[test]
    fn what_is_counted_is_what_is_found() {
        let devices = inventory().devices.len();
        counting::check(ENGINES.iter().map(|e| *e as &dyn Engine), devices);
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
