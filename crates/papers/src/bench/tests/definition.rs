use std::fs;

use fyke_bench::definition::Source;

use crate::bench::load::{load_file, natural, parse};

const TEXT: &str = r#"
    paper = "P"
    where = "table 1"
    title = "t"
    unit = "bytes"
    [base]
    patterns.source.random = 4
    patterns.count = 3
    patterns.min_len = 2
    engine = "ac-dfa"
    metric = "footprint"
    [[column]]
    label = "3"
    [[column]]
    label = "9"
    set.patterns.count = "{n}"
    set.patterns.source.golden = "{list}"
    fill = { n = 9, list = "words" }
    [[column]]
    label = "share"
    ratio = { of.column = "3", to.column = "9" }
    [[row]]
    label = "nfa"
    set.engine = "ac-nfa"
    paper = [1, "-", 0.5]
    [[claim]]
    says = "c"
    bound = { of.row = "nfa", at-most = 3 }
"#;

#[test]
fn a_cell_is_base_and_row_and_column() {
    let d = parse("x", TEXT).unwrap();
    let cell = d.settings(0, 1).unwrap().unwrap();
    assert_eq!((cell.spec().as_str(), cell.patterns.count, cell.threads), ("ac-nfa", Some(9), 1));
    assert!(matches!(&cell.patterns.source, Source::Golden(l) if l == "words"));
    assert!(d.settings(0, 2).unwrap().is_none(), "it is computed");
    assert_eq!((d.paper_figure(0, 0), d.paper_figure(0, 1)), (Some(1.0), None));
}

#[test]
fn mistakes_are_named() {
    for (right, wrong, named) in [
        ("[1, \"-\", 0.5]", "[1, 2]", "2 figures for 3 columns"),
        ("of.column = \"3\"", "of.column = \"4\"", "no column \"4\""),
        ("of.row = \"nfa\"", "of.row = \"dfa\"", "no row \"dfa\""),
        ("metric = \"footprint\"", "metric = \"foot\"", "foot"),
        ("metric = \"footprint\"", "metric = \"ms\"", "no haystack"),
        ("unit = ", "untie = ", "untie"),
        ("\"-\"", "\"+\"", "neither a number"),
    ] {
        assert!(TEXT.contains(right), "{right}");
        let error = parse("x", &TEXT.replace(right, wrong)).unwrap_err();
        assert!(format!("{error:#}").contains(named), "{error:#} should name {named}");
    }
}

#[test]
fn a_definition_may_be_another_one_under_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |id: &str, text: &str| {
        let file = folder.path().join(format!("{id}.toml"));
        fs::write(&file, text).unwrap();
        load_file(&file)
    };
    let original = write("x", TEXT).unwrap();
    let copy = write("y", "same-as = 'x'\npaper = 'Q'\n").unwrap();
    assert_eq!((copy.id.as_str(), copy.paper.as_str(), copy.title.as_str()), ("y", "Q", "t"));
    assert_eq!(copy.rows.len(), original.rows.len());
    for (text, named) in [
        ("same-as = 'w'", "there is no w"),
        ("same-as = 3", "not an id"),
        ("same-as = 'y'", "a third one"),
        ("same-as = 'x'\nuntie = ''", "untie"),
    ] {
        let error = format!("{:#}", write("z", text).unwrap_err());
        assert!(error.contains(named) && error.contains("z.toml"), "{error}");
    }
}

#[test]
fn ids_are_in_the_order_of_the_tables() {
    let mut ids = ["D-2-10", "Z-III", "D-2-9", "B-6", "D-fig-4-5"];
    ids.sort_by_key(|id| natural(id));
    assert_eq!(ids, ["B-6", "D-2-9", "D-2-10", "D-fig-4-5", "Z-III"]);
}
