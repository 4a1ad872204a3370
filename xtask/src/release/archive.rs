//! The archive of the command, with what a packager installs beside it.

use super::parts::output;
use anyhow::{Context, Result, ensure};
use flate2::{Compression, GzBuilder};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use tar::{Builder, HeaderMode};

/// Documents of the repository in the archive.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Shells with completions, and the names of their files.
const SHELLS: [(&str, &str); 4] =
    [("bash", "fyke.bash"), ("zsh", "_fyke"), ("fish", "fyke.fish"), ("powershell", "_fyke.ps1")];

pub(super) fn check_documents() -> Result<()> {
    for document in DOCUMENTS {
        ensure!(Path::new(document).is_file(), "there is no {document} for the archive");
    }
    Ok(())
}

/// Writes `NAME.tar.gz` with a folder `NAME`.
pub(super) fn write(command: &Path, name: &str, folder: &Path) -> Result<()> {
    let staged = tempfile::tempdir()?;
    let root = staged.path().join(name);
    fs::create_dir(&root)?;
    fs::copy(command, root.join("fyke")).with_context(|| command.display().to_string())?;
    for document in DOCUMENTS {
        fs::copy(document, root.join(document)).context(document)?;
    }
    fs::create_dir(root.join("man"))?;
    output(Command::new(command).args(["generate", "man", "--folder"]).arg(root.join("man")))?;
    fs::create_dir(root.join("completions"))?;
    for (shell, file) in SHELLS {
        let text = output(Command::new(command).args(["generate", "completions", shell]))?;
        fs::write(root.join("completions").join(file), text)?;
    }
    let path = folder.join(format!("{name}.tar.gz"));
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    // Without times, so that the same files make the same archive.
    let mut archive = Builder::new(GzBuilder::new().mtime(0).write(file, Compression::best()));
    archive.mode(HeaderMode::Deterministic);
    append(&mut archive, &root, Path::new(name))?;
    archive.into_inner()?.finish()?;
    Ok(())
}

/// Adds a folder's files, by name.
fn append<W: std::io::Write>(archive: &mut Builder<W>, folder: &Path, inside: &Path) -> Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names = entries.collect::<Result<Vec<_>>>()?;
    names.sort();
    for name in names {
        let (path, inside) = (folder.join(&name), inside.join(&name));
        if path.is_dir() {
            append(archive, &path, &inside)?;
        } else {
            archive.append_path_with_name(&path, &inside)?;
        }
    }
    Ok(())
}
