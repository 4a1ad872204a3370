//! The configurations of Scalpel and Foremost with all their rules, on images of file systems.

use crate::case::Case;
use crate::predicted::{Seen, assert_differs_by_bugs};
use crate::reference::assert_equal;
use crate::refused;
use fyke_carve::compat::SCALPEL_BUFFER;
use fyke_carve::{Compat, Needle, conf};
use fyke_testkit::require;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder of the carving data, unless the test is refused.
fn data(test: &str) -> Option<PathBuf> {
    match require::data_with("carving") {
        Ok(folder) => Some(folder.join("carving")),
        Err(why) => {
            require::refuse(test, &why);
            None
        }
    }
}

/// A configuration with its rules, which are commented out.
fn with_all_rules(text: &[u8]) -> Vec<u8> {
    let is_rule = |line: &[u8]| {
        let words: Vec<_> =
            line.split(|b| b" \t\r".contains(b)).filter(|w| !w.is_empty()).collect();
        matches!(words[..], [_, b"y" | b"n", size, _, ..] if size.iter().all(u8::is_ascii_digit))
    };
    let uncomment = |line: &[u8]| match line.strip_prefix(b"#") {
        Some(rest) if is_rule(rest) => rest.to_vec(),
        _ => line.to_vec(),
    };
    text.split(|&b| b == b'\n').map(uncomment).collect::<Vec<_>>().join(&b'\n')
}

fn image(path: &Path) -> Vec<u8> {
    let mut image = Vec::new();
    let packed = fs::File::open(path).unwrap();
    lzma_rust2::XzReader::new(packed, true).read_to_end(&mut image).unwrap();
    // Larger than a buffer, and no multiple of it.
    if image.len() <= SCALPEL_BUFFER as usize {
        image.resize(SCALPEL_BUFFER as usize + 4321, 0);
    }
    image
}

/// Bytes around which all headers and footers of a configuration lie, some across buffers.
fn planted(conf: &[u8]) -> Vec<u8> {
    let rules = conf::parse(conf, "c", conf::Options { compat: Compat::Scalpel160 }).unwrap();
    let mut image = vec![b'.'; SCALPEL_BUFFER as usize + 100_000];
    let mut at = SCALPEL_BUFFER as usize - 1000;
    for rule in &rules.rules {
        for id in [Some(rule.header), rule.footer].into_iter().flatten() {
            let Needle::Bytes { bytes, .. } = rules.needle(id) else { unreachable!() };
            for byte in bytes {
                image[at] = byte.unwrap_or(b'x');
                at += 1;
            }
            at += 3;
        }
    }
    image
}

#[test]
fn rules_of_scalpel_on_file_systems() {
    if refused("rules_of_scalpel_on_file_systems") {
        return;
    }
    let Some(folder) = data("rules_of_scalpel_on_file_systems") else { return };
    let (mut seen, mut compared) = (Seen::default(), 0);
    for name in ["scalpel.conf", "foremost.conf"] {
        let conf = with_all_rules(&fs::read(folder.join(name)).unwrap());
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let packed = files.filter(|path| path.to_str().unwrap().ends_with(".raw.xz"));
        let mut images: Vec<_> =
            packed.map(|path| (path.display().to_string(), image(&path))).collect();
        assert!(images.len() >= 4, "images of file systems are missing");
        images.push(("planted".into(), planted(&conf)));
        for (image_name, image) in images {
            let what = format!("{name} on {image_name}");
            let case = Case { conf: conf.clone(), image, ..Case::default() };
            let (ours, theirs) = assert_equal(&what, &case);
            assert!(ours.rules.rules.len() > 20, "{what}: {} rules", ours.rules.rules.len());
            assert_differs_by_bugs(&what, &case, &ours, &theirs, &mut seen);
            compared += theirs.rows.len();
        }
    }
    println!("{compared} rows, bugs seen: {seen:?}");
    assert!(compared > 50, "only {compared} rows");
}

/// The lists beside the configurations say what their rules are.
#[test]
fn rules_are_read_as_the_lists_say() {
    let Some(folder) = data("rules_are_read_as_the_lists_say") else { return };
    // Wildcards are written as two dots.
    let hex = |byte: &Option<u8>| byte.map_or("..".into(), |byte| format!("{byte:02x}"));
    for name in ["scalpel", "foremost"] {
        let text = with_all_rules(&fs::read(folder.join(format!("{name}.conf"))).unwrap());
        let rules = conf::parse(&text, name, conf::Options { compat: Compat::Scalpel160 }).unwrap();
        let list = fs::read_to_string(folder.join(format!("{name}.tsv"))).unwrap();
        // The lists guess what Scalpel does not: `\45`, to which it leaves the backslash.
        let warnings = conf::lint(&text, name, conf::Options { compat: Compat::Scalpel160 });
        let bad_escapes = warnings.iter().filter(|w| {
            // To the lists # begins a comment anywhere.
            w.what.contains("is no escape") || w.what.starts_with("# begins a comment")
        });
        let guessed: Vec<usize> = bad_escapes.map(|w| w.line).collect();
        assert!(guessed.len() <= 8, "{name}: {guessed:?}");
        let lines: Vec<_> = list.lines().collect();
        assert_eq!(rules.rules.len(), lines.len(), "{name}");
        let known = rules.rules.iter().zip(lines).filter(|(rule, _)| !guessed.contains(&rule.line));
        for (rule, line) in known {
            let fields: Vec<_> = line.split('\t').collect();
            assert_eq!(rule.extension.as_deref().unwrap_or("NONE"), fields[0], "{line}");
            assert_eq!(rule.max_len.to_string(), fields[2], "{line}");
            for (id, field) in [(Some(rule.header), 3), (rule.footer, 4)] {
                let bytes = id.map_or(String::new(), |id| match rules.needle(id) {
                    Needle::Bytes { bytes, nocase } => {
                        assert_eq!(*nocase, fields[1] != "y", "{line}");
                        bytes.iter().map(hex).collect()
                    }
                    Needle::Regex { .. } => panic!("{line}"),
                });
                assert_eq!(&bytes, fields.get(field).unwrap_or(&""), "{line}");
            }
        }
    }
}
