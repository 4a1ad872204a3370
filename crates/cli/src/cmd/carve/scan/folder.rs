//! The folder of a result: what may be in it before, and the names of its files.

use anyhow::{Context, bail};
use fyke_carve::pipeline::JournalOptions;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What to do about a folder that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cmd::carve) enum Present {
    Refuse,
    Replace,
    Resume,
}

impl Present {
    /// What the flags say.
    pub(in crate::cmd::carve) fn of(force: bool, resume: bool) -> Self {
        match (force, resume) {
            (true, _) => Self::Replace,
            (false, true) => Self::Resume,
            (false, false) => Self::Refuse,
        }
    }
}

/// A folder to write to.
#[derive(Debug)]
pub(in crate::cmd::carve) struct OutputFolder {
    path: PathBuf,
    resume: bool,
}

impl OutputFolder {
    /// Makes the folder, unless it is there and may be written to.
    pub(in crate::cmd::carve) fn open(path: &Path, present: Present) -> anyhow::Result<Self> {
        let folder = Self { path: path.to_owned(), resume: present == Present::Resume };
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        let mut entries = path
            .read_dir()
            .with_context(|| format!("cannot read the folder {}", path.display()))?;
        if present == Present::Refuse && entries.next().is_some() {
            let shown = path.display();
            if folder.journal_path(0).exists() {
                bail!(
                    "{shown} has an interrupted scan: give --resume to go on, or --force to start again"
                );
            }
            bail!("the folder {shown} is not empty: give another one, or --force to write to it");
        }
        Ok(folder)
    }

    /// Removes the results that an earlier run left for the first `images` images: they would be
    /// taken for parts of this run.
    pub(super) fn clear(&self, images: usize) -> anyhow::Result<()> {
        let files = |image| [self.database(image), self.list(image), self.journal_path(image)];
        let mut paths = (0..images).flat_map(files);
        paths.try_for_each(|path| remove(&path))
    }

    /// The database of an image, counted from 0.
    pub(super) fn database(&self, image: usize) -> PathBuf {
        self.path.join(database_name(image))
    }

    /// The list of the files of an image, counted from 0.
    pub(super) fn list(&self, image: usize) -> PathBuf {
        self.path.join(numbered("carve", image, "csv"))
    }

    /// The journal of an image, counted from 0.
    pub(super) fn journal(&self, image: usize) -> JournalOptions {
        JournalOptions { path: self.journal_path(image), resume: self.resume }
    }

    fn journal_path(&self, image: usize) -> PathBuf {
        self.path.join(numbered("carve", image, "journal"))
    }

    /// Removes the journal of an image whose result was written.
    pub(super) fn remove_journal(&self, image: usize) -> anyhow::Result<()> {
        remove(&self.journal_path(image))
    }
}

/// Removes a file that may not be there.
fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("cannot remove {}", path.display())),
    }
}

/// The name of the database of an image, counted from 0.
pub(in crate::cmd::carve) fn database_name(image: usize) -> String {
    numbered("carve", image, "db")
}

/// `carve.db` for the first image, `carve-2.db` for the second.
fn numbered(stem: &str, image: usize, extension: &str) -> String {
    match image {
        0 => format!("{stem}.{extension}"),
        _ => format!("{stem}-{}.{extension}", image + 1),
    }
}

/// The command line of this process with `--resume` instead of `--force`, for a shell.
pub(in crate::cmd::carve) fn command_to_resume() -> String {
    let args: Vec<_> = std::env::args_os().collect();
    resuming(&args)
}

fn resuming<S: AsRef<OsStr>>(args: &[S]) -> String {
    let kept = args.iter().map(AsRef::as_ref).filter(|arg| *arg != "--force" && *arg != "--resume");
    let mut words: Vec<String> = kept.map(|arg| quoted(&arg.to_string_lossy())).collect();
    let at = words.iter().position(|word| word == "scan").map_or(words.len(), |at| at + 1);
    words.insert(at, "--resume".to_owned());
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_resume_is_for_a_shell() {
        let line = resuming(&["fyke", "carve", "scan", "--force", "-c", "my rules", "it's"]);
        assert_eq!(line, r"fyke carve scan --resume -c 'my rules' 'it'\''s'");
    }

    #[test]
    fn a_folder_that_is_not_empty_is_refused_unless_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        assert!(OutputFolder::open(folder.path(), Present::Refuse).is_ok());
        fs::write(folder.path().join("x"), "").unwrap();
        let error = OutputFolder::open(folder.path(), Present::Refuse).unwrap_err().to_string();
        assert!(error.contains("not empty") && error.contains("--force"), "{error}");
        fs::write(folder.path().join("carve.journal"), "").unwrap();
        let error = OutputFolder::open(folder.path(), Present::Refuse).unwrap_err().to_string();
        assert!(error.contains("--resume"), "{error}");
        assert!(OutputFolder::open(folder.path(), Present::Replace).is_ok());
        assert!(OutputFolder::open(folder.path(), Present::Resume).is_ok());
    }
}
