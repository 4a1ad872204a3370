//! The files of a folder and its subfolders.
//!
//! fyke scans data and not only source trees, so hidden files are included and `.gitignore` is
//! ignored by default. Symbolic links are followed only on request, and never in a loop. Only
//! regular files are returned: a FIFO would block until it has a writer.

use std::io;
use std::path::{Path, PathBuf};

pub use super::selection::{Selection, types};

/// How to walk a folder. By default all files are included and no links are followed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Follow symbolic links.
    pub follow: bool,
    /// Skip what `.gitignore`, `.ignore` and git's exclude files name.
    pub gitignore: bool,
    /// The order of the files.
    pub order: Order,
    /// Skip hidden files and folders.
    pub no_hidden: bool,
    /// The files to select by path and type.
    pub selection: Selection,
}

/// The order of the files of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By path, so that results are reproducible.
    #[default]
    Path,
    /// As the file system lists them.
    Unsorted,
}

/// Walks a folder.
///
/// A folder or file that cannot be read gives an error with its path in the message, and the walk
/// continues.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join(".hidden"), "x")?;
/// let files: Vec<_> = fyke_io::source::walk::walk(folder.path(), &Default::default()).collect();
/// assert_eq!(files.len(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn walk(folder: &Path, options: &Options) -> impl Iterator<Item = io::Result<PathBuf>> + use<> {
    let mut walk = ignore::WalkBuilder::new(folder);
    options.selection.apply(&mut walk);
    let follow = options.follow;
    walk.standard_filters(options.gitignore)
        .hidden(options.no_hidden)
        .require_git(false)
        .follow_links(options.follow);
    if options.order == Order::Path {
        // Within a folder all paths have the same start, so their order is that of the names.
        walk.sort_by_file_path(|a, b| a.as_os_str().cmp(b.as_os_str()));
    }
    walk.build().filter_map(move |entry| match entry {
        Ok(entry) => is_file(&entry, follow).then(|| Ok(entry.into_path())),
        Err(error) => Some(Err(io::Error::other(error.to_string()))),
    })
}

fn is_file(entry: &ignore::DirEntry, follow: bool) -> bool {
    let Some(kind) = entry.file_type() else { return false };
    kind.is_file() || follow && kind.is_symlink() && entry.path().is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The paths in a folder, with slashes on every system.
    fn names(folder: &Path, options: Options) -> Vec<String> {
        let name = |path: io::Result<PathBuf>| {
            let path = path.unwrap();
            path.strip_prefix(folder).unwrap().display().to_string().replace('\\', "/")
        };
        walk(folder, &options).map(name).collect()
    }

    #[test]
    fn everything_in_order_and_gitignore_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("b/.c")).unwrap();
        for (name, text) in [("z", ""), ("a.log", ""), ("b/.c/d", ""), (".gitignore", "*.log\n")] {
            fs::write(root.join(name), text).unwrap();
        }
        assert_eq!(names(root, Options::default()), [".gitignore", "a.log", "b/.c/d", "z"]);
        let options = Options { gitignore: true, ..Options::default() };
        assert_eq!(names(root, options), [".gitignore", "b/.c/d", "z"]);
        let mut unsorted = names(root, Options { order: Order::Unsorted, ..Options::default() });
        unsorted.sort();
        assert_eq!(unsorted, names(root, Options::default()));
    }

    #[test]
    fn the_order_is_that_of_paths() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/x", "a.b/x", "a-b", "ab", "b/c/d", "b/c.d"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let files: Vec<_> =
            walk(folder.path(), &Options::default()).collect::<Result<_, _>>().unwrap();
        assert_eq!(files.len(), 6);
        assert!(files.is_sorted());
    }

    #[test]
    fn globs_types_and_hidden_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("b/.c")).unwrap();
        for name in ["a.rs", "b/x.log", "b/y.rs", "b/.c/z.rs"] {
            fs::write(root.join(name), "").unwrap();
        }
        let with = |globs: &[&str], types: &[&str], not: &[&str]| {
            let mut selection = Selection::default();
            selection.globs(globs).unwrap();
            selection.types(types, not).unwrap();
            names(root, Options { selection, ..Options::default() })
        };
        assert_eq!(with(&["*.rs"], &[], &[]), ["a.rs", "b/.c/z.rs", "b/y.rs"]);
        assert_eq!(with(&["!*.rs"], &[], &[]), ["b/x.log"]);
        assert_eq!(with(&["!b/"], &[], &[]), ["a.rs"]);
        assert_eq!(with(&[], &["log"], &[]), ["b/x.log"]);
        assert_eq!(with(&[], &[], &["rust"]), ["b/x.log"]);
        let options = Options { no_hidden: true, ..Options::default() };
        assert_eq!(names(root, options), ["a.rs", "b/x.log", "b/y.rs"]);
        assert!(Selection::default().types(&["no such type"], &[]).is_err());
        assert!(Selection::default().globs(&["{"]).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_and_never_in_circles() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("sub/f"), "x").unwrap();
        std::os::unix::fs::symlink(root, root.join("sub/loop")).unwrap();
        std::os::unix::fs::symlink(root.join("sub/f"), root.join("link")).unwrap();
        assert_eq!(names(root, Options::default()), ["sub/f"]);
        let options = Options { follow: true, ..Options::default() };
        let found: Vec<_> = walk(root, &options).collect();
        assert_eq!(found.iter().filter(|f| f.is_ok()).count(), 2);
        assert!(found.iter().any(|f| f.as_ref().is_err_and(|e| e.to_string().contains("loop"))));
    }
}
