//! The list of digests, as `sha256sum` writes it and checks it.

use super::error::ExtractError;
use super::writers::Sha256Digest;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The name of the list, in the folder of the files.
pub(super) const NAME: &str = "SHA256SUMS";

/// Writes the list. Computes the digests that are missing: those of files that existed.
pub(super) fn write(
    out: &Path,
    paths: &[PathBuf],
    digests: &mut [Option<Sha256Digest>],
    without: &HashSet<usize>,
) -> Result<(), ExtractError> {
    let temporary = out.join("SHA256SUMS.fyke-part");
    let write = || -> io::Result<()> {
        let mut list = BufWriter::new(File::create(&temporary)?);
        for (index, (path, digest)) in paths.iter().zip(digests).enumerate() {
            let full = out.join(path);
            if digest.is_none() && (!without.contains(&index) || full.exists()) {
                *digest = Some(digest_of(&full)?);
            }
            if let Some(digest) = digest {
                write_line(&mut list, digest, path)?;
            }
        }
        list.flush()?;
        drop(list);
        fs::rename(&temporary, out.join(NAME))
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&temporary);
        ExtractError::Manifest { path: out.join(NAME), source }
    })
}

fn digest_of(path: &Path) -> io::Result<Sha256Digest> {
    let mut hasher = Sha256::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// One line. A name with a backslash or a line feed is escaped, and its line begins with a
/// backslash.
fn write_line(list: &mut impl Write, digest: &Sha256Digest, path: &Path) -> io::Result<()> {
    let name = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let escaped = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    let mark = if escaped == name { "" } else { "\\" };
    write!(list, "{mark}")?;
    digest.iter().try_for_each(|byte| write!(list, "{byte:02x}"))?;
    writeln!(list, "  {escaped}")
}
