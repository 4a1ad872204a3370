use crate::bench::claim::judge::exponent;
use crate::bench::claim::{Claim, Verdict};
use crate::bench::grid::Grid;
use crate::bench::load::parse;

fn verdict(claim: &str, figures: [[f64; 3]; 2]) -> Verdict {
    let text = format!(
        r#"
        paper = "P"
        where = "table 1"
        title = "t"
        unit = "s"
        base = {{ patterns.source.random = 4, engine = "e", metric = "footprint" }}
        column = [ {{ label = "1", x = 1 }}, {{ label = "10", x = 10 }}, {{ label = "100", x = 100 }} ]
        row = [ {{ label = "a" }}, {{ label = "b" }} ]
        [[claim]]
        says = "c"
        {claim}
    "#
    );
    let d = parse("x", &text).unwrap();
    let grid = Grid::of_measured(&d, |r, c| Some(figures[r][c]));
    d.claims[0].test(&d, &grid).unwrap()
}

fn holds(claim: &str, figures: [[f64; 3]; 2]) -> bool {
    matches!(verdict(claim, figures), Verdict::Holds(_))
}

#[test]
fn orders() {
    let claim = "order.rows = ['a', 'b']";
    assert!(holds(claim, [[1., 2., 3.], [2., 3., 4.]]));
    let wrong = verdict(claim, [[1., 2., 3.], [2., 2., 4.]]);
    assert_eq!(wrong, Verdict::Fails("not in 1 of 3: 10: a (2) >= b (2)".into()));
    assert!(holds("order = { rows = ['a', 'b'], share = 0.5 }", [[1., 2., 3.], [2., 2., 4.]]));
    assert!(holds("rises.rows = ['a']", [[1., 2., 3.], [2., 2., 4.]]));
    assert!(!holds("rises.rows = ['b']", [[1., 2., 3.], [2., 2., 4.]]));
}

#[test]
fn bounds() {
    let figures = [[1., 2., 3.], [2., 2., 4.]];
    assert!(holds("bound = { of.row = 'a', at-most = 3 }", figures));
    assert!(!holds("bound = { of.row = 'a', at-most = 2.9 }", figures));
    assert!(holds("bound = { of.row = 'a', to.row = 'b', at-least = 0.5 }", figures));
    assert!(!holds("bound = { of.row = 'a', to.row = 'b', at-least = 0.51 }", figures));
    let sums = "bound = { of = { row = 'a', column = '*' }, to = { row = 'b', column = '*' }, at-most = 0.75 }";
    assert_eq!(
        verdict(sums, figures),
        Verdict::Holds("a over all columns / b over all columns is 0.750 (at most 0.750)".into())
    );
}

#[test]
fn slopes() {
    let figures = [[3., 30., 300.], [5., 5., 5.]];
    assert!(holds("slope = { rows = ['a'], at-least = 0.8, at-most = 1.2 }", figures));
    assert!(!holds("slope = { rows = ['a'], at-most = 0.3 }", figures));
    assert!(holds("slope = { rows = ['b'], at-most = 0.3 }", figures));
    assert!((exponent(&[(1., 2.), (10., 200.)]).unwrap() - 2.0).abs() < 1e-9);
    assert_eq!(exponent(&[(1., 2.)]), None);
}

#[test]
fn a_claim_may_need_cores_or_few_of_them() {
    let text = "says = 'c'\ncores = 4\nsame.within = 0";
    let claim: Claim = toml::from_str(text).unwrap();
    let table = "paper = 'P'\nwhere = 't'\ntitle = 't'\nunit = 's'\nclaim = []\n\
                 column = [{ label = '1' }]\nrow = [{ label = 'a', paper = [1] }]\n[base]\n\
                 patterns.source.random = 4\nengine = 'e'\nmetric = 'footprint'";
    let d = parse("x", table).unwrap();
    let grid = Grid::of_paper(&d);
    assert!(matches!(claim.test_on(2, &d, &grid).unwrap(), Verdict::Untold(_)));
    assert!(matches!(claim.test_on(4, &d, &grid).unwrap(), Verdict::Holds(_)));
    let few = Claim { cores_below: Some(16), ..claim };
    assert!(matches!(few.test_on(16, &d, &grid).unwrap(), Verdict::Untold(_)));
    assert!(matches!(few.test_on(15, &d, &grid).unwrap(), Verdict::Holds(_)));
}

#[test]
fn figures_of_the_paper() {
    let claim = "same.within = 0.1\n[[row]]\nlabel = 'a'\npaper = [10, '-', 3]";
    let test = |figures: [f64; 3]| {
        let text = format!(
            "paper = 'P'\nwhere = 't'\ntitle = 't'\nunit = 's'\ncolumn = [{{ label = '1' }}, \
             {{ label = '2' }}, {{ label = '3' }}]\n[base]\npatterns.source.random = 4\n\
             engine = 'e'\nmetric = 'footprint'\n[[claim]]\nsays = 'c'\n{claim}"
        );
        let d = parse("x", &text).unwrap();
        d.claims[0].test(&d, &Grid::of_measured(&d, |_, c| Some(figures[c]))).unwrap()
    };
    assert!(matches!(test([10.9, 99.0, 3.0]), Verdict::Holds(_)));
    let fails = "not in 1 of 2: a at 3 is 4, the paper has 3".to_string();
    assert_eq!(test([10.0, 99.0, 4.0]), Verdict::Fails(fails));
}

#[test]
fn missing_figures_are_no_verdict() {
    let gaps = [[f64::NAN; 3]; 2];
    for claim in ["order.rows = ['a', 'b']", "bound = { of.row = 'a', at-most = 3 }"] {
        assert!(matches!(verdict(claim, gaps), Verdict::Untold(_)));
    }
}
