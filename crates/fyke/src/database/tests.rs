//! What a database stores, and what is refused.

use super::*;
use crate::{MatchKind, PatternId, Semantics};

/// Patterns with flags, duplicates and ids of several kinds.
fn set() -> PatternSet {
    let mut builder = PatternSet::builder();
    for (id, pattern, nocase) in
        [(7, "he", false), (9, "SHE", true), (7, "hers", false), (1, "he", false), (0, "x", true)]
    {
        builder.push_with(PatternId(id), pattern, nocase).unwrap();
    }
    builder.build()
}

fn saved(builder: &SearcherBuilder, set: &PatternSet) -> Vec<u8> {
    let mut file = Vec::new();
    let searcher = builder.build(set).unwrap();
    searcher.save_with(&[(FIRST_ATTACHMENT + 3, b"from")], &mut file).unwrap();
    file
}

fn small() -> Vec<u8> {
    saved(&Searcher::builder(), &set())
}

const HAYSTACK: &str = "ushers SHERS xX he";

fn found(searcher: &Searcher) -> Vec<(u32, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    searcher.scan(HAYSTACK, |m| found.push((m.pattern.0, m.range())));
    found
}

/// The error of a file that must not load.
fn refused(file: &[u8]) -> String {
    Searcher::load(file).expect_err("it must not load").to_string()
}

#[test]
fn settings_and_attachments_come_back() {
    let builder = Searcher::builder().engine("ac-dfa:form=dense").semantics(Semantics::Once);
    let builder = builder.match_kind(MatchKind::LeftmostLongest).threads(3).memory_limit(1 << 20);
    let builder = builder.expected_bytes(5).expected_call(6).short_haystacks(true);
    let file = saved(&builder, &set());
    let database = Database::read(&file[..]).unwrap();
    assert_eq!(format!("{:?}", database.builder()), format!("{builder:?}"));
    assert_eq!(database.attachment(FIRST_ATTACHMENT + 3), Some(&b"from"[..]));
    assert_eq!(database.attachment(FIRST_ATTACHMENT), None);
    assert_eq!(database.attachment(PATTERNS), None);
    assert!(database.set().iter().eq(set().iter()));
    assert_eq!(found(&database.searcher().unwrap()), found(&builder.build(&set()).unwrap()));
    let mut again = Vec::new();
    let attached = [(FIRST_ATTACHMENT + 3, &b"from"[..])];
    database.searcher().unwrap().save_with(&attached, &mut again).unwrap();
    assert_eq!(again, file, "a database that was loaded is saved as the same bytes");
}

#[test]
fn kinds_of_attachments_are_checked() {
    let searcher = Searcher::new(["a"]).unwrap();
    let save = |kinds: &[u32]| {
        let all: Vec<(u32, &[u8])> = kinds.iter().map(|kind| (*kind, &b"x"[..])).collect();
        searcher.save_with(&all, io::sink()).map_err(|e| e.kind())
    };
    assert_eq!(save(&[FIRST_ATTACHMENT, u32::MAX]), Ok(()));
    assert_eq!(save(&[FIRST_ATTACHMENT - 1]), Err(io::ErrorKind::InvalidInput));
    assert_eq!(save(&[u32::MAX, u32::MAX]), Err(io::ErrorKind::InvalidInput));
}

#[test]
fn the_empty_set_is_a_database() {
    let empty = PatternSet::builder().build();
    let searcher = Searcher::load(&saved(&Searcher::builder(), &empty)[..]).unwrap();
    assert!(searcher.set().is_empty() && searcher.count(HAYSTACK) == 0);
}

#[test]
fn what_is_no_database_is_told_apart() {
    let file = small();
    for other in [&b""[..], b"alert tcp any any", b"\x8bfykS", &[0; 200]] {
        assert!(refused(other).contains("not a fyke database"), "{}", refused(other));
    }
    let mut longer = file.clone();
    longer.push(0);
    assert!(Searcher::load(&longer[..]).is_ok(), "a reader may go on after the database");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    std::fs::write(&path, &longer).unwrap();
    let error = Searcher::open_mapped(&path).unwrap_err().to_string();
    assert!(error.contains("bytes after its end"), "{error}");
    assert!(Searcher::open_mapped(folder.path()).unwrap_err().io().is_some());
    assert!(Searcher::open_mapped(folder.path().join("none")).unwrap_err().io().is_some());
}

#[test]
fn truncation_is_an_error_at_every_byte() {
    let file = small();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    for len in 1..file.len() {
        let error = refused(&file[..len]);
        let have = format!("the database is truncated: it has {len} bytes of ");
        assert!(error.starts_with(&have), "{len}: {error}");
        if len >= 64 {
            assert!(error.contains(&format!("of {}:", file.len())), "{error}");
        }
        std::fs::write(&path, &file[..len]).unwrap();
        assert_eq!(Searcher::open_mapped(&path).unwrap_err().to_string(), error);
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let file = small();
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut file = file.clone();
            file[at] ^= 1 << bit;
            let error = refused(&file);
            let named = ["not a fyke database", "truncated", "damaged", "format version", "endian"];
            assert!(named.iter().any(|n| error.contains(n)), "byte {at}, bit {bit}: {error}");
        }
    }
}

#[test]
fn other_versions_and_endianness_say_so() {
    let version = |version: u32| {
        let mut file = small();
        file[12..16].copy_from_slice(&version.to_ne_bytes());
        // Another version may have another header.
        file[16..].fill(0xff);
        refused(&file)
    };
    assert!(version(2).contains("has format version 2, this build reads version 1: use a newer"));
    assert!(version(0).contains("damaged: header"));
    let mut other = small();
    other[8..12].reverse();
    assert!(refused(&other).contains("other endianness"));
}

/// Bytes behind sound checksums: an error or a searcher that scans, never a panic.
#[test]
fn forged_checksums_are_no_way_around_the_checks() {
    let file = small();
    let mut sound = 0;
    for at in 0..file.len() {
        for value in [0, 1, 0x80, 0xff, file[at] ^ 1, file[at].wrapping_add(1)] {
            let mut file = file.clone();
            file[at] = value;
            seal(&mut file);
            if let Ok(searcher) = Searcher::load(&file[..]) {
                sound += 1;
                found(&searcher);
            }
        }
    }
    assert!(sound > 0, "some changes give another sound database");
}

#[test]
fn announced_lengths_allocate_nothing() {
    let mut file = small();
    file[16..24].copy_from_slice(&(u64::MAX / 2).to_ne_bytes());
    assert!(refused(&file).contains("truncated"));
}

#[cfg(unix)]
#[test]
fn only_private_files_are_mapped() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    std::fs::write(&path, small()).unwrap();
    for (mode, mapped) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let database = Database::open(&path).unwrap();
        assert_eq!(database.is_mapped(), mapped, "{mode:o}");
        assert_eq!(
            found(&database.searcher().unwrap()),
            found(&Searcher::load(&small()[..]).unwrap())
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn sealed_memory_is_mapped() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use std::os::fd::AsRawFd;
    let memory = memfd_create("db", MemfdFlags::ALLOW_SEALING).unwrap();
    let mut file = File::from(memory);
    file.write_all(&small()).unwrap();
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    assert!(!Database::open(&path).unwrap().is_mapped());
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW).unwrap();
    assert!(Database::open(&path).unwrap().is_mapped());
}
