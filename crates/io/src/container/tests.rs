use super::*;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// 70 times the letter a, compressed by XZ Utils.
const XZ: &[u8] = include_bytes!("a70.xz");

fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    decompress(Box::new(Cursor::new(bytes)))?.read_to_end(&mut out).map(|_| out)
}

fn text() -> Vec<u8> {
    (0..200_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

#[test]
fn members_in_a_row_are_one_haystack() {
    for pack in [gzip, zstd] {
        assert_eq!(
            read([pack(&text()), pack(b""), pack(b"end")].concat()).unwrap(),
            [text(), b"end".to_vec()].concat()
        );
    }
    assert_eq!(read([XZ, XZ].concat()).unwrap(), [b'a'; 140]);
}

#[test]
fn skippable_frames_are_skipped() {
    let frame = b"\x50\x2a\x4d\x18\x03\0\0\0xyz".to_vec();
    assert_eq!(read([frame.clone(), zstd(b"in"), frame.clone()].concat()).unwrap(), b"in");
    assert!(read(frame[..9].to_vec()).is_err());
}

#[test]
fn cut_off_and_damaged_data_are_errors() {
    for (name, packed) in [("gzip", gzip(&text())), ("zstd", zstd(&text())), ("xz", XZ.to_vec())] {
        for cut in [MAGIC + 1, packed.len() / 2, packed.len() - 1] {
            let error = read(packed[..cut].to_vec()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("the {name} data is truncated or corrupt")),
                "{error}"
            );
        }
        let mut damaged = packed.clone();
        damaged[packed.len() / 2] ^= 0x55;
        assert!(read(damaged).is_err(), "{name}");
    }
}

#[test]
fn anything_else_is_given_as_it_is() {
    for plain in [&b""[..], b"\x1f", b"plain text", b"\xfd7zX"] {
        assert_eq!(read(plain.to_vec()).unwrap(), plain);
    }
}
