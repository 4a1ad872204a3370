//! The two libraries.

use std::env;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use fyke_rivals::hyperscan;
use fyke_rivals::libhs::Library;

/// An open library and its name in tables.
pub(super) struct Named {
    /// `ours` or `theirs`.
    pub name: &'static str,
    /// The library.
    pub library: Arc<Library>,
}

impl Named {
    /// Version and file.
    pub(super) fn describe(&self) -> String {
        format!("{} ({})", self.library.version(), self.library.file().display())
    }
}

/// Ours, then theirs.
pub(super) struct Libraries(pub [Named; 2]);

impl Libraries {
    /// Opens both.
    ///
    /// # Errors
    /// One of them is not there; the error says how to get it.
    pub(super) fn open(ours: Option<&Path>, theirs: Option<&Path>) -> Result<Self> {
        let ours = match ours {
            Some(file) => file.to_path_buf(),
            None => beside(&env::current_exe().context("this program has no file")?)?,
        };
        check("--ours", &ours)?;
        theirs.map_or(Ok(()), |file| check("--theirs", file))?;
        // Theirs comes first: once ours is loaded, its soname would stand for the system's.
        let theirs = match theirs {
            Some(file) => open_file(file)?,
            None => hyperscan::open()?,
        };
        let ours = open_file(&ours)?;
        if !ours.version().contains("fyke") {
            bail!("{} is version {}, not fyke's", ours.file().display(), ours.version());
        }
        Ok(Self(
            [("ours", ours), ("theirs", theirs)].map(|(name, library)| Named { name, library }),
        ))
    }
}

/// The error of the loader would not say that there is no file.
fn check(option: &str, file: &Path) -> Result<()> {
    ensure!(file.is_file(), "{option} {}: there is no such file", file.display());
    Ok(())
}

fn open_file(file: &Path) -> Result<Arc<Library>> {
    // A name without a slash would be searched for in the folders of the system.
    let file = std::path::absolute(file)?;
    Ok(Arc::new(Library::open(&[file], |_| true)?))
}

/// Our library in the folder of a program.
fn beside(program: &Path) -> Result<PathBuf> {
    let name = format!("{DLL_PREFIX}fyke_hs{DLL_SUFFIX}");
    let file = program.with_file_name(name);
    ensure!(
        file.is_file(),
        "there is no {}: build it with `cargo build --release -p fyke-hs`, or name another with \
         --ours FILE",
        file.display()
    );
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_was_not_built_is_named_with_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("fyke");
        let why = beside(&program).unwrap_err().to_string();
        assert!(
            why.contains("cargo build --release -p fyke-hs") && why.contains("--ours"),
            "{why}"
        );
        let file = folder.path().join(format!("{DLL_PREFIX}fyke_hs{DLL_SUFFIX}"));
        std::fs::write(&file, "").unwrap();
        assert_eq!(beside(&program).unwrap(), file);
    }
}
