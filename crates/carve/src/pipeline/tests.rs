use super::*;
use crate::image::fake::FakeImage;
use crate::naive;
use crate::needle::Needle;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

fn rules() -> RuleSet {
    let literal = |text: &[u8]| Needle::Bytes {
        bytes: text.iter().map(|&b| (b != b'?').then_some(b)).collect(),
        nocase: text[0] == b'N',
    };
    let mut rules = RuleSet::default();
    for text in [&b"ab"[..], b"N?c", b"\0\0", b"abcab", b"??????????????ab"] {
        rules.intern(literal(text));
    }
    rules.intern(Needle::Regex { pattern: "b[ab]+c".into(), nocase: false });
    rules
}

/// Bytes of a small alphabet that do not repeat soon.
fn bytes(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b"abcnNx\0\0"[(state >> 60) as usize % 8]
    };
    (0..len).map(|_| next()).collect()
}

fn options(strategy: Strategy, threads: usize, buffer: u64) -> ScanOptions {
    ScanOptions { strategy, threads, buffer: Some(buffer), ..ScanOptions::default() }
}

#[test]
fn all_strategies_threads_and_buffers_give_the_same_hits() {
    let (rules, bytes) = (rules(), bytes(70_001));
    let expected = naive::find(&bytes, &rules);
    assert!(expected.needles.iter().all(|needle| !needle.starts.is_empty()));
    let image = FakeImage::new(bytes.clone()).reading_at_most(10_000);
    for strategy in Strategy::ALL {
        for threads in [1, 2, 7] {
            for buffer in [1, 8192, 1 << 20] {
                let options = options(strategy, threads, buffer);
                let scanned = scan(&image, &rules, &options, &()).unwrap();
                assert_eq!(scanned.hits, expected, "{options:?}");
                assert_eq!(scanned.bad, []);
            }
        }
    }
    for threads in [1, 3] {
        let options = options(Strategy::Overlapped, threads, 4096);
        let stream = &mut bytes.as_slice();
        let scanned = scan_stream(stream, "stdin", &rules, &options, &()).unwrap();
        assert_eq!(scanned.hits, expected);
    }
}

#[test]
fn an_empty_image_and_a_multiple_of_the_buffer_are_whole() {
    let rules = rules();
    for len in [0, 1, 4095, 4096, 4097, 8192, 12_288] {
        let bytes = bytes(len);
        let expected = naive::find(&bytes, &rules);
        for strategy in Strategy::ALL {
            let options = options(strategy, 2, 4096);
            let scanned = scan(&FakeImage::new(bytes.clone()), &rules, &options, &()).unwrap();
            assert_eq!(scanned.hits, expected, "{len} {strategy:?}");
        }
        let options = options(Strategy::Overlapped, 2, 4096);
        let scanned = scan_stream(&mut &bytes[..], "stdin", &rules, &options, &()).unwrap();
        assert_eq!(scanned.hits, expected, "{len}");
    }
}

#[test]
fn a_range_is_searched_alone_and_counts_from_the_start() {
    let (rules, bytes) = (rules(), bytes(30_000));
    for range in [5..20_000_u64, 0..1, 7..7, 12_000..30_000, 29_999..30_000] {
        let part = &bytes[range.start as usize..range.end as usize];
        let mut expected = naive::find(part, &rules);
        expected.image_len = range.end;
        for needle in &mut expected.needles {
            needle.starts.iter_mut().for_each(|start| *start += range.start);
        }
        for strategy in Strategy::ALL {
            let options = ScanOptions { range: Some(range.clone()), ..options(strategy, 2, 4096) };
            let scanned = scan(&FakeImage::new(bytes.clone()), &rules, &options, &()).unwrap();
            assert_eq!(scanned.hits, expected, "{range:?} {strategy:?}");
            let stream = scan_stream(&mut &bytes[..], "stdin", &rules, &options, &()).unwrap();
            assert_eq!(stream.hits, expected, "{range:?}");
        }
    }
    let options = ScanOptions { range: Some(0..30_001), ..ScanOptions::default() };
    let error = scan(&FakeImage::new(bytes), &rules, &options, &()).unwrap_err().to_string();
    assert!(error.contains("0..30001") && error.contains("30000 bytes"), "{error}");
}

