//! The data that golden rows are about: rule sets, traffic, texts. It is too large and too variously
//! licensed for the repository, so it lies beside it, and a machine without it refuses these tests.

use crate::random;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The folder of the data; without it, `../shared/data` beside the project.
pub const DATA: &str = "FYKE_DATA";
const HEX_LISTS: &str = "golden/pattern-hexlists.tar.xz";
const FOLDERS: [&str; 2] = ["traffic", "text"];
/// Length of the synthetic texts.
const SYNTHETIC_LEN: usize = 4 << 20;

/// A folder of data with its manifest. What was unpacked is kept, since many rows share it.
pub struct Data {
    root: PathBuf,
    manifest: String,
    texts: Mutex<HashMap<String, Arc<Slot>>>,
    lists: Slot<HashMap<String, Vec<Vec<u8>>>>,
}

/// Something that is made once and by one thread, while others wait for it alone.
struct Slot<T = Vec<u8>>(Mutex<Option<Result<Arc<T>, String>>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Slot<T> {
    fn get(&self, make: impl FnOnce() -> Result<T, String>) -> Result<Arc<T>, String> {
        let mut slot = self.0.lock().unwrap_or_else(|e| e.into_inner());
        slot.get_or_insert_with(|| make().map(Arc::new)).clone()
    }
}

impl Data {
    /// Finds the data.
    ///
    /// # Errors
    /// Why it is not there.
    pub fn find() -> Result<Data, String> {
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let root = std::env::var_os(DATA).map_or_else(beside, PathBuf::from);
        let manifest = std::fs::read_to_string(root.join("MANIFEST.md")).map_err(|e| {
            format!("no golden data (set {DATA} to its folder, or put it at ../shared/data): {e}")
        })?;
        Ok(Data { root, manifest, texts: Mutex::default(), lists: Slot::default() })
    }

    /// The table of expected results.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn rows(&self) -> Result<String, String> {
        let path = self.root.join("golden/golden.txt");
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// A text by its name in the table: `kjv.txt`, `rand26-4M`.
    ///
    /// # Errors
    /// It is not there, or is not what the manifest says.
    pub fn text(&self, name: &str) -> Result<Arc<Vec<u8>>, String> {
        let slot = self
            .texts
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .entry(name.to_owned())
            .or_default()
            .clone();
        slot.get(|| match synthetic_alphabet(name) {
            Some(size) => self.synthesise(size),
            None => self.unpack_text(name),
        })
    }

    /// A list of patterns by its name in the table: `words20k.hex`.
    ///
    /// # Errors
    /// It is not there, or is not what the manifest says.
    pub fn patterns(&self, name: &str) -> Result<Vec<Vec<u8>>, String> {
        let lists = self.lists.get(|| self.unpack_lists())?;
        lists.get(name).cloned().ok_or_else(|| format!("{name} is not in {HEX_LISTS}"))
    }

    fn synthesise(&self, size: u64) -> Result<Vec<u8>, String> {
        let seed = 1000 + size;
        let text = random::text(size, SYNTHETIC_LEN, seed);
        self.verify(&format!("- alpha {size} seed {seed} "), &text).map(|()| text)
    }

    fn unpack_text(&self, name: &str) -> Result<Vec<u8>, String> {
        let paths = FOLDERS.map(|folder| format!("{folder}/{name}.xz"));
        let path = paths.iter().find(|p| self.root.join(p).exists());
        let path = path.ok_or_else(|| format!("{name}.xz is in none of {}", FOLDERS.join(", ")))?;
        let text = unpack(&self.read(path)?, path)?;
        self.verify(&format!("| {path} |"), &text).map(|()| text)
    }

    fn unpack_lists(&self) -> Result<HashMap<String, Vec<Vec<u8>>>, String> {
        let packed = self.read(HEX_LISTS)?;
        self.verify(&format!("| {HEX_LISTS} |"), &packed)?;
        let tar = unpack(&packed, HEX_LISTS)?;
        let at = |e: std::io::Error| format!("{HEX_LISTS}: {e}");
        let mut lists = HashMap::new();
        for entry in tar::Archive::new(&tar[..]).entries().map_err(at)? {
            let mut entry = entry.map_err(at)?;
            let path = entry.path().map_err(at)?.into_owned();
            let mut hex = String::new();
            entry.read_to_string(&mut hex).map_err(at)?;
            let patterns = hex.lines().map(crate::text::hex).collect::<Result<_, _>>()?;
            lists.insert(
                path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                patterns,
            );
        }
        Ok(lists)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.root.join(path)).map_err(|e| format!("{path}: {e}"))
    }

    /// Whether the manifest's line that begins so names the digest of these bytes.
    fn verify(&self, line_start: &str, bytes: &[u8]) -> Result<(), String> {
        let line = self.manifest.lines().find(|l| l.starts_with(line_start));
        let line = line.ok_or_else(|| format!("the manifest has no line {line_start:?}"))?;
        let digest: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        if line.contains(&digest) {
            return Ok(());
        }
        Err(format!(
            "not what the manifest says: {line_start:?} has sha256 {digest} in {} bytes",
            bytes.len()
        ))
    }
}

/// `rand26-4M` has an alphabet of 26.
fn synthetic_alphabet(name: &str) -> Option<u64> {
    name.strip_prefix("rand")?.strip_suffix("-4M")?.parse().ok()
}

fn unpack(packed: &[u8], path: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let read = lzma_rust2::XzReader::new(packed, true).read_to_end(&mut out);
    read.map(|_| out).map_err(|e| format!("{path}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synthetic_texts_are_known_by_name() {
        assert_eq!(synthetic_alphabet("rand256-4M"), Some(256));
        assert_eq!(synthetic_alphabet("kjv.txt"), None);
    }

    #[test]
    fn a_wrong_digest_is_not_believed() {
        let manifest = "| a/b | 1 | | `00` | |\n".to_owned();
        let data = Data {
            root: PathBuf::new(),
            manifest,
            texts: Mutex::default(),
            lists: Slot::default(),
        };
        assert!(data.verify("| a/b |", b"x").unwrap_err().contains("not what the manifest says"));
        assert!(data.verify("| a/c |", b"x").unwrap_err().contains("no line"));
    }
}
