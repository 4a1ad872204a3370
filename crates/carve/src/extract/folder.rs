//! Where extracted files go: a folder, behind a trait so that tests can fill it up.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder that files are written to. A file has a temporary name until it is complete.
pub(super) trait Folder {
    /// A file that is open for writing.
    type File: Write;

    /// Begins a file. Creates its folder if that does not exist.
    fn create(&mut self, path: &Path) -> io::Result<Self::File>;

    /// Opens a file that was begun, to go on at its end.
    fn reopen(&mut self, path: &Path) -> io::Result<Self::File>;

    /// Gives a complete file its name.
    fn finish(&mut self, path: &Path) -> io::Result<()>;

    /// Removes a file that was begun.
    fn discard(&mut self, path: &Path);

    /// Writes a whole file at once.
    fn put(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
}

/// A folder of the file system.
pub(super) struct Disk {
    root: PathBuf,
    /// The subfolders that exist.
    created: HashSet<PathBuf>,
}

impl Disk {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), created: HashSet::new() }
    }

    fn create_parent(&mut self, path: &Path) -> io::Result<()> {
        let parent = path.parent().unwrap_or(Path::new(""));
        if !self.created.contains(parent) {
            fs::create_dir_all(self.root.join(parent))?;
            self.created.insert(parent.to_owned());
        }
        Ok(())
    }

    /// Writes a file in the place of another one.
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let written = self.create(path).and_then(|mut file| file.write_all(bytes));
        let written = written.and_then(|()| self.finish(path));
        written.inspect_err(|_| self.discard(path))
    }

    fn temporary(&self, path: &Path) -> PathBuf {
        let mut name = self.root.join(path).into_os_string();
        name.push(".fyke-part");
        PathBuf::from(name)
    }
}

impl Folder for Disk {
    type File = File;

    fn create(&mut self, path: &Path) -> io::Result<File> {
        self.create_parent(path)?;
        let temporary = self.temporary(path);
        let create = || OpenOptions::new().write(true).create_new(true).open(&temporary);
        match create() {
            // A run that was killed left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&temporary)?;
                create()
            }
            other => other,
        }
    }

    fn reopen(&mut self, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).open(self.temporary(path))
    }

    fn finish(&mut self, path: &Path) -> io::Result<()> {
        fs::rename(self.temporary(path), self.root.join(path))
    }

    fn discard(&mut self, path: &Path) {
        // The error that led here is the one to report.
        let _ = fs::remove_file(self.temporary(path));
    }

    /// Needs no temporary name, because one call writes all bytes. Renaming a file costs as much as
    /// writing it.
    fn put(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.create_parent(path)?;
        let place = self.root.join(path);
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&place) {
            // It may be complete: it stays until the new one is.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return self.replace(path, bytes);
            }
            other => other?,
        };
        file.write_all(bytes).inspect_err(|_| {
            // The error of the write is the one to report.
            let _ = fs::remove_file(&place);
        })
    }
}
