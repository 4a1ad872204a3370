use super::*;
use std::io::{Cursor, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut to = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
    let info = FrameInfo::new().content_checksum(true).block_size(BlockSize::Max64KB);
    let mut to = FrameEncoder::with_frame_info(info, Vec::new());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut to = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

fn lzma(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::LzmaOptions::with_preset(1);
    let mut to = lzma_rust2::LzmaWriter::new_use_header(Vec::new(), &options, None).unwrap();
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;

/// Each format: its name, an encoder, and the tool that decodes it with `-dc`.
const FORMATS: [(&str, Pack, &str); 6] = [
    ("gzip", gzip, "gzip"),
    ("bzip2", bzip2, "bzip2"),
    ("lz4", lz4, "lz4"),
    ("zstd", zstd, "zstd"),
    ("xz", xz, "xz"),
    ("lzma", lzma, "xz"),
];

/// All bytes that come before the end or an error, and the error.
fn read_some(bytes: Vec<u8>) -> (Vec<u8>, Option<String>) {
    let (mut out, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let mut reader = match decompress(Box::new(Cursor::new(bytes))) {
        Ok(reader) => reader,
        Err(error) => return (out, Some(error.to_string())),
    };
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (out, None),
            Ok(n) => out.extend_from_slice(&buffer[..n]),
            Err(error) => return (out, Some(error.to_string())),
        }
    }
}

#[track_caller]
fn read(bytes: Vec<u8>) -> Vec<u8> {
    let (out, error) = read_some(bytes);
    assert_eq!(error, None);
    out
}

/// Text that compresses, but not to nothing.
fn text() -> Vec<u8> {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    (0..60_000).flat_map(|_| format!("{:x} ", random() % 5000 * 77).into_bytes()).collect()
}

/// A tool's output, which it may cut off; `None` if there is no such tool.
fn tool(name: &str, input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new(name);
    command.arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    std::thread::scope(|scope| {
        // The tool may stop reading at the damage.
        scope.spawn(move || stdin.write_all(input).unwrap_or_default());
        Some(child.wait_with_output().ok()?.stdout)
    })
}

/// What the tool has to be matched on. Our decoder of xz and lzma needs 20 bytes of look-ahead, and
/// loses what it decoded of up to 64 bytes before a damaged one.
fn compared<'a>(program: &str, bytes: &'a [u8], damage: usize) -> &'a [u8] {
    if program == "xz" { &bytes[..damage - 84] } else { bytes }
}

#[test]
fn every_format_is_read() {
    for (name, pack, _) in FORMATS {
        assert!(read(pack(&text())) == text(), "{name}");
        assert_eq!(read(pack(b"")), b"", "{name}");
    }
}

#[test]
fn members_in_a_row_are_one_haystack() {
    for (name, pack, _) in &FORMATS[..5] {
        let all = [pack(&text()), pack(b""), pack(b"end")].concat();
        assert!(read(all) == [text(), b"end".to_vec()].concat(), "{name}");
    }
    assert_eq!(read([xz(b"a"), vec![0; 8], xz(b"b")].concat()), b"ab");
}

#[test]
fn skippable_frames_are_skipped() {
    let frame = b"\x50\x2a\x4d\x18\x03\0\0\0xyz".to_vec();
    assert_eq!(read([frame.clone(), zstd(b"in"), frame.clone()].concat()), b"in");
    assert!(read_some(frame[..9].to_vec()).1.is_some());
}

