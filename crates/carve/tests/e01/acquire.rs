//! Makes E01 images.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The bytes of a segment file, the least that ewfacquire allows.
const SEGMENT: u32 = 1 << 20;

/// A raw image and the E01 image made of it.
pub(crate) struct Acquired {
    _folder: TempDir,
    pub(crate) raw: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// In order.
    pub(crate) segments: Vec<PathBuf>,
}

impl Acquired {
    /// Acquires `bytes` with these options of ewfacquire: format, compression, sectors of a chunk.
    pub(crate) fn new(bytes: Vec<u8>, (format, compression, chunk): (&str, &str, u32)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let raw = folder.path().join("disk.raw");
        fs::write(&raw, &bytes).unwrap();
        let status = Command::new(fyke_testkit::require::ewfacquire().unwrap())
            .args(["-u", "-q", "-f", format, "-c", compression, "-b", &chunk.to_string()])
            .args(["-S", &SEGMENT.to_string(), "-t"])
            .arg(folder.path().join("image"))
            .arg(&raw)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "ewfacquire fails: {status}");
        let files = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path());
        let mut segments: Vec<PathBuf> = files.filter(|path| *path != raw).collect();
        segments.sort();
        Self { _folder: folder, raw, bytes, segments }
    }

    pub(crate) fn first(&self) -> &Path {
        &self.segments[0]
    }
}

/// An image of random bytes, zeros, text and a program, with headers and footers in them.
pub(crate) fn bytes(sectors: usize) -> Vec<u8> {
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes = Vec::with_capacity(sectors * 512);
    while bytes.len() < sectors * 512 {
        let len = random() as usize % 100_000;
        match random() % 4 {
            0 => bytes.extend((0..len).map(|_| random() as u8)),
            1 => bytes.resize(bytes.len() + len, 0),
            2 => bytes.extend(b"a line of text\n".iter().cycle().take(len)),
            _ => {
                let at = random() as usize % (program.len() - len.min(program.len()) + 1);
                bytes.extend(&program[at..(at + len).min(program.len())]);
            }
        }
        bytes.extend(if random() % 2 == 0 { &b"HEADER"[..] } else { b"FOOTER" });
    }
    bytes.truncate(sectors * 512);
    bytes
}
