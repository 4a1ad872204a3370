//! The inputs of a scan: paths as given, the files of folders, standard input.

use super::failure::Failure;
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

/// Stands for the current folder where no path was given: paths in it are printed without `./`.
const CURRENT: &str = "";

/// The paths as given; without any, standard input, or the current folder if that is a terminal.
pub(crate) fn paths(given: &[PathBuf]) -> Vec<PathBuf> {
    match given {
        [] if io::stdin().is_terminal() => vec![PathBuf::from(CURRENT)],
        [] => vec![PathBuf::from("-")],
        given => given.to_vec(),
    }
}

/// Whether the files of a folder are scanned.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.as_os_str() == CURRENT || path.is_dir()
}

/// Total size in bytes, if every path is a regular file that is scanned without decompression.
pub(crate) fn total(paths: &[PathBuf], decompress: bool) -> Option<u64> {
    let len = |path: &PathBuf| path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len());
    if decompress { None } else { paths.iter().map(len).sum() }
}

/// All inputs. A folder is walked when the scan reaches it.
pub(crate) fn expand(
    paths: &[PathBuf],
    options: &walk::Options,
) -> impl Iterator<Item = Result<Input, Failure>> {
    paths.iter().flat_map(move |path| -> Box<dyn Iterator<Item = _>> {
        if path.as_os_str() == "-" {
            return Box::new(std::iter::once(Ok(Input::Stdin)));
        }
        if path.as_os_str() == CURRENT {
            return Box::new(walk_folder(Path::new("./"), options).map(|file| {
                let short = |p: PathBuf| p.strip_prefix("./").map(Path::to_owned).unwrap_or(p);
                file.map(|path| Input::Path(short(path)))
            }));
        }
        if !path.is_dir() {
            return Box::new(std::iter::once(Ok(Input::Path(path.clone()))));
        }
        Box::new(walk_folder(path, options).map(|file| file.map(Input::Path)))
    })
}

fn walk_folder(
    folder: &Path,
    options: &walk::Options,
) -> impl Iterator<Item = Result<PathBuf, Failure>> + use<> {
    walk::walk(folder, options).map(|file| file.map_err(Failure::reading))
}
