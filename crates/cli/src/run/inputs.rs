//! The inputs of a scan: paths as given, the files of folders, standard input.

use super::failure::Failure;
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

/// Whether matches may come from several inputs, so that each needs its name.
pub(crate) fn are_several(paths: &[PathBuf], decompress: bool) -> bool {
    let is_archive = |path: &PathBuf| {
        let mut magic = Vec::new();
        let file = path.is_file().then(|| File::open(path).ok()).flatten();
        file.is_some_and(|f| f.take(4).read_to_end(&mut magic).is_ok()) && zip::is_archive(&magic)
    };
    paths.len() > 1 || paths.iter().any(|path| is_folder(path) || decompress && is_archive(path))
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
    options: &walk::Options,
    decompress: bool,
) -> impl Iterator<Item = Result<Input, Failure>> + Send {
    paths.iter().flat_map(move |path| -> Inputs<'_> {
        if path.as_os_str() == "-" {
            return one(Ok(Input::Stdin));
        }
        if is_folder(path) {
            return walked(path, options, decompress);
        }
        of_file(path.clone(), decompress)
    })
}

/// The files of a folder.
fn walked(folder: &Path, options: &walk::Options, decompress: bool) -> Inputs<'static> {
    let is_current = folder.as_os_str() == CURRENT;
    let folder = if is_current { Path::new("./") } else { folder };
    let short = move |path: PathBuf| match path.strip_prefix("./") {
        Ok(short) if is_current => short.to_owned(),
        _ => path,
    };
    Box::new(walk::walk(folder, options).flat_map(move |file| match file {
        Ok(path) => of_file(short(path), decompress),
        Err(error) => one(Err(Failure::reading(error))),
    }))
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
