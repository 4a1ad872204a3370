//! `scan -z` as a user sees it: formats, archives, damage.

use crate::common::Folder;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

/// Lines with a needle on every tenth.
fn text() -> Vec<u8> {
    let mut state = 1u32;
    let line = |i| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let needle = if i % 10 == 0 { "needle" } else { "hay" };
        format!("{i} {state:x} {needle}\n").into_bytes()
    };
    (0..20_000).flat_map(line).collect()
}

/// A zip archive of stored members.
fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let size = (bytes.len() as u32).to_le_bytes();
        let name_len = (name.len() as u16).to_le_bytes();
        // Version, flags, method, time, date, checksum, sizes, length of the name.
        let common = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x5a][..],
            &crc.sum().to_le_bytes(),
            &size,
            &size,
            &name_len,
            &[0, 0],
        ]
        .concat();
        let offset = (out.len() as u32).to_le_bytes();
        directory.extend([&b"PK\x01\x02\x14\0"[..], &common, &[0; 10], &offset].concat());
        directory.extend(name.as_bytes());
        out.extend([b"PK\x03\x04", &common[..], name.as_bytes(), bytes].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (at, len) = ((out.len() as u32).to_le_bytes(), (directory.len() as u32).to_le_bytes());
    out.extend(&directory);
    out.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &len, &at, &[0, 0]].concat());
    out
}

#[test]
fn members_of_an_archive_are_named_and_separate() {
    let archive = zip(&[("a", b"needle nee"), ("sub/b", b"dle\nneedle\n"), ("none", b"hay\n")]);
    let f = Folder::new(&[("x.zip", &archive), ("d/y.zip", &archive), ("plain", b"needle\n")]);
    f.run("scan -z -e needle x.zip").expect(0, "x.zip:a:needle nee\nx.zip:sub/b:needle\n");
    f.run("scan -z -c -e needle x.zip plain")
        .expect(0, "x.zip:a:1\nx.zip:sub/b:1\nx.zip:none:0\nplain:1\n");
    f.run("scan -z -l -e needle d").expect(0, "d/y.zip:a\nd/y.zip:sub/b\n");
    f.run("scan -e needle -c x.zip").expect(0, "2\n");
    f.run_with_input("scan -z -e needle", &archive)
        .expect_error(&["<stdin>: this is a zip archive in a stream", "write it to a file"]);
    let cut = Folder::new(&[("cut.zip", &archive[..archive.len() - 30])]);
    cut.run("scan -z -e needle cut.zip").expect_error(&["cut.zip: this zip archive is truncated"]);
}

#[test]
fn bytes_after_gzip_data_are_a_warning() {
    let packed = gzip(b"needle\n");
    let f = Folder::new(&[
        ("zeros.gz", &[&packed[..], &[0; 512]].concat()),
        ("junk.gz", &[&packed[..], b"junk"].concat()),
    ]);
    let run = f.run("scan -z -e needle zeros.gz");
    run.expect(0, "needle\n");
    let warning = "fyke: warning: zeros.gz: ignored 512 zero bytes after the gzip data\n";
    assert_eq!(run.err, warning);
    let run = f.run("scan -z -e needle junk.gz");
    run.expect(0, "needle\n");
    assert!(run.err.contains("junk.gz: ignored 4 bytes after the gzip data that are not gzip"));
}

#[test]
fn a_damaged_file_gives_all_matches_before_the_damage_and_its_count() {
    let packed = gzip(&text());
    let cut = &packed[..packed.len() / 2];
    let mut before = Vec::new();
    // How many bytes the decoder gives is not asserted here, but that each of them is searched.
    let mut decoder = flate2::write::GzDecoder::new(&mut before);
    decoder.write_all(cut).unwrap();
    decoder.flush().unwrap();
    drop(decoder);
    let needles = before.windows(6).filter(|w| w == b"needle").count();
    assert!(needles > 500);
    let f = Folder::new(&[("cut.gz", cut), ("plain", b"needle\n")]);
    for mode in ["", "-o", "-b", "--json", "--lines"] {
        let run = f.run(&format!("scan -z -e needle {mode} cut.gz"));
        assert_eq!(run.code, Some(2));
        let matches = run.out.lines().filter(|line| line.contains("needle")).count();
        assert_eq!(matches, needles, "{mode}");
        assert!(run.err.contains("cut.gz: the gzip data is truncated: only the first"));
        assert!(!run.out.contains(r#""type":"end""#), "a part must not look whole");
    }
    for mode in ["-c", "-c --lines", "-c --semantics leftmost-first"] {
        let run = f.run(&format!("scan -z -e needle {mode} cut.gz plain"));
        run.expect(2, &format!("cut.gz:{needles}\nplain:1\n"));
    }
    f.run("scan -z -l -e needle cut.gz plain").expect(0, "cut.gz\nplain\n");
}

#[test]
fn what_is_not_supported_says_what_to_do() {
    let f = Folder::new(&[("old.Z", b"\x1f\x9d\x90needle\n")]);
    f.run("scan -z -e needle old.Z").expect_error(&["old.Z: this is compress data", "gzip -dc"]);
    f.run("scan -c -e needle old.Z").expect(0, "1\n");
}

/// Archives written by the tools, where the machine has them.
#[test]
fn the_formats_of_the_tools() {
    use std::process::{Command, Stdio};
    let f = Folder::new(&[("t", &text())]);
    let mut skipped = Vec::new();
    for command in ["gzip", "bzip2", "xz", "lzma", "zstd", "lz4"] {
        let mut tool = Command::new(command);
        let packed = tool.arg("-c").stdin(std::fs::File::open(f.path().join("t")).unwrap());
        match packed.stderr(Stdio::null()).output() {
            Ok(packed) if packed.status.success() => {
                f.write("packed", &packed.stdout);
                f.run("scan -z -c -e needle packed").expect(0, "2000\n");
            }
            _ => skipped.push(command),
        }
    }
    eprintln!("skipped for want of their tool: {skipped:?}");
}
