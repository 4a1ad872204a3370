//! Builds a disk image without a file system from files of this machine, and lists where each lies.
//!
//! ```text
//! cargo run --release -p fyke-carve --example carve_image -- IMAGE MANIFEST SIZE FOLDER...
//! ```
//!
//! Files lie whole, at multiples of 4096 bytes, in an order that depends only on their paths. Files
//! of types that carvers know come first in the choice; other files fill the rest, some with zeros
//! after them. The manifest has a line per file of a known type: offset, length, extension, path.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Types that carvers know, and how many bytes of each are taken at most.
const TYPES: &[&str] = &[
    "avi", "bmp", "doc", "gif", "gz", "htm", "html", "jar", "jpeg", "jpg", "mov", "mp3", "mpg",
    "pdf", "png", "rtf", "tif", "tiff", "wav", "wpd", "xml", "zip",
];
const MOST_OF_A_TYPE: u64 = 120 << 20;
const SECTORS: u64 = 4096;
/// Larger files would leave no place for others.
const LARGEST: u64 = 64 << 20;

struct Candidate {
    path: PathBuf,
    len: u64,
    kind: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [image, manifest, size, folders @ ..] = &args[..] else {
        return Err("give IMAGE MANIFEST SIZE FOLDER..., where SIZE is a number of bytes".into());
    };
    let size: u64 = size.parse()?;
    let mut files = Vec::new();
    folders.iter().for_each(|folder| collect(Path::new(folder), &mut files));
    let chosen = choose(files, size);
    write(&chosen, Path::new(image), Path::new(manifest), size)
}

fn collect(folder: &Path, files: &mut Vec<Candidate>) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() {
            collect(&path, files);
        } else if let Some(len) = entry.metadata().ok().filter(|m| m.is_file()).map(|m| m.len()) {
            let extension = path.extension().and_then(|e| e.to_str()).map(str::to_lowercase);
            let kind = extension.filter(|e| TYPES.contains(&&e[..]));
            if len > 0 && len <= LARGEST {
                files.push(Candidate { path, len, kind });
            }
        }
    }
}

/// Takes files of known types up to a limit for each, then others, until the image is full.
fn choose(mut files: Vec<Candidate>, size: u64) -> Vec<Candidate> {
    files.sort_by_cached_key(|file| (hash(&file.path), file.path.clone()));
    files.sort_by_key(|file| file.kind.is_none());
    let (mut of_kind, mut total) = (BTreeMap::new(), 0);
    let mut chosen: Vec<_> = files
        .into_iter()
        .filter(|file| {
            let so_far: &mut u64 = of_kind.entry(file.kind.clone()).or_default();
            let most = if file.kind.is_some() { MOST_OF_A_TYPE } else { u64::MAX };
            let len = file.len.next_multiple_of(SECTORS);
            let taken = *so_far + len <= most && total + len <= size;
            if taken {
                (*so_far, total) = (*so_far + len, total + len);
            }
            taken
        })
        .collect();
    chosen.sort_by_cached_key(|file| hash(&file.path).rotate_left(32));
    chosen
}

/// FNV-1a: the same order on every run.
fn hash(path: &Path) -> u64 {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

fn write(
    files: &[Candidate],
    image: &Path,
    manifest: &Path,
    size: u64,
) -> Result<(), Box<dyn Error>> {
    let mut to = BufWriter::with_capacity(1 << 20, File::create(image)?);
    let mut list = BufWriter::new(File::create(manifest)?);
    let mut at = 0;
    for file in files {
        // A file may have gone or changed since it was listed.
        let Ok(bytes) = fs::read(&file.path) else { continue };
        to.write_all(&bytes)?;
        if let Some(kind) = &file.kind {
            writeln!(list, "{at}\t{}\t{kind}\t{}", bytes.len(), file.path.display())?;
        }
        let end = at + bytes.len() as u64;
        at = end.next_multiple_of(SECTORS);
        to.write_all(&vec![0; (at - end) as usize])?;
    }
    let rest = vec![0; 1 << 20];
    while at < size {
        let take = rest.len().min((size - at) as usize);
        to.write_all(&rest[..take])?;
        at += take as u64;
    }
    to.flush()?;
    list.flush()?;
    println!("{} files, {at} bytes", files.len());
    Ok(())
}
