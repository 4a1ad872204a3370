//! What is scanned.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::args::SharedArgs;
use crate::data::packed;
use crate::data::sources::Sources;
use crate::data::sum::sha256;

/// The corpus that is scanned if no file is named.
const CORPUS: &str = "captures";

/// Files, and how they are cut.
pub(super) struct Haystacks {
    /// Their names.
    pub names: String,
    /// Their bytes. There is at least one, and none is empty.
    pub files: Vec<Vec<u8>>,
    /// Bytes of a packet or a chunk.
    pub call: usize,
    /// SHA-256 of all bytes.
    pub sha256: String,
}

impl Haystacks {
    /// Reads files, or the captures of the repository if there are none.
    ///
    /// # Errors
    /// A file cannot be read or is empty, or there is no repository.
    pub(super) fn read(files: &[PathBuf], call: usize, args: &SharedArgs) -> Result<Self> {
        if files.is_empty() {
            let why = || format!("no HAYSTACK is named, and the corpus {CORPUS} is not there");
            let place = args.place().with_context(why)?;
            let corpus = Sources::open(place)?.corpus(CORPUS).with_context(why)?;
            return Ok(Self::new(CORPUS.into(), vec![corpus.to_vec()], call));
        }
        let mut all = Vec::new();
        for file in files {
            let name = || format!("haystack {}", file.display());
            let bytes = packed::read(file).with_context(name)?;
            ensure!(!bytes.is_empty(), "{} is empty", name());
            all.push(bytes);
        }
        let name = |f: &PathBuf| f.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self::new(files.iter().map(name).collect::<Vec<_>>().join("+"), all, call))
    }

    fn new(names: String, files: Vec<Vec<u8>>, call: usize) -> Self {
        Self { names, sha256: sha256(&files.concat()), files, call }
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> usize {
        self.files.iter().map(Vec::len).sum()
    }

    /// The packets of all files.
    pub(super) fn packets(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| file.chunks(self.call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_do_not_cross_files() {
        let haystacks = Haystacks::new("x".into(), vec![b"abcde".to_vec(), b"f".to_vec()], 2);
        let packets: Vec<&[u8]> = haystacks.packets().collect();
        assert_eq!(packets, [&b"ab"[..], b"cd", b"e", b"f"]);
        assert_eq!(haystacks.bytes(), 6);
    }
}
