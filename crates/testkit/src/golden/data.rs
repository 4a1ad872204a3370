//! The data of golden rows: pattern lists and texts, from the repository's `data` folder or from
//! the larger data outside the repository.
//!
//! The repository's folder comes first. What is only outside is refused on a machine that does not
//! have it; a file that is missing where the outside data exists is an error. Every file is
//! compared with the digest that its list states before a row uses it.

use crate::random;
use crate::require;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const TABLE: &str = "golden/golden.txt";
const MANIFEST: &str = "MANIFEST.md";
const HEX_LISTS: &str = "golden/pattern-hexlists.tar.xz";
const OUTSIDE_FOLDERS: [&str; 2] = ["traffic", "text"];
/// Length of the synthetic texts.
const SYNTHETIC_LEN: usize = 4 << 20;
/// The alphabet sizes of the synthetic texts and the digests of the texts. The seed is the size
/// plus 1000.
const SYNTHETIC: [(u64, &str); 5] = [
    (4, "6638bad2efc77e925bb02a5bdf4f018d00d5c388868da3d8bd919e89561a4757"),
    (10, "f73c828701461fefd212f6124bdce6c8d3fb99a0bd8b93aa6fcc5862ad47e35d"),
    (20, "631ff3e0bfae57f86febdb33dcd7bd5ad4c83d9e08744de981ee368a00b7c621"),
    (26, "d88016642ff7d572c9b355feca65d7b97d7a6309e5d774b16478b32b7104adea"),
    (256, "15dbe905cd7b4610d9502a6142a76b1dae542c4e33d33353dc40236dea1751cc"),
];

type Lists = HashMap<String, Vec<Vec<u8>>>;

/// The data folders. Unpacked texts and lists are kept, because many rows share them.
pub struct Data {
    repository: PathBuf,
    /// `data/README.md`, which states the digests of the repository's files.
    repository_digests: String,
    /// The outside folder and its manifest, or why it cannot be used.
    outside: Result<(PathBuf, String), String>,
    texts: Mutex<HashMap<String, Arc<Slot>>>,
    lists: Slot<Lists>,
}

