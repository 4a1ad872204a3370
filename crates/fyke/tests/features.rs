//! What the features re-export works with the library's own types.

#[cfg(feature = "rules")]
#[test]
fn rules_become_a_searcher() {
    use fyke::rules::{Format, parse};

    let file = br#"alert tcp any any -> any 80 (content:"GET |2f|"; nocase; sid:7;)"#;
    let parsed = parse(Format::Snort, "web.rules", file, &Default::default());
    let set = parsed.patterns.pattern_set(false).unwrap();
    assert_eq!(fyke::Searcher::builder().build(&set).unwrap().count("get /"), 1);
}

#[cfg(feature = "compression")]
#[test]
fn a_compressed_reader_is_scanned() {
    /// `needle in a tree`
    const GZIP: &[u8] = &[
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 75, 77, 77, 201, 73, 85, 200, 204, 83, 72, 84, 40,
        41, 74, 77, 5, 0, 111, 76, 124, 111, 16, 0, 0, 0,
    ];

    let reader = fyke::container::decompress(Box::new(GZIP)).unwrap();
    let mut count = fyke::Count::default();
    let _ = fyke::Searcher::new(["ee"]).unwrap().scan_read(reader, &mut count).unwrap();
    assert_eq!(count.matches, 2);
}
