//! The inputs of a scan: paths as given, the files of folders, standard input.

use super::failure::Failure;
use anyhow::bail;
use fyke_io::source::walk;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// One input.
#[derive(Debug)]
pub(crate) enum Input {
    /// Standard input.
    Stdin,
    /// A file, device or FIFO.
    Path(PathBuf),
}

impl Input {
    /// The name for messages and records.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Input::Stdin => Path::new("<stdin>"),
            Input::Path(path) => path,
        }
    }
}

/// The paths as given; without any, standard input unless it is a terminal.
pub(crate) fn paths(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    if io::stdin().is_terminal() {
        bail!("no input: give files or folders, or pipe data into standard input");
    }
    Ok(vec![PathBuf::from("-")])
}

/// Total size in bytes, if every path is a regular file that is scanned without decompression.
pub(crate) fn total(paths: &[PathBuf], decompress: bool) -> Option<u64> {
    let len = |path: &PathBuf| path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len());
    if decompress { None } else { paths.iter().map(len).sum() }
}

/// Whether there is one input only.
pub(crate) fn is_one(paths: &[PathBuf]) -> bool {
    matches!(paths, [path] if !path.is_dir())
}

/// All inputs. A folder is walked when the scan reaches it.
pub(crate) fn expand(
    paths: &[PathBuf],
    options: walk::Options,
) -> impl Iterator<Item = Result<Input, Failure>> + Send {
    paths.iter().flat_map(move |path| -> Box<dyn Iterator<Item = _> + Send> {
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