#[derive(Default)]
struct Watch {
    bad: Mutex<Vec<Range<u64>>>,
    advanced: AtomicU64,
    /// How often the scan asked whether it has to stop, and after how many times it has; 0 for
    /// never.
    asked: AtomicU64,
    stop_after: u64,
}

impl Observer for Watch {
    fn advanced(&self, bytes: u64) {
        self.advanced.fetch_add(bytes, Ordering::Relaxed);
    }
    fn bad(&self, range: &Range<u64>) {
        self.bad.lock().unwrap().push(range.clone());
    }
    fn interrupted(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        self.stop_after > 0 && asked >= self.stop_after
    }
}

/// Panics when the scan tells it of progress for the third time.
#[derive(Default)]
struct Panics(AtomicU64);

impl Observer for Panics {
    fn advanced(&self, _: u64) {
        if self.0.fetch_add(1, Ordering::Relaxed) == 2 {
            panic::resume_unwind(Box::new("an observer panics"));
        }
    }
}

#[test]
fn a_panic_of_the_observer_ends_the_scan_and_reaches_the_caller() {
    let (rules, all) = (rules(), bytes(400_000));
    let image = FakeImage::new(all.clone());
    let panics = |what: &str, scan: &dyn Fn(&Panics)| {
        let observer = Panics::default();
        let scan = AssertUnwindSafe(|| scan(&observer));
        let message = panic::catch_unwind(scan).unwrap_err();
        assert_eq!(message.downcast_ref(), Some(&"an observer panics"));
        assert_eq!(observer.0.into_inner(), 3, "{what} told the observer more after its panic");
    };
    for strategy in Strategy::ALL {
        for threads in [1, 3] {
            let options = options(strategy, threads, 4096);
            let name = format!("{strategy:?} with {threads} threads");
            panics(&name, &|observer| drop(scan(&image, &rules, &options, observer)));
            panics("a stream", &|observer| {
                let stream = &mut &all[..];
                drop(scan_stream(stream, "stdin", &rules, &options, observer));
            });
        }
    }
}

#[test]
fn bad_sectors_are_told_and_the_rest_goes_on() {
    let (rules, bytes) = (rules(), bytes(40_000));
    let image = FakeImage::new(bytes.clone()).failing([4000..4100, 8191..8193, 20_000..30_000]);
    let bad = vec![3584..4608, 7680..8704, 19_968..30_208];
    let mut expected = naive::find(&[], &rules);
    expected.image_len = 40_000;
    for part in [0..3584, 4608..7680, 8704..19_968, 30_208..40_000] {
        let found = naive::find(&bytes[part.clone()], &rules);
        for (all, found) in expected.needles.iter_mut().zip(found.needles) {
            all.starts.extend(found.starts.iter().map(|start| start + part.start as u64));
            if let (crate::Lengths::Each(all), crate::Lengths::Each(found)) =
                (&mut all.lengths, found.lengths)
            {
                all.extend(found);
            }
        }
    }
    for strategy in Strategy::ALL {
        for buffer in [4096, 12_288, 1 << 20] {
            let watch = Watch::default();
            let options = options(strategy, 3, buffer);
            let scanned = scan(&image, &rules, &options, &watch).unwrap();
            assert_eq!(scanned.bad, bad, "{options:?}");
            assert_eq!(scanned.hits, expected, "{options:?}");
            let told: u64 = watch.bad.lock().unwrap().iter().map(|b| b.end - b.start).sum();
            assert_eq!(told, bad.iter().map(|b| b.end - b.start).sum::<u64>());
            assert_eq!(watch.advanced.into_inner(), 40_000);
        }
    }
}

#[test]
fn an_image_that_shrinks_is_an_error() {
    let image = FakeImage::new(bytes(10_000)).that_says(20_000);
    for strategy in Strategy::ALL {
        let error = scan(&image, &rules(), &options(strategy, 2, 4096), &()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("fake") && text.contains("10000 of 20000"), "{text}");
    }
}

/// A journal in a folder of its own.
fn with_journal(options: ScanOptions, folder: &tempfile::TempDir, resume: bool) -> ScanOptions {
    let path = folder.path().join("journal");
    ScanOptions { journal: Some(JournalOptions { path, resume }), ..options }
}

