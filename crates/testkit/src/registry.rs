//! Compares a registry with the files of its engines and kernels.

use std::fs;
use std::path::Path;

/// Compares engines with the files and folders in `folder` whose names begin with `prefix`: an
/// engine without an entry would be dead code, and an undeclared file would not even be compiled.
///
/// # Panics
/// They differ, or there is no engine.
pub fn check_files(
    engines: impl Iterator<Item = &'static str>,
    folder: impl AsRef<Path>,
    extension: &str,
    prefix: &str,
) {
    let mut engines: Vec<&str> = engines.collect();
    engines.sort_unstable();
    assert!(!engines.is_empty(), "a registry has engines");
    assert_eq!(names(folder.as_ref(), extension, prefix), engines);
}

/// The names that the files and folders stand for.
fn names(folder: &Path, extension: &str, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|e| e == extension))
        .map(|path| path.file_stem().unwrap().to_string_lossy().replace('_', "-"))
        .filter(|name| name != "mod" && name.starts_with(prefix))
        .collect();
    names.sort();
    names
}

/// Checks that each kernel of a folder of PTX stands alone when it is cut out of its file. `cut`
/// returns the names of the kernels in a text, each with its own text.
///
/// # Panics
/// A kernel does not, or there are fewer than `least`.
pub fn check_kernels(
    folder: impl AsRef<Path>,
    least: usize,
    cut: impl Fn(&'static str) -> Vec<(&'static str, String)>,
) {
    let mut kernels = 0;
    for file in fs::read_dir(folder).unwrap() {
        let ptx: &'static str = fs::read_to_string(file.unwrap().path()).unwrap().leak();
        assert!(!ptx.contains(".func "), "all functions are inlined");
        for (name, one) in cut(ptx) {
            assert_eq!(one.matches(".entry ").count(), 1, "{name}");
            assert!(one.contains(&format!(".entry {name}(")) && one.contains(".target "));
            kernels += 1;
        }
    }
    assert!(kernels >= least, "{kernels} kernels");
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

    #[test]
    fn a_forgotten_entry_is_found() {
        check_files(["share", "strategies", "subject"].into_iter(), FOLDER, "rs", "s");
        let one = || check_files(["subject"].into_iter(), FOLDER, "rs", "s");
        assert!(std::panic::catch_unwind(one).is_err());
        let none = || check_files(std::iter::empty(), FOLDER, "rs", "no such prefix");
        assert!(std::panic::catch_unwind(none).is_err());
    }
}