#[test]
fn cut_off_data_is_an_error_after_all_bytes_before_it() {
    for (name, pack, _) in FORMATS {
        let packed = pack(&text());
        // The last byte of lzma data is not needed to decode it.
        for cut in [MAGIC + 5, packed.len() / 3, packed.len() / 2, packed.len() - 2] {
            let (out, error) = read_some(packed[..cut].to_vec());
            assert!(text().starts_with(&out), "{name} {cut}");
            let error = error.unwrap_or_else(|| panic!("{name} cut at {cut} is no error"));
            let expected = format!(
                "the {name} data is truncated: only the first {} decompressed bytes",
                out.len()
            );
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

#[test]
fn damaged_data_is_an_error() {
    for (name, pack, _) in FORMATS.iter().filter(|format| format.0 != "lzma") {
        let mut packed = pack(&text());
        let middle = packed.len() / 2;
        packed[middle] ^= 0x55;
        let (_, error) = read_some(packed);
        let error = error.unwrap_or_else(|| panic!("{name} is no error"));
        assert!(error.starts_with(&format!("the {name} data is damaged (")), "{error}");
    }
}

/// Whatever is cut off or damaged, no byte is lost that the format's own tool gives.
#[test]
fn nothing_is_lost_that_the_tools_give() {
    let mut skipped = Vec::new();
    for (name, pack, program) in FORMATS {
        if tool(program, &pack(b"x")).as_deref() != Some(b"x") {
            skipped.push(program);
            continue;
        }
        let packed = pack(&text());
        for part in 1..8 {
            let at = packed.len() * part / 8;
            let cut = packed[..at].to_vec();
            let mut flipped = packed.clone();
            flipped[at] ^= 0x10;
            for (how, bytes) in [("cut", cut), ("flipped", flipped)] {
                let theirs = tool(program, compared(program, &bytes, at)).unwrap();
                let ours = read_some(bytes).0;
                assert!(
                    ours.starts_with(&theirs),
                    "{name} {how} at {at}: {} bytes, {program} gives {}",
                    ours.len(),
                    theirs.len()
                );
            }
        }
    }
    eprintln!("skipped for want of their tool: {skipped:?}");
}

/// Frames written by the tools, whose blocks and windows differ from those of the libraries.
#[test]
fn what_the_tools_write_is_read() {
    let text = text();
    let mut skipped = Vec::new();
    for (program, args) in [
        ("zstd", &["-1"][..]),
        ("zstd", &["-19", "--no-check"]),
        ("zstd", &["-3"]),
        ("xz", &["-6", "--block-size=30000"]),
        ("xz", &["--x86", "--lzma2=preset=1"]),
        ("xz", &["-C", "sha256"]),
        ("xz", &["--format=lzma"]),
        ("bzip2", &["-9"]),
        ("lz4", &["-l"]),
        ("lz4", &["-9", "-BD", "-B4"]),
        ("gzip", &["-9"]),
    ] {
        let mut command = Command::new(program);
        command.args(args).arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            skipped.push(program);
            continue;
        };
        let mut stdin = child.stdin.take().unwrap();
        let packed = std::thread::scope(|scope| {
            scope.spawn(|| {
                stdin.write_all(&text).unwrap();
                drop(stdin);
            });
            child.wait_with_output().unwrap().stdout
        });
        assert!(read(packed.clone()) == text, "{program} {args:?}");
        let cut = packed[..packed.len() * 2 / 3].to_vec();
        let theirs = tool(program, compared(program, &cut, cut.len())).unwrap();
        assert!(read_some(cut).0.starts_with(&theirs), "{program} {args:?}, cut");
    }
    eprintln!("skipped for want of their tool: {skipped:?}");
}

#[test]
fn bytes_after_the_last_member_are_a_warning() {
    for (pack, name) in [(gzip as Pack, "gzip"), (bzip2, "bzip2")] {
        for (rest, expected) in [
            (&[0u8; 5][..], format!("ignored 5 zero bytes after the {name} data")),
            (b"junk\0", format!("ignored 5 bytes after the {name} data that are not {name}")),
        ] {
            let warnings = Arc::new(Mutex::new(Vec::new()));
            let to = Arc::clone(&warnings);
            let warn = Box::new(move |w: &str| to.lock().unwrap().push(w.to_owned()));
            let file = Cursor::new([pack(b"inside"), rest.to_vec()].concat());
            let mut out = Vec::new();
            decompress_with(Box::new(file), warn).unwrap().read_to_end(&mut out).unwrap();
            assert_eq!(out, b"inside");
            let warnings = warnings.lock().unwrap();
            assert!(warnings.len() == 1 && warnings[0].starts_with(&expected), "{warnings:?}");
        }
    }
    for (pack, name) in [(zstd as Pack, "zstd"), (xz, "xz")] {
        let (out, error) = read_some([pack(b"inside"), b"junkjunkjunk".to_vec()].concat());
        assert_eq!(out, b"inside");
        assert!(error.unwrap().contains(&format!("the {name} data is damaged")));
    }
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    let error = |bytes: &[u8]| read_some(bytes.to_vec()).1.unwrap();
    assert!(error(b"\x1f\x9d\x90abc").contains("decompress it with `gzip -dc`"));
    assert!(error(b"PK\x03\x04abcdef").contains("write it to a file and scan that"));
}

#[test]
fn anything_else_is_given_as_it_is() {
    for plain in [&b""[..], b"\x1f", b"plain text", b"\xfd7zX", b"BZh", b"]\0\0\0\0abcdefghij"] {
        assert_eq!(read(plain.to_vec()), plain);
    }
}

fn zip(members: &[(&str, &[u8], rawzip::CompressionMethod)]) -> Vec<u8> {
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    archive.new_dir("folder/").create().unwrap();
    for (name, bytes, method) in members {
        let packed = match *method {
            rawzip::CompressionMethod::DEFLATE => {
                let mut to = flate2::write::DeflateEncoder::new(Vec::new(), Default::default());
                to.write_all(bytes).unwrap();
                to.finish().unwrap()
            }
            rawzip::CompressionMethod::ZSTD => zstd(bytes),
            rawzip::CompressionMethod::XZ => xz(bytes),
            rawzip::CompressionMethod::BZIP2 => bzip2(bytes),
            _ => bytes.to_vec(),
        };
        let (mut entry, config) =
            archive.new_file(name).compression_method(*method).start().unwrap();
        let mut writer = config.wrap(std::io::sink());
        writer.write_all(bytes).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.write_all(&packed).unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap()
}

fn open_zip(bytes: &[u8]) -> io::Result<Option<zip::Archive>> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    zip::Archive::at_path(file.path())
}

#[test]
fn members_of_a_zip_archive_are_separate() {
    use rawzip::CompressionMethod as M;
    let text = text();
    let methods = [M::STORE, M::DEFLATE, M::ZSTD, M::XZ, M::BZIP2, M::DEFLATE64];
    let names = ["s", "folder/d", "z", "x", "b", "no"];
    let members: Vec<_> = names.iter().zip(methods).map(|(n, m)| (*n, &text[..], m)).collect();
    let packed = zip(&members);
    let archive = open_zip(&packed).unwrap().unwrap();
    assert!(archive.members().iter().map(zip::Member::name).eq(names.map(str::as_bytes)));
    for member in &archive.members()[..5] {
        let mut out = Vec::new();
        archive.read(member).unwrap().read_to_end(&mut out).unwrap();
        assert!(out == text, "{:?}", member.name());
    }
    let Err(error) = archive.read(&archive.members()[5]) else { panic!("not supported") };
    assert!(error.to_string().contains("method 9 (DEFLATE64), which is not supported"), "{error}");

    assert!(open_zip(b"plain text").unwrap().is_none());
    let error = open_zip(&packed[..packed.len() / 2]).unwrap_err().to_string();
    assert!(error.starts_with("this zip archive is truncated or damaged ("), "{error}");
}

#[test]
fn a_damaged_member_is_an_error() {
    let mut packed = zip(&[("s", b"some bytes", rawzip::CompressionMethod::STORE)]);
    let at = packed.windows(10).position(|w| w == b"some bytes").unwrap();
    packed[at] ^= 1;
    let archive = open_zip(&packed).unwrap().unwrap();
    let mut out = Vec::new();
    let error = archive.read(&archive.members()[0]).unwrap().read_to_end(&mut out).unwrap_err();
    assert_eq!(out, b"rome bytes");
    assert!(error.to_string().starts_with("this member is damaged (its size or checksum"));
}
