use super::*;
use proptest::prelude::*;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// An image in memory that counts what is read, and may have a bad byte.
#[derive(Default)]
struct Disc {
    bytes: Vec<u8>,
    bad: Option<u64>,
    read: AtomicU64,
}

impl Image for Disc {
    fn name(&self) -> &str {
        "disc"
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let from = (offset as usize).min(self.bytes.len());
        let to = (from + buf.len()).min(self.bytes.len());
        if self.bad.is_some_and(|bad| (from as u64..to as u64).contains(&bad)) {
            return Err(io::Error::other("bad sector"));
        }
        self.read.fetch_add((to - from) as u64, Ordering::Relaxed);
        buf[..to - from].copy_from_slice(&self.bytes[from..to]);
        Ok(to - from)
    }
}

fn report(image: &Disc, start: u64, len: u64) -> Report {
    let valid = Validity::Unknown;
    let file = CarvedFile { number: 0, rule: 0, start, len, chopped: false, valid };
    validate(image, &file)
}

/// What the validators say about these bytes, which lie between others.
fn verdict(bytes: &[u8]) -> Report {
    let image = Disc { bytes: [b"before", bytes, b"behind"].concat(), ..Disc::default() };
    report(&image, 6, bytes.len() as u64)
}

#[test]
fn samples_are_valid_and_end_where_they_end() {
    for (name, bytes) in samples::all() {
        let yes = Report { valid: Validity::Yes, len: Some(bytes.len() as u64) };
        assert_eq!(verdict(&bytes), yes, "{name}");
        // Bytes after the end do not count: neither few nor many.
        for extra in [1, 100, 200_000] {
            let longer = [&bytes[..], &vec![0x55; extra]].concat();
            assert_eq!(verdict(&longer), yes, "{name} and {extra} bytes");
        }
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_not_valid() {
    for (name, bytes) in samples::all() {
        // The line end after the end of a PDF is optional.
        let needed = bytes.trim_ascii_end().len();
        for len in 1..needed {
            let report = verdict(&bytes[..len]);
            assert_ne!(report.valid, Validity::Yes, "{name} cut to {len} bytes");
            assert_eq!(report.len, None);
        }
        // A zip with descriptors may have one without a signature: its end cannot be found.
        if name != "zip with descriptors" {
            assert_eq!(verdict(&bytes[..needed - 1]).valid, Validity::No, "{name}");
        }
    }
}

#[test]
fn all_files_of_an_image_on_any_number_of_threads() {
    let mut image = Disc::default();
    let mut files = Vec::new();
    for (number, (_, bytes)) in samples::all().into_iter().cycle().take(50).enumerate() {
        let (number, start, len) = (number as u64, image.len(), bytes.len() as u64);
        let valid = if number == 49 { Validity::No } else { Validity::Unknown };
        files.push(CarvedFile { number, rule: 0, start, len, chopped: false, valid });
        image.bytes.extend(bytes);
    }
    for threads in [0, 1, 3] {
        let mut files = files.clone();
        validate_all(&image, &mut files, threads);
        assert!(files[..49].iter().all(|file| file.valid == Validity::Yes));
        assert_eq!(files[49].valid, Validity::No, "a verdict is kept");
    }
}

#[test]
fn damage_is_noticed() {
    let no = |bytes: &[u8], what: &str| assert_eq!(verdict(bytes).valid, Validity::No, "{what}");
    let mut png = samples::png();
    png[45] ^= 1;
    no(&png, "a wrong CRC");

    let jpeg = samples::jpeg();
    let thumbnail = memchr::memmem::find(&jpeg, b"\xff\xda").unwrap();
    no(&[&jpeg[..thumbnail], b"\xff\xd9"].concat(), "an end before any scan");
    no(&[&jpeg[..jpeg.len() - 2], &jpeg].concat(), "another picture in the scan");

    let mut zip = samples::zip(false);
    zip.drain(31..33);
    no(&zip, "two bytes less");
    let zip = samples::zip(false);
    no(&zip[40..], "the first file is missing");

    let mut pdf = samples::pdf();
    pdf.splice(9..9, *b"% more\n");
    no(&pdf, "offsets that are wrong");
}

#[test]
fn other_formats_are_unknown() {
    for bytes in [&b""[..], b"\xff", b"BM1234", b"hello, world", b"GIF", b"PK"] {
        assert_eq!(verdict(bytes), Report { valid: Validity::Unknown, len: None });
    }
}

#[test]
fn a_bad_sector_makes_it_unknown() {
    for (name, bytes) in samples::all() {
        let bad = Some(bytes.len() as u64 / 2);
        let image = Disc { bad, bytes, ..Disc::default() };
        let report = report(&image, 0, image.len());
        assert_eq!(report.valid, Validity::Unknown, "{name}");
    }
}

#[test]
fn a_row_after_the_image_is_not_valid() {
    let image = Disc { bytes: samples::png(), ..Disc::default() };
    for (start, len) in [(0, u64::MAX), (u64::MAX, u64::MAX), (5, u64::MAX - 4), (1 << 40, 1)] {
        let report = report(&image, start, len);
        assert_eq!(report.valid == Validity::Yes, start == 0, "{start} {len}");
    }
}

#[test]
fn what_is_read_is_linear_in_the_file() {
    let fill = |head: &[u8], part: &[u8]| {
        let mut bytes = head.to_vec();
        while bytes.len() < 300_000 {
            bytes.extend(part);
        }
        bytes
    };
    let jpeg = samples::jpeg();
    for (name, bytes) in [
        ("restart markers", fill(&jpeg[..jpeg.len() - 2], b"\xff\xd0")),
        ("fill bytes", fill(b"\xff\xd8\xff", b"\xff")),
        ("empty comments", fill(&samples::gif()[..19], b"\x21\xfe\x00")),
        ("short blocks", fill(&samples::gif()[..21], b"\x01\x01")),
        ("descriptors", fill(&samples::zip(true)[..35], b"PK\x07\x08")),
        ("central headers", fill(b"PK\x03\x04", b"PK\x01\x02")),
        ("ends", fill(b"PK\x03\x04", b"PK\x05\x06")),
        ("ends of a document", fill(b"%PDF-1.4\n", b"startxref\n5\n%%EO ")),
        ("tables", fill(b"%PDF-1.4\nxref\n", b"0 0\n")),
        ("chunks", fill(&samples::png()[..33], &samples::png()[33..55])),
    ] {
        let image = Disc { bytes, ..Disc::default() };
        report(&image, 0, image.len());
        let read = image.read.load(Ordering::Relaxed);
        assert!(read < 5 * image.len(), "{name}: {read} of {}", image.len());
    }
}

/// A row for each local header, as rules for ZIP give.
fn rows_of_members(image: &Disc) -> Vec<CarvedFile> {
    let valid = Validity::Unknown;
    let starts = memchr::memmem::find_iter(&image.bytes, b"PK\x03\x04");
    let row = |start: usize| {
        let (start, len) = (start as u64, image.len() - start as u64);
        CarvedFile { number: start, rule: 0, start, len, chopped: false, valid }
    };
    starts.map(row).collect()
}

#[test]
fn the_members_of_archives_take_linear_time_together_and_have_the_verdicts_of_each_alone() {
    for descriptors in [false, true] {
        let local = {
            let zip = samples::zip(descriptors);
            let central = memchr::memmem::find(&zip, b"PK\x01\x02").unwrap();
            zip[..central].to_vec()
        };
        for end in [&b"PK\x01\x02"[..], b"", &local[..local.len() / 2], b"PK\x03\x04"] {
            let zip = samples::zip(descriptors);
            let bytes = [&zip[..], &local.repeat(4000), end, &zip].concat();
            let mut image = Disc { bytes, ..Disc::default() };
            let mut files = rows_of_members(&image);
            assert!(files.len() > 4000);
            validate_all(&image, &mut files, 2);
            let read = image.read.load(Ordering::Relaxed);
            // At most two windows for each row: at its start, and at its end.
            let (all, count) = (image.len(), files.len() as u64);
            assert!(read < all + count * (34 << 10) && read < count * all / 4, "{read} of {all}");
            image.read = AtomicU64::new(0);
            for file in files.iter().step_by(97).chain(&files[..3]) {
                assert_eq!(file.valid, validate(&image, file).valid, "at {}", file.start);
            }
        }
    }
}

#[test]
fn the_budget_ends_a_validator() {
    let mut gif = samples::gif();
    gif.splice(19..19, b"\x21\xfe\x01x\x00".repeat(50_000));
    let image = Disc { bytes: gif, ..Disc::default() };
    let chains = Chains::default();
    let mut bytes = Bytes::new(&image, (0, image.len()), 100_000, &chains);
    assert_eq!(examine(&mut bytes), Err(Stop::Unknown));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn hostile_files_end_without_panic(
        sample in 0usize..7,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(), inserted in prop::collection::vec(any::<u8>(), 0..9),
        at in any::<prop::sample::Index>(),
    ) {
        let (_, mut bytes) = samples::all().swap_remove(sample);
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let at = at.index(bytes.len());
        bytes.splice(at..at, inserted);
        let len = bytes.len();
        let report = verdict(&bytes);
        prop_assert!(report.len.is_none_or(|found| found <= len as u64));
        verdict(&bytes[..cut.index(len)]);
    }

    #[test]
    fn wild_numbers_end_without_panic(format in 0usize..6, words in prop::collection::vec(
        prop_oneof![any::<u64>(), Just(u64::MAX), Just(0), Just(0x0605_4b50_0201_4b50)], 0..40,
    )) {
        let tail: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        verdict(&[FORMATS[format].0, &tail].concat());
    }
}
