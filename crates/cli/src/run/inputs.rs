//! What to scan: paths as given, folders walked, standard input.

use super::failure::Failure;
use anyhow::bail;
use fyke_io::source::walk;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Something to scan.
#[derive(Debug)]
pub(crate) enum Input {
    /// Standard input.
    Stdin,
    /// A file, device or FIFO.
    Path(PathBuf),
}

impl Input {
    /// The name to show.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Input::Stdin => Path::new("<stdin>"),
            Input::Path(path) => path,
        }
    }
}

/// The paths as given, or standard input if there are none and something is piped in.
pub(crate) fn paths(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    if io::stdin().is_terminal() {
        bail!("nothing to scan: name files or folders, or pipe data in");
    }
    Ok(vec![PathBuf::from("-")])
}

/// Bytes in all, if that is known: regular files, read as they are.
pub(crate) fn total(paths: &[PathBuf], decompress: bool) -> Option<u64> {
    let len = |path: &PathBuf| path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len());
    if decompress { None } else { paths.iter().map(len).sum() }
}

/// All inputs, folders walked as the scan gets there.
pub(crate) fn expand(
    paths: &[PathBuf],
    options: walk::Options,
) -> impl Iterator<Item = Result<Input, Failure>> {
    paths.iter().flat_map(move |path| -> Box<dyn Iterator<Item = _>> {
        if path.as_os_str() == "-" {
            return Box::new(std::iter::once(Ok(Input::Stdin)));
        }
        if !path.is_dir() {
            return Box::new(std::iter::once(Ok(Input::Path(path.clone()))));
        }
        Box::new(
            walk::walk(path, options).map(|file| file.map(Input::Path).map_err(Failure::reading)),
        )
    })
}
