//! A database of a scan, opened: what all verbs that read one need.

use super::scan::folder;
use crate::warning;
use fyke_carve::database::{Database, Run};
use fyke_carve::layout::{Layout, LayoutOptions};
use fyke_carve::{CarvedFile, Image, RuleSet, image};
use std::path::{Path, PathBuf};

/// A database with its parts that every verb uses.
pub(super) struct OpenDatabase {
    pub(super) database: Database,
    pub(super) run: Run,
    pub(super) rules: RuleSet,
    pub(super) files: Vec<CarvedFile>,
}

impl OpenDatabase {
    /// Opens a database, or that of the output folder of a scan. If the scan was of several images,
    /// says where the others' databases are.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let is_folder = path.is_dir();
        let path = match is_folder {
            true => path.join(fyke_carve::database::FILE_NAME),
            false => path.to_owned(),
        };
        let second = path.with_file_name(folder::database_name(1));
        if path.ends_with(fyke_carve::database::FILE_NAME) && second.exists() {
            warning::print(format_args!(
                "note: {} is of the first image; {} and so on are of the others",
                path.display(),
                second.display()
            ));
        }
        if is_folder && !path.exists() {
            anyhow::bail!(
                "{} does not exist: `fyke carve scan -o FOLDER IMAGE` writes it, a carve without \
                 a verb does not",
                path.display()
            );
        }
        let database = Database::open(&path)?;
        let (run, rules, files) = (database.run()?, database.rules()?, database.files()?);
        Ok(Self { database, run, rules, files })
    }

    /// The path of each file below the folder of carved files, named as the scan was paired.
    pub(super) fn paths(&self, options: LayoutOptions) -> Vec<PathBuf> {
        let options = LayoutOptions { compat: self.run.pair_options().compat, ..options };
        let mut layout = Layout::new(&self.rules, options).behind(self.run.earlier_files());
        self.files.iter().map(|file| layout.path(file)).collect()
    }

    /// Opens the image that was scanned, at `moved` if it was moved. Its length must be the same.
    pub(super) fn open_image(&self, moved: Option<&Path>) -> anyhow::Result<Box<dyn Image>> {
        let path = moved.unwrap_or(Path::new(&self.run.image));
        let image = match image::open(path) {
            Err(error) if moved.is_none() => {
                return Err(anyhow::Error::new(error).context(
                    "the image is not where it was; if it was moved, name it with --image",
                ));
            }
            other => other?,
        };
        anyhow::ensure!(
            image.len() == self.run.image_len,
            "{} has {} bytes, but the image that was scanned had {}: it is another image",
            path.display(),
            image.len(),
            self.run.image_len
        );
        Ok(image)
    }
}
