//! Intact images.

use crate::acquire::bytes;
use crate::{Acquired, refused};
use fyke_carve::pipeline::{ScanOptions, Strategy, scan};
use fyke_carve::{Image, conf, image};
use std::thread;

/// The formats that ewfacquire writes as E01, with compressions and sectors of a chunk.
const KINDS: [(&str, &str, u32); 11] = [
    ("encase6", "none", 64),
    ("encase6", "best", 64),
    ("encase6", "fast", 16),
    ("encase6", "empty-block", 4096),
    ("encase6", "none", 32_768),
    ("encase2", "fast", 64),
    ("encase5", "best", 64),
    ("encase7", "fast", 128),
    ("ftk", "none", 64),
    ("linen6", "best", 64),
    ("ewfx", "fast", 64),
];

fn all(image: &dyn Image, at_once: usize) -> Vec<u8> {
    let (mut bytes, mut buf) = (Vec::new(), vec![0; at_once]);
    while let n @ 1.. = image.read_at(bytes.len() as u64, &mut buf).unwrap() {
        bytes.extend_from_slice(&buf[..n]);
    }
    bytes
}

#[test]
fn every_format_reads_as_its_raw_image() {
    if refused("every_format_reads_as_its_raw_image") {
        return;
    }
    for kind in KINDS {
        let case = Acquired::new(bytes(9_001), kind);
        let image = image::open(case.first()).unwrap();
        assert_eq!(image.len(), case.bytes.len() as u64, "{kind:?}");
        for at_once in [512 << 10, 100_000, 777] {
            let is_equal = all(&*image, at_once) == case.bytes;
            assert!(is_equal, "{kind:?}, reads of {at_once}");
        }
        assert_eq!(image.read_at(image.len(), &mut [0; 4]).unwrap(), 0);
        assert_eq!(image.read_at(u64::MAX, &mut [0; 4]).unwrap(), 0);
        if kind == KINDS[0] {
            assert!(case.segments.len() > 3, "{:?}", case.segments);
        }
    }
}

#[test]
fn images_of_any_number_of_sectors_read_as_their_raw_images() {
    if refused("images_of_any_number_of_sectors_read_as_their_raw_images") {
        return;
    }
    for sectors in [1, 63, 64, 65, 128] {
        for compression in ["none", "fast"] {
            let case = Acquired::new(bytes(sectors), ("encase6", compression, 64));
            let image = image::open(case.first()).unwrap();
            assert!(all(&*image, 512 << 10) == case.bytes, "{sectors} sectors, {compression}");
        }
    }
}

#[test]
fn threads_read_any_part_at_the_same_time() {
    if refused("threads_read_any_part_at_the_same_time") {
        return;
    }
    for kind in [KINDS[1], KINDS[3], KINDS[4]] {
        let case = Acquired::new(bytes(9_001), kind);
        let image = image::open(case.first()).unwrap();
        let (image, raw) = (&*image, &case.bytes);
        thread::scope(|scope| {
            for thread in 0..7_usize {
                scope.spawn(move || {
                    for read in 0..200 {
                        let at = (thread * 7919 + read * 104_729) * 31 % raw.len();
                        let mut buf = vec![0; (read * 523 + 1).min(raw.len() - at)];
                        image.prefetch(at as u64, buf.len());
                        assert_eq!(image.read_at(at as u64, &mut buf).unwrap(), buf.len());
                        assert!(buf == raw[at..at + buf.len()], "{kind:?} at {at}");
                    }
                });
            }
        });
    }
}

#[test]
fn a_scan_finds_what_it_finds_in_the_raw_image() {
    if refused("a_scan_finds_what_it_finds_in_the_raw_image") {
        return;
    }
    let rules =
        b"a y 100000 HEADER FOOTER\nb n 9000 line.of\nexe y 5000 \\x7fELF\nz y 40 text\\nHEAD\n";
    let rules = conf::parse(rules, "conf", conf::Options::default()).unwrap();
    let case = Acquired::new(bytes(9_001), KINDS[2]);
    let (raw, packed) = (image::open(&case.raw).unwrap(), image::open(case.first()).unwrap());
    for strategy in Strategy::ALL {
        for threads in [1, 3] {
            let mut options = ScanOptions { strategy, threads, ..ScanOptions::default() };
            options.buffer = Some(100_000);
            let expected = scan(&*raw, &rules, &options, &()).unwrap();
            let found = scan(&*packed, &rules, &options, &()).unwrap();
            assert!(expected.hits.needles.iter().any(|needle| needle.starts.len() > 10));
            assert!(found.hits == expected.hits && found.bad.is_empty(), "{}", strategy.name());
        }
    }
}

#[test]
fn the_format_of_smart_is_refused() {
    if refused("the_format_of_smart_is_refused") {
        return;
    }
    for format in ["smart", "ewf"] {
        let case = Acquired::new(bytes(100), (format, "fast", 64));
        let error = image::open(case.first()).err().unwrap().to_string();
        let name = case.first().display().to_string();
        assert!(error.contains("SMART") && error.contains(&name), "{error}");
    }
}
