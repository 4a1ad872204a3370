use super::*;
use crate::pair::{PairOptions, pair};
use crate::validate::samples;
use crate::{CarvedFile, naive};
use std::collections::BTreeSet;

/// Bytes before and after a sample.
const AROUND: usize = 300;

/// The beginning of a file of each type that has no footer.
const HEADS: &[(&str, &[u8])] = &[
    ("jp2", b"\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a\x00\x00\x00\x14ftypjp2 "),
    ("bmp", b"BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00"),
    ("tif", b"II\x2a\x00\x08\x00\x00\x00"),
    ("tif", b"MM\x00\x2a\x00\x00\x00\x08"),
    ("webp", b"RIFF\x24\x00\x00\x00WEBPVP8L\x18\x00\x00\x00"),
    ("heic", b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"),
    ("psd", b"8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03"),
    ("wav", b"RIFF\x24\x08\x00\x00WAVEfmt \x10\x00\x00\x00"),
    ("avi", b"RIFF\xff\xff\x01\x00AVI LIST\xc0\x00\x00\x00hdrl"),
    ("aif", b"FORM\x00\x00\x10\x00AIFFCOMM"),
    ("mp4", b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00"),
    ("mp4", b"\x00\x00\x00\x20ftypiso2\x00\x00\x02\x00"),
    ("mp4", b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00"),
    ("mp4", b"\x00\x00\x00\x18ftypavc1\x00\x00\x00\x00"),
    ("mp4", b"\x00\x00\x00\x1cftypMSNV\x01\x29\x00\x46"),
    ("mp4", b"\x00\x00\x00\x20ftypM4V \x00\x00\x00\x01"),
    ("3gp", b"\x00\x00\x00\x18ftyp3gp5\x00\x00\x01\x00"),
    ("m4a", b"\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00"),
    ("mov", b"\x00\x00\x00\x14ftypqt  \x00\x00\x02\x00"),
    ("mkv", b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01"),
    ("wmv", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c\x00\x10"),
    ("flv", b"FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00"),
    ("mp3", b"ID3\x02\x00\x00\x00\x00\x0f\x76"),
    ("mp3", b"ID3\x03\x00\x00\x00\x00\x0f\x76"),
    ("mp3", b"ID3\x04\x00\x00\x00\x00\x0f\x76"),
    ("ogg", b"OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x12\x34\x56\x78"),
    ("flac", b"fLaC\x00\x00\x00\x22\x10\x00\x10\x00"),
    ("mid", b"MThd\x00\x00\x00\x06\x00\x01\x00\x02"),
    ("ole", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00\x00\x00"),
    ("xml", b"<?xml version=\"1.0\"?><a/>"),
    ("mbox", b"From a@b.example Thu Jan  1 00:00:00 1970\nSubject: x\n"),
    ("eml", b"Return-Path: <a@b.example>\n"),
    ("eml", b"Received: from b.example by c.example;\n"),
    ("pst", b"!BDN\x12\x34\x56\x78SM\x17\x00"),
    ("gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"),
    ("gz", b"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03name\x00"),
    ("bz2", b"BZh9\x31\x41\x59\x26\x53\x59\x12\x34\x56\x78"),
    ("zst", b"\x28\xb5\x2f\xfd\x04\x00"),
    ("7z", b"7z\xbc\xaf\x27\x1c\x00\x04"),
    ("cab", b"MSCF\x00\x00\x00\x00\x64\x00\x00\x00"),
    ("elf", b"\x7fELF\x01\x01\x01\x00\x00"),
    ("elf", b"\x7fELF\x02\x01\x01\x00\x00"),
    ("exe", b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"),
    ("sqlite", b"SQLite format 3\x00\x10\x00"),
    (
        "dat",
        b"regf\x01\x00\x00\x00\x01\x00\x00\x00\x12\x34\x56\x78\x9a\xbc\xde\xf0\x01\x00\x00\x00\x05",
    ),
    ("evtx", b"ElfFile\x00\x00\x00"),
    (
        "lnk",
        b"\x4c\x00\x00\x00\x01\x14\x02\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46\x9b",
    ),
    ("pcap", b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00"),
    ("pcap", b"\xa1\xb2\xc3\xd4\x00\x02\x00\x04\x00\x00\x00\x00"),
    ("pcap", b"\x4d\x3c\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00"),
    ("pcapng", b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01\x00\x00\x00"),
];

/// An archive of one stored file.
fn zip(name: &str, data: &str) -> Vec<u8> {
    let lens = [0u32, data.len() as u32, data.len() as u32];
    let mut common = b"\x14\x00\x00\x00\x00\x00\x00\x00\x21\x58".to_vec();
    common.extend(lens.iter().flat_map(|n| n.to_le_bytes()));
    common.extend([name.len() as u8, 0, 0, 0]);
    let mut file = [b"PK\x03\x04", &common[..], name.as_bytes(), data.as_bytes()].concat();
    let at = file.len() as u32;
    file.extend([b"PK\x01\x02\x14\x00", &common[..], &[0; 14], name.as_bytes()].concat());
    let len = file.len() as u32 - at;
    file.extend(b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00");
    file.extend([len.to_le_bytes(), at.to_le_bytes()].concat());
    file.extend([0; 2]);
    file
}

/// A whole file of each type that has a footer.
fn whole_files() -> Vec<(&'static str, Vec<u8>)> {
    let jpeg = samples::jpeg();
    let replace = |at: usize, bytes: &[u8], by: &[u8]| {
        let mut file = jpeg.clone();
        assert_eq!(&file[at..at + bytes.len()], bytes);
        file.splice(at..at + bytes.len(), by.iter().copied());
        file
    };
    let thumbnail = b"\xff\xe1\x00\x0fExif\x00\x00\xff\xd8\xff\xd9 ";
    let (mut gif87, mut pdf2) = (samples::gif(), samples::pdf());
    gif87[4] = b'7';
    pdf2[5] = b'2';
    let odf = |kind: &str| zip("mimetype", &format!("application/vnd.oasis.opendocument.{kind}"));
    vec![
        ("jpg", jpeg.clone()),
        ("jpg", replace(2, &jpeg[2..20], thumbnail)),
        ("jpg", replace(2, &jpeg[2..20], b"")),
        ("png", samples::png()),
        ("gif", samples::gif()),
        ("gif", gif87),
        ("pdf", samples::pdf()),
        ("pdf", pdf2),
        ("pdf", samples::pdf_with_stream()),
        ("pdf", b"%PDF-1.4\nstartxref\n0\n%%EOF\nmore\nstartxref\r\n17\r\n%%EOF".to_vec()),
        ("rtf", b"{\\rtf1\\ansi {\\b x} y}\n".to_vec()),
        ("html", b"<!doctype HTML><title>x</title></HTML>".to_vec()),
        ("html", b"<HTML lang=en><p>x</html>".to_vec()),
        ("mpg", b"\x00\x00\x01\xba\x44\x00\x04 data \x00\x00\x01\xb9".to_vec()),
        ("ooxml", zip("[Content_Types].xml", "<Types/>")),
        ("odt", odf("text")),
        ("ods", odf("spreadsheet")),
        ("odp", odf("presentation")),
        ("epub", zip("mimetype", "application/epub+zip")),
        ("jar", zip("META-INF/", "")),
        ("zip", zip("a.txt", "hello")),
        ("xz", b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46 data \x00\x00\x00\x00\x00\x04YZ".to_vec()),
        ("xz", b"\xfd7zXZ\x00\x00\x01\x69\x22\xde\x36 data \x00\x00\x00\x00\x00\x01YZ".to_vec()),
        ("xz", b"\xfd7zXZ\x00\x00\x0a\xe1\xfb\x0c\xa1 data \x00\x00\x00\x00\x00\x0aYZ".to_vec()),
        ("rar", b"Rar!\x1a\x07\x00\xcf\x90\x73 data \xc4\x3d\x7b\x00\x40\x07\x00".to_vec()),
        ("rar", b"Rar!\x1a\x07\x01\x00\x33\x92 data \x1d\x77\x56\x51\x03\x05\x04\x00".to_vec()),
    ]
}

/// The files of a sample that lies between other bytes, at the sample's beginning.
fn carve(rules: &RuleSet, sample: &[u8]) -> Vec<CarvedFile> {
    let around = [b'U'; AROUND];
    let image = [&around, sample, &around].concat();
    let mut files = pair(rules, &naive::find(&image, rules), &PairOptions::default(), 0);
    files.retain(|file| file.start == AROUND as u64);
    files
}

/// The rules of this extension that find the sample.
fn found<'a>(rules: &RuleSet, files: &'a [CarvedFile], extension: &str) -> Vec<&'a CarvedFile> {
    let is = |file: &&CarvedFile| rules.rules[file.rule].extension.as_deref() == Some(extension);
    files.iter().filter(is).collect()
}

#[test]
fn every_rule_finds_a_sample() {
    let rules = default_rules();
    let mut finding = BTreeSet::new();
    for (extension, sample) in whole_files() {
        let files = carve(&rules, &sample);
        let found = found(&rules, &files, extension);
        assert_eq!(found.len(), 1, "{extension}: {files:?}");
        assert!(!found[0].chopped, "{extension}");
        assert_eq!(found[0].len, sample.len() as u64, "{extension}");
        finding.insert(found[0].rule);
    }
    for &(extension, sample) in HEADS {
        let files = carve(&rules, sample);
        let found = found(&rules, &files, extension);
        assert_eq!(found.len(), 1, "{extension}: {files:?}");
        assert_eq!(found[0].len, (sample.len() + AROUND) as u64, "{extension}");
        finding.insert(found[0].rule);
    }
    let missing: Vec<usize> = (0..rules.rules.len()).filter(|i| !finding.contains(i)).collect();
    let lines: Vec<usize> = missing.iter().map(|&i| rules.rules[i].line).collect();
    assert!(lines.is_empty(), "no sample for the rules of lines {lines:?}");
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let rules = default_rules();
    let text = include_bytes!("../../Cargo.toml").repeat(3);
    for image in [vec![0; 3000], vec![0xff; 3000], text] {
        assert!(pair(&rules, &naive::find(&image, &rules), &PairOptions::default(), 0).is_empty());
    }
}

#[test]
fn the_linter_has_nothing_to_say() {
    let options = conf::Options::default();
    let warnings = conf::lint(DEFAULT_CONF.as_bytes(), DEFAULT_CONF_NAME, options);
    assert!(warnings.is_empty(), "{}", warnings[0]);
}
