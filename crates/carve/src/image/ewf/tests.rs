//! Images made by hand: what ewf-tools does not write, and lies whose checksums are right.

use super::*;
use flate2::{Compression, write::ZlibEncoder};
use std::io::Write as _;
use std::ops::Range;
use tempfile::TempDir;

/// The bytes of a chunk: two sectors.
const CHUNK: usize = 1024;
/// Where the entries of the chunk table are in its section.
const ENTRIES: usize = 76 + 24;

/// The bytes of a segment, and where its sections are.
struct Made {
    bytes: Vec<u8>,
    sections: Vec<Range<usize>>,
}

/// The media: three chunks and a sector.
fn media() -> Vec<u8> {
    (0..CHUNK * 3 + 512).map(|n| (n * n / 7) as u8).collect()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn stored(bytes: &[u8]) -> Vec<u8> {
    [bytes, &adler32(bytes).to_le_bytes()].concat()
}

impl Made {
    /// A segment of these chunks, and whether each is compressed.
    fn new(chunks: &[(bool, Vec<u8>)]) -> Self {
        let mut made =
            Self { bytes: b"EVF\x09\x0d\x0a\xff\x00\x01\x01\0\0\0".to_vec(), sections: vec![] };
        let mut volume = vec![0; 1052];
        for (at, value) in [(4, chunks.len() as u32), (8, 2), (12, 512), (16, 7)] {
            volume[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        made.add("volume", &volume);
        let mut table = vec![0; 24];
        table[..4].copy_from_slice(&(chunks.len() as u32).to_le_bytes());
        let mut at = made.bytes.len() + 76;
        for (is_compressed, bytes) in chunks {
            table.extend((at as u32 | u32::from(*is_compressed) << 31).to_le_bytes());
            at += bytes.len();
        }
        table.extend([0; 4]);
        let chunks: Vec<&[u8]> = chunks.iter().map(|(_, bytes)| &bytes[..]).collect();
        made.add("sectors", &chunks.concat());
        made.add("table", &table);
        made.add("done", &[]);
        made.seal();
        made
    }

    /// Adds a section.
    fn add(&mut self, kind: &str, body: &[u8]) {
        let at = self.bytes.len();
        let end = at + 76 + body.len();
        let next = if kind == "done" { at } else { end };
        let mut descriptor = [0; 76];
        descriptor[..kind.len()].copy_from_slice(kind.as_bytes());
        descriptor[16..24].copy_from_slice(&(next as u64).to_le_bytes());
        descriptor[24..32].copy_from_slice(&((end - at) as u64).to_le_bytes());
        self.bytes.extend(descriptor);
        self.bytes.extend(body);
        self.sections.push(at..end);
    }

    /// Overwrites bytes of a section, and makes the checksums right.
    fn with(mut self, section: usize, at: usize, bytes: &[u8]) -> Self {
        let at = self.sections[section].start + at;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.seal();
        self
    }

    fn seal(&mut self) {
        let [volume, _, table, _] = [0, 1, 2, 3].map(|n| self.sections[n].clone());
        for section in &self.sections {
            seal(&mut self.bytes[section.clone()], 0..72);
        }
        seal(&mut self.bytes[volume], 76..76 + 1048);
        let end = table.len() - 4;
        seal(&mut self.bytes[table.clone()], 76..76 + 20);
        seal(&mut self.bytes[table], ENTRIES..end);
    }

    fn open(&self) -> (TempDir, Result<EwfImage, String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made.E01");
        std::fs::write(&path, &self.bytes).unwrap();
        let image = EwfImage::open(&path).map_err(|error| error.to_string());
        (folder, image)
    }
}

/// Writes the checksum of a range after it.
fn seal(bytes: &mut [u8], range: Range<usize>) {
    let sum = adler32(&bytes[range.clone()]);
    bytes[range.end..range.end + 4].copy_from_slice(&sum.to_le_bytes());
}

fn intact() -> Made {
    let media = media();
    let chunk = |n: usize| &media[n * CHUNK..media.len().min((n + 1) * CHUNK)];
    let [a, b, c, d] = [0, 1, 2, 3].map(chunk);
    Made::new(&[(true, packed(a)), (false, stored(b)), (true, packed(c)), (false, stored(d))])
}

#[test]
fn the_last_chunk_is_stored_in_part_or_in_full() {
    let media = media();
    let last = &media[3 * CHUNK..];
    let full = [last, &[0; 512]].concat();
    for chunk in
        [(true, packed(last)), (true, packed(&full)), (false, stored(last)), (false, stored(&full))]
    {
        let mut chunks: Vec<_> =
            media.chunks_exact(CHUNK).map(|bytes| (true, packed(bytes))).collect();
        chunks.push(chunk);
        let (_folder, image) = Made::new(&chunks).open();
        let mut buf = vec![0; media.len() + 9];
        assert_eq!(image.unwrap().read_at(0, &mut buf).unwrap(), media.len());
        assert!(buf[..media.len()] == media);
    }
}

#[test]
fn lies_about_the_image_are_errors() {
    let (_folder, image) = intact().open();
    assert_eq!(image.unwrap().len(), 3584);
    let most = [0xff; 8];
    for (section, at, bytes, word) in [
        (0, 76 + 16, &most[..], "sectors of"),
        (0, 76 + 16, &[0; 8], "lists 4 chunks; 0 are left"),
        (0, 76 + 16, &[9], "4608 bytes in 5 chunks"),
        (0, 76 + 8, &[0; 4], "0 sectors of"),
        (0, 76 + 8, &most[..4], "4294967295 sectors of"),
        (0, 76 + 12, &[0; 4], "sectors of 0"),
        (0, 24, &[76, 0], "0 bytes instead of 1052"),
        (0, 24, &[170, 0], "SMART"),
        (0, 16, &[13, 0], "leads back"),
        (0, 16, &most, "it is cut"),
        (0, 24, &most, "it is cut"),
        (0, 0, b"volumf", "no volume"),
        (2, 76, &most[..4], "lists 4294967295"),
        (2, 76, &[0; 4], "lists 0 chunks"),
        (2, 76, &[3], "entries with a wrong checksum"),
        (2, 76 + 8, &most, "in no section"),
        (2, 24, &[76 + 23], "no room for its header"),
        (2, 0, b"tablf", "list 0 chunks"),
        (3, 0, b"next", "missing"),
    ] {
        let (_folder, image) = intact().with(section, at, bytes).open();
        let error = image.unwrap_err();
        assert!(error.contains(word), "{section}, {at}: {error}");
    }
}

#[test]
fn a_lie_about_a_chunk_is_a_bad_chunk() {
    let media = media();
    for (chunk, entry, bad) in [
        (0, [0xff, 0xff, 0xff, 0xff], 0..1024),
        (1, [0; 4], 0..2048),
        (1, [0xff, 0xff, 0xff, 0x7f], 1024..2048),
        (2, [0xff, 0xff, 0xff, 0xff], 2048..3072),
    ] {
        let (_folder, image) = intact().with(2, ENTRIES + 4 * chunk, &entry).open();
        let image = image.unwrap();
        let mut buf = vec![0; media.len()];
        let found = super::super::read_readable(&image, 0, &mut buf).unwrap();
        assert_eq!(found, std::slice::from_ref(&bad), "{entry:?} in chunk {chunk}");
        let (start, end) = (bad.start as usize, bad.end as usize);
        assert!(buf[..start] == media[..start] && buf[end..] == media[end..]);
    }
}

#[test]
fn chunks_of_a_wrong_length_are_bad() {
    let media = media();
    for wrong in [&media[..1023], &media[..1025], &[0; 100_000]] {
        let mut chunks: Vec<_> = media.chunks(CHUNK).map(|c| (true, packed(c))).collect();
        chunks[1].1 = packed(wrong);
        let (_folder, image) = Made::new(&chunks).open();
        let image = image.unwrap();
        assert_eq!(image.read_at(0, &mut [0; 3000]).unwrap(), 1024, "up to the bad chunk");
        let error = image.read_at(1024, &mut [0; 3000]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("chunk 1, at byte 1024"), "{error}");
        assert_eq!(image.read_at(2048, &mut [0; 3000]).unwrap(), 1536);
    }
}

#[test]
fn any_lie_is_an_error_or_bad_chunks() {
    let mut random = fyke_testkit::random::SplitMix::new(17);
    let mut opened = 0;
    for _ in 0..3000 {
        let mut below = |n: usize| random.below(n as u64) as usize;
        let section = below(4);
        let made = intact();
        // Fields of 4 bytes in the descriptor, the geometry and the table.
        let len = made.sections[section].len().min(76 + 40);
        let at = if len > 80 { below(len / 4 - 1) * 4 } else { below(18) * 4 };
        let value = match below(3) {
            0 => below(4000) as u32,
            1 => u32::MAX - below(4000) as u32,
            _ => 1 << below(32),
        };
        let (_folder, image) = made.with(section, at, &value.to_le_bytes()).open();
        let Ok(image) = image else { continue };
        opened += 1;
        let mut buf = vec![0; 1 << 16];
        for at in (0..image.len().min(10_000)).step_by(500) {
            let _ = image.read_at(at, &mut buf);
            image.prefetch(at, 3000);
        }
    }
    assert!(opened > 100, "{opened}");
}
