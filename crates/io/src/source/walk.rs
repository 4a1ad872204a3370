//! The files of a folder and of the folders in it.
//!
//! This is a tool for data, not for source trees: hidden files count, and `.gitignore` is looked at only
//! when asked for. Symbolic links are not followed unless asked for, and then never in circles. Only
//! regular files are given: a FIFO in a folder would wait for a writer for ever.

use std::io;
use std::path::{Path, PathBuf};

/// How to walk. The default takes everything that is there, and follows no links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Follow symbolic links.
    pub follow: bool,
    /// Leave out what `.gitignore`, `.ignore` and git's own excludes name.
    pub gitignore: bool,
}

/// Walks a folder; files come in the order of their paths, so that a result can be repeated.
///
/// A folder or file that cannot be read is given as an error, with its path in the message, and the
/// walk goes on.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join(".hidden"), "x")?;
/// let files: Vec<_> = fyke_io::source::walk::walk(folder.path(), Default::default()).collect();
/// assert_eq!(files.len(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn walk(folder: &Path, options: Options) -> impl Iterator<Item = io::Result<PathBuf>> + use<> {
    let entries = ignore::WalkBuilder::new(folder)
        .standard_filters(options.gitignore)
        .hidden(false)
        .require_git(false)
        .follow_links(options.follow)
        .sort_by_file_path(Path::cmp)
        .build();
    entries.filter_map(move |entry| match entry {
        Ok(entry) => is_file(&entry, options).then(|| Ok(entry.into_path())),
        Err(error) => Some(Err(io::Error::other(error.to_string()))),
    })
}

fn is_file(entry: &ignore::DirEntry, options: Options) -> bool {
    let Some(kind) = entry.file_type() else { return false };
    kind.is_file() || options.follow && kind.is_symlink() && entry.path().is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path, options: Options) -> Vec<String> {
        let name =
            |p: io::Result<PathBuf>| p.unwrap().strip_prefix(folder).unwrap().display().to_string();
        walk(folder, options).map(name).collect()
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
        let found: Vec<_> = walk(root, options).collect();
        assert_eq!(found.iter().filter(|f| f.is_ok()).count(), 2);
        assert!(found.iter().any(|f| f.as_ref().is_err_and(|e| e.to_string().contains("loop"))));
    }
}
