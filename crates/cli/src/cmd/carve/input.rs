//! What is carved: an image, or standard input.

use anyhow::{bail, ensure};
use fyke_carve::{Image, image};
use std::path::{Path, PathBuf};

/// An image, or standard input.
pub(super) enum Input {
    Image(Box<dyn Image>),
    Stdin,
}

impl Input {
    /// Opens an image; the path `-` means standard input.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        match path.as_os_str() == "-" {
            true => Ok(Self::Stdin),
            false => Ok(Self::Image(image::open(path)?)),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.image().map_or("-", |image| image.name())
    }

    /// None for standard input.
    pub(super) fn image(&self) -> Option<&dyn Image> {
        match self {
            Self::Image(image) => Some(&**image),
            Self::Stdin => None,
        }
    }

    /// The length of the image. None for standard input.
    pub(super) fn len(&self) -> Option<u64> {
        self.image().map(|image| image.len())
    }

    /// Refuses an offset after the end of the image.
    pub(super) fn must_reach(&self, flag: &str, offset: u64) -> anyhow::Result<()> {
        let len = self.len().unwrap_or(u64::MAX);
        ensure!(
            offset <= len,
            "{flag} {offset} is after the end of {}, which has {len} bytes",
            self.name()
        );
        Ok(())
    }
}

/// Refuses to read standard input twice.
pub(super) fn must_name_stdin_once(paths: &[PathBuf]) -> anyhow::Result<()> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        bail!("standard input can be read once: give `-` once");
    }
    Ok(())
}
