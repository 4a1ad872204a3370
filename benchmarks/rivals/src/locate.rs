//! Where to find the files of Hyperscan and Vectorscan.
//!
//! Both are named `libhs.so.5`, and distributions install only one of them. The other one is either
//! unpacked into `target/rivals/<name>` of the workspace by `benchmarks/rivals/install.sh`, or an
//! environment variable names its file.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::libhs::Library;
use crate::rival::Refusal;

/// A library, or why there is none.
pub(crate) type OpenedLibrary = Result<Arc<Library>, Refusal>;

/// The files to try: only the one that `variable` names if it is set, else the unpacked ones, then
/// those of the system's search path.
pub(crate) fn files(variable: &str, name: &str) -> Vec<PathBuf> {
    if let Some(file) = env::var_os(variable) {
        return vec![file.into()];
    }
    let mut files = unpacked(name);
    files.extend(["libhs.so.5", "libhs.so"].map(PathBuf::from));
    files
}

/// `target/rivals/<name>/usr/lib/<triple>/libhs.so.5` of the working directory and those above it.
fn unpacked(name: &str) -> Vec<PathBuf> {
    let Ok(here) = env::current_dir() else { return Vec::new() };
    let roots = here.ancestors().map(|a| a.join("target/rivals").join(name).join("usr/lib"));
    roots
        .flat_map(|lib| subfolders(&lib))
        .map(|dir| dir.join("libhs.so.5"))
        .filter(|f| f.exists())
        .collect()
}

fn subfolders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|e| e.path()).collect()
}

/// Hyperscan ended at 5.4.2, Vectorscan's releases since 2021 count on from 5.4.3.
pub(crate) fn is_vectorscan(version: &str) -> bool {
    let mut numbers = version.split([' ', '.']).map_while(|n| n.parse::<u32>().ok());
    let release = [(); 3].map(|()| numbers.next().unwrap_or(0));
    release >= [5, 4, 3]
}

/// Whether it is fyke's own libhs, which is no rival.
pub(crate) fn is_fyke(version: &str) -> bool {
    version.contains("fyke")
}

/// A refusal that says how to install the library.
pub(crate) fn advise(why: &Refusal, name: &str, variable: &str) -> Refusal {
    Refusal(format!(
        "no {name}: {why} (run benchmarks/rivals/install.sh, or set {variable} to its file)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_tell_the_libraries_apart() {
        assert!(!is_vectorscan("5.4.0 2021-01-26"));
        assert!(!is_vectorscan("5.4.2 2023-04-19"));
        assert!(is_vectorscan("5.4.9 2023-04-03"));
        assert!(is_vectorscan("5.4.12 2025-01-01"));
        assert!(is_fyke("5.4.0 fyke 0.1.0") && !is_fyke("5.4.0 2021-01-26"));
    }
}
