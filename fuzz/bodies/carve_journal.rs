//! Body of the target `carve_journal`, also included by `crates/carve/tests/regressions.rs`.
//!
//! The first byte of an input says what the rest is: the whole journal of a scan, or, with bit 0,
//! the payloads of its records, each after its length in one byte. These get the header and the
//! checksums, which a fuzzer would not guess. A scan that resumes ends with an error, or with
//! hits that lie in the image, in order.

use fyke_carve::conf;
use fyke_carve::image::fake::FakeImage;
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::pipeline::{
    JournalOptions, Observer, ScanError, ScanOptions, Scanned, Strategy, scan,
};
use fyke_carve::{Image, RuleSet};
use fyke_core::sink::{FNV_BASIS, fnv1a};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

const CONF: &[u8] = b"a y 5000 AB CD\nb n 90:9000 x?y zz NEXT\nc y 70 /q+r/ /[st]u*/ REVERSE\n";
/// Some chunks of the smallest buffer, and a part of one.
const IMAGE: usize = 3 * 4096 + 700;

struct Scene {
    folder: TempDir,
    rules: RuleSet,
    image: FakeImage,
    /// The journal of a scan that found nothing yet.
    header: Vec<u8>,
}

static SCENE: LazyLock<Scene> = LazyLock::new(Scene::new);

/// Stops a scan before its first chunk.
struct Stop;

impl Observer for Stop {
    fn interrupted(&self) -> bool {
        true
    }
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let rules = conf::parse(CONF, "c", conf::Options::default()).expect("it is right");
        let bytes = b"AB..xay..qqqr..CDzz..su".iter().copied().cycle().take(IMAGE).collect();
        let image = FakeImage::new(bytes);
        let path = folder.path().join("empty");
        let stopped = scan(&image, &rules, &options(&path, false), &Stop);
        assert!(matches!(stopped, Err(ScanError::Interrupted)));
        let header = fs::read(&path).expect("it was written");
        Self { folder, rules, image, header }
    }
}

fn options(path: &Path, resume: bool) -> ScanOptions {
    let journal = JournalOptions { path: path.to_owned(), resume };
    ScanOptions {
        strategy: Strategy::Sync,
        threads: 1,
        buffer: Some(4096),
        journal: Some(journal),
        ..ScanOptions::default()
    }
}

/// Resumes a scan from the journal of an input.
pub(crate) fn journal(data: &[u8]) {
    let scene = &*SCENE;
    let (&how, rest) = data.split_first().unwrap_or((&0, &[]));
    let journal = if how & 1 == 0 { rest.to_vec() } else { sealed(&scene.header, rest) };
    let path: PathBuf = scene.folder.path().join("journal");
    fs::write(&path, journal).expect("the folder is writable");
    match scan(&scene.image, &scene.rules, &options(&path, true), &()) {
        Ok(scanned) => check(scene, &scanned),
        Err(ScanError::Journal(error)) => assert!(!error.to_string().contains('\n'), "{error}"),
        Err(error) => panic!("{error}"),
    }
}

/// A journal of these payloads.
fn sealed(header: &[u8], mut payloads: &[u8]) -> Vec<u8> {
    let mut journal = header.to_vec();
    while let Some((&len, rest)) = payloads.split_first() {
        let (payload, rest) = rest.split_at(usize::from(len).min(rest.len()));
        journal.extend((payload.len() as u64).to_le_bytes());
        journal.extend(fnv1a(payload, FNV_BASIS).to_le_bytes());
        journal.extend(payload);
        payloads = rest;
    }
    journal
}

/// Hits lie in the image, in order, each with its length.
fn check(scene: &Scene, scanned: &Scanned) {
    let len = scene.image.len();
    for needle in &scanned.hits.needles {
        assert!(needle.starts.is_sorted_by(|a, b| a < b), "hits are not in order");
        for (index, &start) in needle.starts.iter().enumerate() {
            assert!(start + needle.len_of(index) <= len, "a hit lies past the image");
        }
    }
    assert!(scanned.bad.is_sorted_by_key(|bad| bad.start));
    assert!(scanned.bad.iter().all(|bad| bad.start <= bad.end && bad.end <= len));
    drop(pair(&scene.rules, &scanned.hits, &PairOptions::default(), 0));
}
