//! Where extracted files go: a folder, behind a trait so that tests can fill it up.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder that files are written to. A file has a temporary name until it is complete.
pub(super) trait Folder {
    /// A file that is open for writing.
    type File: Write;

    /// Begins a file, in a folder that is created with it.
    fn create(&mut self, path: &Path) -> io::Result<Self::File>;

    /// Opens a file that was begun, to go on at its end.
    fn reopen(&mut self, path: &Path) -> io::Result<Self::File>;

    /// Gives a complete file its name.
    fn finish(&mut self, path: &Path) -> io::Result<()>;

    /// Removes a file that was begun.
    fn discard(&mut self, path: &Path);
}

/// A folder of the file system.
pub(super) struct Disk {
    root: PathBuf,
    /// The subfolder that was created last: files come in runs of one subfolder.
    created: PathBuf,
}

impl Disk {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), created: PathBuf::new() }
    }

    fn create_parent(&mut self, path: &Path) -> io::Result<()> {
        let parent = path.parent().unwrap_or(Path::new(""));
        if self.created != parent || parent.as_os_str().is_empty() {
            fs::create_dir_all(self.root.join(parent))?;
            self.created = parent.to_owned();
        }
        Ok(())
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
}
