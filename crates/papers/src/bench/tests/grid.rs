use crate::bench::grid::Grid;
use crate::bench::load::parse;

const TEXT: &str = r#"
    paper = "P"
    where = "table 1"
    title = "t"
    unit = "s"
    claim = []
    base = { patterns.source.random = 4, engine = "e", metric = "footprint" }
    column = [
        { label = "1" }, { label = "2" },
        { label = "all", ratio = { of.column = "*", to = { row = "a", column = "*" } } },
    ]
    row = [
        { label = "a" }, { label = "b" },
        { label = "a/b", ratio = { of.row = "a", to.row = "b" } },
        { label = "speedup", ratio = { of = { row = "b", column = "1" }, to.row = "b" } },
    ]
"#;

#[test]
fn ratios_are_of_rows_columns_and_sums() {
    let d = parse("x", TEXT).unwrap();
    let figures = [[1.0, 3.0], [2.0, 8.0]];
    let grid = Grid::of_measured(&d, |r, c| Some(figures[r][c]));
    let row = |r| (0..3).map(|c| grid.get(r, c)).collect::<Vec<_>>();
    assert_eq!(row(0), [Some(1.0), Some(3.0), Some(1.0)]);
    assert_eq!(row(1), [Some(2.0), Some(8.0), Some(2.5)]);
    assert_eq!(row(2), [Some(0.5), Some(0.375), None]);
    assert_eq!(row(3), [Some(1.0), Some(0.25), None]);
}

#[test]
fn what_is_missing_makes_what_depends_on_it_missing() {
    let d = parse("x", TEXT).unwrap();
    let grid = Grid::of_measured(&d, |r, c| ((r, c) != (1, 1)).then_some(1.0));
    assert_eq!(grid.get(1, 2), None, "a sum with a gap");
    assert_eq!((grid.get(2, 0), grid.get(2, 1)), (Some(1.0), None));
}