/// A value that one thread makes while the threads that need it wait.
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
    /// Opens the repository's data, and the outside data if this machine has it.
    ///
    /// # Errors
    /// The repository's list of digests cannot be read, or the outside folder has no manifest.
    pub fn open() -> Result<Data, String> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        let repository_digests = read_text(&repository.join("README.md"))?;
        let outside = match require::data_with(MANIFEST) {
            Ok(folder) => Ok((folder.clone(), read_text(&folder.join(MANIFEST))?)),
            Err(why) => Err(why),
        };
        let (texts, lists) = (Mutex::default(), Slot::default());
        Ok(Data { repository, repository_digests, outside, texts, lists })
    }

    /// The table of expected results.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn rows(&self) -> Result<String, String> {
        read_text(&self.repository.join(TABLE))
    }

    /// Why the outside data cannot be used on this machine, if it cannot.
    pub fn outside_refusal(&self) -> Option<&str> {
        self.outside.as_ref().err().map(String::as_str)
    }

    /// Why this machine refuses a list of patterns with a text, if it does: one of them is only
    /// outside, and the outside data is not here.
    pub fn refusal(&self, patterns: &str, text: &str) -> Option<&str> {
        let here = self.repository_file(&list_path(patterns)).is_some()
            && (synthetic_alphabet(text).is_some()
                || self.repository_file(&text_path(text)).is_some());
        if here { None } else { self.outside_refusal() }
    }

    /// A text by its name in the table: `kjv.txt`, `rand26-4M`.
    ///
    /// # Errors
    /// It is not there, or its digest differs from the stated one.
    pub fn text(&self, name: &str) -> Result<Arc<Vec<u8>>, String> {
        let slot = self
            .texts
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .entry(name.to_owned())
            .or_default()
            .clone();
        slot.get(|| match synthetic_alphabet(name) {
            Some(size) => synthesize(size),
            None => match self.repository_file(&text_path(name)) {
                Some(packed) => unpack(&packed?, name),
                None => self.outside_text(name),
            },
        })
    }

    /// A list of patterns by its name in the table: `words20k.hex`.
    ///
    /// # Errors
    /// It is not there, or its digest differs from the stated one.
    pub fn patterns(&self, name: &str) -> Result<Vec<Vec<u8>>, String> {
        if let Some(list) = self.repository_file(&list_path(name)) {
            return patterns(&String::from_utf8(list?).map_err(|e| format!("{name}: {e}"))?);
        }
        let lists = self.lists.get(|| self.outside_lists())?;
        lists.get(name).cloned().ok_or_else(|| format!("{name} is not in {HEX_LISTS}"))
    }

    /// A file of the repository's folder with the stated digest. `None` if the folder has no such
    /// file.
    fn repository_file(&self, path: &str) -> Option<Result<Vec<u8>, String>> {
        let file = self.repository.join(path);
        let is_there = file.is_file();
        is_there.then(|| {
            let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let stated =
                self.repository_digests.lines().find(|l| l.ends_with(&format!("  {path}")));
            let stated = stated.ok_or_else(|| format!("data/README.md has no digest of {path}"))?;
            verify(path, stated, &bytes).map(|()| bytes)
        })
    }

    fn outside_text(&self, name: &str) -> Result<Vec<u8>, String> {
        let (root, _) = self.outside.as_ref()?;
        let paths = OUTSIDE_FOLDERS.map(|folder| format!("{folder}/{name}.xz"));
        let path = paths.iter().find(|p| root.join(p).exists());
        let path = path.ok_or_else(|| {
            format!("{name}.xz is in none of {} of the data folder", OUTSIDE_FOLDERS.join(", "))
        })?;
        let text = unpack(&self.outside_file(path)?, path)?;
        self.verify_outside(path, &text).map(|()| text)
    }

    fn outside_lists(&self) -> Result<Lists, String> {
        let packed = self.outside_file(HEX_LISTS)?;
        self.verify_outside(HEX_LISTS, &packed)?;
        let tar = unpack(&packed, HEX_LISTS)?;
        let at = |e: std::io::Error| format!("{HEX_LISTS}: {e}");
        let mut lists = HashMap::new();
        for entry in tar::Archive::new(&tar[..]).entries().map_err(at)? {
            let mut entry = entry.map_err(at)?;
            let path = entry.path().map_err(at)?.into_owned();
            let mut hex = String::new();
            entry.read_to_string(&mut hex).map_err(at)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            lists.insert(name.into_owned(), patterns(&hex)?);
        }
        Ok(lists)
    }

    fn outside_file(&self, path: &str) -> Result<Vec<u8>, String> {
        let (root, _) = self.outside.as_ref()?;
        std::fs::read(root.join(path)).map_err(|e| format!("{path} in the data folder: {e}"))
    }

    /// Compares bytes with the digest in the manifest's line for a path.
    fn verify_outside(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let (_, manifest) = self.outside.as_ref()?;
        let stated = manifest.lines().find(|l| l.starts_with(&format!("| {path} |")));
        let stated = stated.ok_or_else(|| format!("{MANIFEST} has no line for {path}"))?;
        verify(path, stated, bytes)
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn list_path(name: &str) -> String {
    format!("golden/{name}")
}

fn text_path(name: &str) -> String {
    format!("text/{name}.xz")
}

fn patterns(hex: &str) -> Result<Vec<Vec<u8>>, String> {
    hex.lines().map(crate::text::hex).collect()
}

/// `rand26-4M` has an alphabet of 26.
fn synthetic_alphabet(name: &str) -> Option<u64> {
    name.strip_prefix("rand")?.strip_suffix("-4M")?.parse().ok()
}

fn synthesize(size: u64) -> Result<Vec<u8>, String> {
    let stated = SYNTHETIC.iter().find(|(alphabet, _)| *alphabet == size);
    let (_, digest) = stated.ok_or_else(|| format!("no digest for an alphabet of {size}"))?;
    let text = random::text(size, SYNTHETIC_LEN, 1000 + size);
    verify(&format!("synthetic text of {size} letters"), digest, &text).map(|()| text)
}

/// Whether a line states the digest of these bytes.
fn verify(what: &str, stated: &str, bytes: &[u8]) -> Result<(), String> {
    let digest: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
    if stated.contains(&digest) {
        return Ok(());
    }
    Err(format!("{what}: sha256 is {digest} for {} bytes, stated is {stated:?}", bytes.len()))
}

fn unpack(packed: &[u8], path: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let read = lzma_rust2::XzReader::new(packed, true).read_to_end(&mut out);
    read.map(|_| out).map_err(|e| format!("{path}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The repository's data alone, whatever this machine has.
    fn fresh_clone() -> Data {
        Data { outside: Err("absent".into()), ..Data::open().unwrap() }
    }

    #[test]
    fn a_fresh_clone_has_its_own_data_and_refuses_the_rest() {
        let data = fresh_clone();
        assert_eq!(data.refusal("dict1000.hex", "kjv.txt"), None);
        assert_eq!(data.refusal("rand4-1000-len8.hex", "rand4-4M"), None);
        assert_eq!(data.refusal("dict1000.hex", "traffic-zeek.bin"), Some("absent"));
        assert_eq!(data.refusal("words20k.hex", "kjv.txt"), Some("absent"));
        assert_eq!(data.patterns("dict1000.hex").unwrap().len(), 1000);
        assert_eq!(data.patterns("words20k.hex").unwrap_err(), "absent");
        assert_eq!(data.text("rand4-4M").unwrap().len(), SYNTHETIC_LEN);
    }

    #[test]
    fn synthetic_texts_are_known_by_name() {
        assert_eq!(synthetic_alphabet("rand256-4M"), Some(256));
        assert_eq!(synthetic_alphabet("kjv.txt"), None);
        assert!(synthesize(5).unwrap_err().contains("no digest"));
    }

    #[test]
    fn a_wrong_digest_is_an_error() {
        let manifest = "| a/b | 1 | | `00` | |\n".to_owned();
        let outside = Ok((PathBuf::new(), manifest));
        let digests = "00  golden/dict1000.hex\n".to_owned();
        let data = Data { outside, repository_digests: digests, ..fresh_clone() };
        assert!(data.verify_outside("a/b", b"x").unwrap_err().contains("sha256 is"));
        assert!(data.verify_outside("a/c", b"x").unwrap_err().contains("no line"));
        assert!(data.patterns("dict1000.hex").unwrap_err().contains("sha256 is"));
        assert!(data.text("kjv.txt").unwrap_err().contains("no digest of text/kjv.txt.xz"));
    }
}