#[test]
fn an_interrupted_scan_goes_on_to_the_same_hits() {
    let (rules, bytes) = (rules(), bytes(60_000));
    let expected = naive::find(&bytes, &rules);
    let image = FakeImage::new(bytes);
    for strategy in Strategy::ALL {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch { stop_after: 8, ..Watch::default() };
        let first = with_journal(options(strategy, 2, 4096), &folder, false);
        let error = scan(&image, &rules, &first, &watch).unwrap_err();
        assert!(matches!(error, ScanError::Interrupted), "{strategy:?}: {error}");
        let rest = 60_000 - watch.advanced.into_inner();
        let watch = Watch::default();
        // Another strategy and buffer may go on.
        let second = with_journal(options(Strategy::Overlapped, 3, 8192), &folder, true);
        assert_eq!(scan(&image, &rules, &second, &watch).unwrap().hits, expected, "{strategy:?}");
        assert_eq!(watch.advanced.into_inner(), rest, "{strategy:?} searched some again");
    }
}

#[test]
fn a_journal_that_was_cut_anywhere_is_resumed() {
    let (rules, bytes) = (rules(), bytes(20_000));
    let image = FakeImage::new(bytes).failing([9000..9001]);
    let folder = tempfile::tempdir().unwrap();
    let options = with_journal(options(Strategy::Sync, 1, 4096), &folder, true);
    let expected = scan(&image, &rules, &options, &()).unwrap();
    let path = folder.path().join("journal");
    let whole = fs::read(&path).unwrap();
    for len in (0..whole.len()).step_by(97).chain([whole.len()]) {
        fs::write(&path, &whole[..len]).unwrap();
        assert_eq!(scan(&image, &rules, &options, &()).unwrap(), expected, "cut at {len}");
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {len}");
    }
    for at in (60..whole.len()).step_by(131) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(scan(&image, &rules, &options, &()).unwrap(), expected, "damaged at {at}");
    }
}

#[test]
fn a_journal_of_another_scan_is_refused() {
    let (rules, bytes) = (rules(), bytes(20_000));
    let folder = tempfile::tempdir().unwrap();
    let options = with_journal(options(Strategy::Sync, 1, 4096), &folder, true);
    let image = FakeImage::new(bytes.clone());
    scan(&image, &rules, &options, &()).unwrap();
    let refused = |image: &FakeImage, rules: &RuleSet, options: &ScanOptions, what: &str| {
        let error = scan(image, rules, options, &()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    refused(&FakeImage::new(bytes[1..].to_vec()), &rules, &options, "another length");
    let mut other = bytes.clone();
    other[0] ^= 1;
    refused(&FakeImage::new(other), &rules, &options, "another image");
    refused(&image, &RuleSet::default(), &options, "other rules");
    let range = ScanOptions { range: Some(0..10_000), ..options.clone() };
    refused(&image, &rules, &range, "another range");
    fs::write(folder.path().join("journal"), vec![b'x'; 100]).unwrap();
    refused(&image, &rules, &options, "not a journal");
}

/// Bytes after a number of unreadable ones.
struct FarImage(u64, Vec<u8>);

impl Image for FarImage {
    fn name(&self) -> &str {
        "far"
    }
    fn len(&self) -> u64 {
        self.0 + self.1.len() as u64
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let from = offset.checked_sub(self.0).ok_or(io::ErrorKind::Other)? as usize;
        let take = buf.len().min(self.1.len().saturating_sub(from));
        buf[..take].copy_from_slice(&self.1[from..from + take]);
        Ok(take)
    }
}

#[test]
fn offsets_have_64_bits() {
    let (rules, bytes) = (rules(), bytes(20_000));
    let far = 7_u64 << 40;
    let mut expected = naive::find(&bytes, &rules);
    expected.image_len = far + 20_000;
    for needle in &mut expected.needles {
        needle.starts.iter_mut().for_each(|start| *start += far);
    }
    let image = FarImage(far, bytes);
    for strategy in Strategy::ALL {
        let range = Some(far..far + 20_000);
        let options = ScanOptions { range, ..options(strategy, 2, 8192) };
        let scanned = scan(&image, &rules, &options, &()).unwrap();
        assert_eq!(scanned.hits, expected, "{strategy:?}");
    }
}

#[test]
fn a_packed_image_is_not_searched_as_a_stream() {
    let rules = crate::default_rules();
    let mut stream = &b"EVF\x09\x0d\x0a\xff\x00\x01\x01\x00\x00\x00"[..];
    let error = scan_stream(&mut stream, "stdin", &rules, &ScanOptions::default(), &());
    assert!(error.unwrap_err().to_string().contains("give its first segment as a file"));
}
