//! The inputs of a scan: paths as given, the files of folders, standard input.

use super::failure::Failure;
use anyhow::bail;
use fyke_io::container::zip;
use fyke_io::source::walk;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One input.
#[derive(Debug)]
pub(crate) enum Input {
    /// Standard input.
    Stdin,
    /// A file, device or FIFO.
    Path(PathBuf),
    /// A member of a zip archive, by its index, with the name `ARCHIVE:MEMBER`.
    Member { archive: Arc<zip::Archive>, index: usize, name: PathBuf },
}

type Inputs<'a> = Box<dyn Iterator<Item = Result<Input, Failure>> + Send + 'a>;

impl Input {
    /// The name for messages and records.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Input::Stdin => Path::new("<stdin>"),
            Input::Path(path) | Input::Member { name: path, .. } => path,
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

/// Whether matches may come from several inputs, so that each needs its name.
pub(crate) fn are_several(paths: &[PathBuf], decompress: bool) -> bool {
    let is_archive = |path: &PathBuf| {
        let mut magic = Vec::new();
        let file = path.is_file().then(|| File::open(path).ok()).flatten();
        file.is_some_and(|f| f.take(4).read_to_end(&mut magic).is_ok()) && zip::is_archive(&magic)
    };
    paths.len() > 1 || paths.iter().any(|path| path.is_dir() || decompress && is_archive(path))
}

/// Total size in bytes, if every path is a regular file that is scanned without decompression.
pub(crate) fn total(paths: &[PathBuf], decompress: bool) -> Option<u64> {
    let len = |path: &PathBuf| path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len());
    if decompress { None } else { paths.iter().map(len).sum() }
}

/// Whether there is one input only.
pub(crate) fn is_one(paths: &[PathBuf], decompress: bool) -> bool {
    paths.len() == 1 && !are_several(paths, decompress)
}

/// All inputs. A folder is walked when the scan reaches it. With `decompress`, the members of zip
/// archives are inputs of their own.
pub(crate) fn expand(
    paths: &[PathBuf],
    options: walk::Options,
    decompress: bool,
) -> impl Iterator<Item = Result<Input, Failure>> + Send {
    paths.iter().flat_map(move |path| -> Inputs<'_> {
        if path.as_os_str() == "-" {
            return one(Ok(Input::Stdin));
        }
        if !path.is_dir() {
            return of_file(path.clone(), decompress);
        }
        Box::new(walk::walk(path, options).flat_map(move |file| match file {
            Ok(path) => of_file(path, decompress),
            Err(error) => one(Err(Failure::reading(error))),
        }))
    })
}

fn one(input: Result<Input, Failure>) -> Inputs<'static> {
    Box::new(std::iter::once(input))
}

/// A file, or the members of the archive that it is.
fn of_file(path: PathBuf, decompress: bool) -> Inputs<'static> {
    // Only a regular file is opened here: opening a FIFO waits for its writer.
    if !decompress || !path.is_file() {
        return one(Ok(Input::Path(path)));
    }
    match zip::Archive::at_path(&path) {
        Ok(Some(archive)) => members(&path, Arc::new(archive)),
        Ok(None) => one(Ok(Input::Path(path))),
        Err(error) => one(Err(Failure::reading(error).of(&path))),
    }
}

fn members(path: &Path, archive: Arc<zip::Archive>) -> Inputs<'static> {
    let path = path.as_os_str().to_owned();
    Box::new((0..archive.members().len()).map(move |index| {
        let mut name = path.clone();
        name.push(":");
        name.push(&*String::from_utf8_lossy(archive.members()[index].name()));
        Ok(Input::Member { archive: Arc::clone(&archive), index, name: name.into() })
    }))
}
