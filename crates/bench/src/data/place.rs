//! Where files are: definitions and lists of corpora in `benchmarks/`, data in a few folders.
//!
//! No path is compiled in: the workspace is the nearest folder above the working directory that has
//! `benchmarks/definitions`, unless an option names another.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folders that a run reads.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder `benchmarks`.
    pub benchmarks: PathBuf,
    /// Folders that may hold data, best first.
    pub data: Vec<PathBuf>,
}

impl Place {
    /// Finds the folders. `benchmarks` and `data`, if given, are taken without a search.
    ///
    /// # Errors
    /// No folder above the working directory has `benchmarks/definitions`.
    pub fn find(benchmarks: Option<&Path>, data: Option<&Path>) -> Result<Self> {
        let benchmarks = match benchmarks {
            Some(folder) => folder.to_path_buf(),
            None => find_benchmarks()?,
        };
        let absolute = std::path::absolute(&benchmarks)?;
        let root = absolute.parent().unwrap_or(Path::new("/"));
        let named =
            data.map(Path::to_path_buf).or_else(|| env::var_os("FYKE_DATA").map(Into::into));
        let beside = [root.join("../shared/data"), root.join("data")];
        Ok(Self { benchmarks, data: named.into_iter().chain(beside).collect() })
    }

    /// The first of `names` that is a file of a data folder, in the order of the folders.
    pub fn data_file(&self, names: &[String]) -> Option<PathBuf> {
        let in_folder =
            |folder: &PathBuf| names.iter().map(|n| folder.join(n)).find(|file| file.is_file());
        self.data.iter().find_map(in_folder)
    }

    /// The data folders, for messages.
    pub fn data_folders(&self) -> String {
        let names: Vec<String> = self.data.iter().map(|d| d.display().to_string()).collect();
        names.join(", ")
    }
}

fn find_benchmarks() -> Result<PathBuf> {
    let here = env::current_dir().context("there is no working directory")?;
    let mut folders = here.ancestors().map(|a| a.join("benchmarks"));
    folders.find(|b| b.join("definitions").is_dir()).with_context(|| {
        format!(
            "`fyke bench` needs the source tree of fyke: there is no benchmarks/definitions in {} or \
             above; run it inside a clone, or give the folder with --benchmarks DIR",
            here.display()
        )
    })
}
