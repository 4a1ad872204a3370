//! Images that are cut, changed or not all there.

use crate::acquire::bytes;
use crate::{Acquired, refused};
use fyke_carve::image;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Opens and reads an image. The bytes outside the bad ranges must be those of `raw`.
fn read(first: &Path, raw: &[u8]) -> Result<Vec<Range<u64>>, String> {
    let image = image::open(first).map_err(|error| error.to_string())?;
    assert_eq!(image.len(), raw.len() as u64);
    let mut buf = vec![0; raw.len()];
    let bad = image::read_readable(&*image, 0, &mut buf).unwrap();
    let mut at = 0;
    for range in bad.iter().chain([&(raw.len() as u64..0)]) {
        let good = at..range.start as usize;
        assert!(buf[good.clone()] == raw[good.clone()], "{good:?} of {}", first.display());
        at = range.end as usize;
    }
    Ok(bad)
}

/// Calls `check` with the file changed, then puts the file back.
fn with(path: &Path, changed: &[u8], check: impl FnOnce()) {
    let intact = fs::read(path).unwrap();
    fs::write(path, changed).unwrap();
    check();
    fs::write(path, intact).unwrap();
}

#[test]
fn a_changed_bit_is_a_bad_range_or_an_error_or_does_not_matter() {
    if refused("a_changed_bit_is_a_bad_range_or_an_error_or_does_not_matter") {
        return;
    }
    for compression in ["none", "fast"] {
        let case = Acquired::new(bytes(5_001), ("encase6", compression, 64));
        let (mut errors, mut bad_chunks, mut harmless) = (0, 0, 0);
        for (number, segment) in case.segments.iter().enumerate() {
            let intact = fs::read(segment).unwrap();
            // The ends have sections close to each other, the middle has chunks.
            let ends = (0..3000).step_by(37).flat_map(|n| [n, intact.len() - 1 - n]);
            for (n, at) in ends.chain((3000..intact.len() - 3000).step_by(29_989)).enumerate() {
                let mut changed = intact.clone();
                changed[at] ^= 1 << (n % 8);
                with(segment, &changed, || match read(case.first(), &case.bytes) {
                    Ok(bad) if bad.is_empty() => harmless += 1,
                    Ok(bad) => {
                        assert_eq!(bad.len(), 1, "segment {number}, byte {at}");
                        assert!(bad[0].end - bad[0].start <= 32_768 && bad[0].start % 32_768 == 0);
                        bad_chunks += 1;
                    }
                    Err(error) => {
                        let first = case.first().with_extension("").display().to_string();
                        assert!(error.contains(&first), "{error}");
                        errors += 1;
                    }
                });
            }
        }
        println!("{compression}: {errors} errors, {bad_chunks} bad chunks, {harmless} harmless");
        assert!(errors > 20 && bad_chunks > 50 && harmless > 20);
    }
}

#[test]
fn a_segment_that_is_cut_is_an_error_that_names_it() {
    if refused("a_segment_that_is_cut_is_an_error_that_names_it") {
        return;
    }
    let case = Acquired::new(bytes(5_001), ("encase6", "fast", 64));
    for segment in [&case.segments[0], case.segments.last().unwrap()] {
        let intact = fs::read(segment).unwrap();
        let ends = (0..600).chain(intact.len() - 1200..intact.len());
        for len in ends.chain((600..intact.len()).step_by(9_973)) {
            with(segment, &intact[..len], || {
                let error = read(case.first(), &case.bytes).unwrap_err();
                assert!(error.contains(&segment.display().to_string()), "{len}: {error}");
            });
        }
    }
}

#[test]
fn a_missing_segment_is_named() {
    if refused("a_missing_segment_is_named") {
        return;
    }
    let case = Acquired::new(bytes(5_001), ("encase6", "none", 64));
    for missing in &case.segments[1..] {
        let away = missing.with_extension("away");
        fs::rename(missing, &away).unwrap();
        let error = image::open(case.first()).err().unwrap().to_string();
        let name = missing.display().to_string();
        assert!(error.contains(&name) && error.contains("missing"), "{error}");
        fs::rename(&away, missing).unwrap();
    }
}

#[test]
fn a_segment_in_the_place_of_another_is_an_error() {
    if refused("a_segment_in_the_place_of_another_is_an_error") {
        return;
    }
    let case = Acquired::new(bytes(5_001), ("encase6", "none", 64));
    let error = image::open(&case.segments[1]).err().unwrap().to_string();
    assert!(error.contains("segment 2") && error.contains("give the first"), "{error}");
    with(&case.segments[1], &fs::read(&case.segments[2]).unwrap(), || {
        let error = image::open(case.first()).err().unwrap().to_string();
        assert!(error.contains("it is segment 3, where segment 2 should be"), "{error}");
    });
}
