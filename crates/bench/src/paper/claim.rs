//! What a paper says about its figures, and whether it holds for others.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::definition::{At, Definition};
use super::grid::Grid;
use super::print::plain;

/// A claim: one sentence, and one test of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// The claim in words.
    pub says: String,
    /// The cores that it takes to tell.
    #[serde(default)]
    pub cores: usize,
    /// Why the paper's own figures do not bear it out, if they do not.
    pub paper_fails: Option<String>,
    /// Rows in the order of their figures, the least first, in every column.
    pub order: Option<Order>,
    /// Columns in the order of their figures, the least first, in every row.
    pub rises: Option<Order>,
    /// Figures, or ratios of two, within bounds.
    pub bound: Option<Bound>,
    /// How a row grows with the numbers of its columns.
    pub slope: Option<Slope>,
    /// Figures that are the paper's.
    pub same: Option<Same>,
}

/// An order of rows or of columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Order {
    /// The rows.
    #[serde(default)]
    rows: Vec<String>,
    /// The columns; all that are measured if none is named.
    #[serde(default)]
    columns: Vec<String>,
    /// The share of lines in which it has to hold.
    #[serde(default = "all")]
    share: f64,
}

/// Bounds of figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bound {
    /// The figures: all rows or columns that are not named.
    of: At,
    /// What they are divided by.
    to: Option<At>,
    /// Rows that are meant, if `of` names none; all if none is named here either.
    #[serde(default)]
    rows: Vec<String>,
    /// The same of columns; all that are measured if none is named.
    #[serde(default)]
    columns: Vec<String>,
    /// The least.
    at_least: Option<f64>,
    /// The greatest.
    at_most: Option<f64>,
}

/// Bounds of the exponent that fits best: 1 is linear, 0 is flat.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Slope {
    /// The rows.
    rows: Vec<String>,
    /// The columns; all that are measured if none is named.
    #[serde(default)]
    columns: Vec<String>,
    /// The least exponent.
    at_least: Option<f64>,
    /// The greatest.
    at_most: Option<f64>,
}

/// Figures that are the paper's, wherever it has one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Same {
    /// How far off they may be, as a share of the paper's.
    within: f64,
}

fn all() -> f64 {
    1.0
}

/// Whether a claim holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does; the figures that say so.
    Holds(String),
    /// It does not; the figures that say so.
    Fails(String),
    /// Figures are missing.
    Untold(String),
}

/// Comparisons of one claim.
#[derive(Default)]
struct Trial {
    right: Vec<String>,
    wrong: Vec<String>,
    missing: usize,
}

/// Figures that are named where a claim holds, and where it does not.
const NAMED: [usize; 2] = [2, 4];

impl Trial {
    fn add(&mut self, holds: bool, figures: String) {
        if holds { self.right.push(figures) } else { self.wrong.push(figures) }
    }

    fn verdict(self, share: f64) -> Verdict {
        let made = self.right.len() + self.wrong.len();
        if made == 0 {
            return Verdict::Untold("figures are missing".into());
        }
        let gaps = match self.missing {
            0 => String::new(),
            n => format!("; {n} more without figures"),
        };
        if self.right.len() as f64 >= share * made as f64 {
            let of = if self.wrong.is_empty() {
                String::new()
            } else {
                format!("in {} of {made}: ", self.right.len())
            };
            return Verdict::Holds(format!("{of}{}{gaps}", some(&self.right, NAMED[0])));
        }
        let wrong = self.wrong.len();
        Verdict::Fails(format!("not in {wrong} of {made}: {}{gaps}", some(&self.wrong, NAMED[1])))
    }
}

fn some(figures: &[String], named: usize) -> String {
    let shown = figures[..figures.len().min(named)].join(", ");
    match figures.len().saturating_sub(named) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}

impl Claim {
    /// Checks that what it names is there.
    ///
    /// # Errors
    /// A row or column is not there, or there is not one test.
    pub fn check(&self, definition: &Definition) -> Result<()> {
        let tests = [
            self.order.is_some(),
            self.rises.is_some(),
            self.bound.is_some(),
            self.slope.is_some(),
            self.same.is_some(),
        ];
        ensure!(tests.iter().filter(|t| **t).count() == 1, "it needs one test");
        let (rows, columns) = self.names();
        rows.iter().try_for_each(|r| definition.row(r).map(|_| ()))?;
        columns.iter().try_for_each(|c| definition.column(c).map(|_| ()))?;
        if let Some(bound) = &self.bound {
            let bounded = bound.at_least.is_some() || bound.at_most.is_some();
            ensure!(bounded, "a bound needs at-least or at-most");
        }
        match &self.slope {
            Some(slope) => places(definition, &slope.columns)?
                .into_iter()
                .try_for_each(|c| number(definition, c).map(|_| ())),
            None => Ok(()),
        }
    }

    /// Every row and column that it names.
    fn names(&self) -> (Vec<String>, Vec<String>) {
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        for order in self.order.iter().chain(&self.rises) {
            rows.extend_from_slice(&order.rows);
            columns.extend_from_slice(&order.columns);
        }
        if let Some(bound) = &self.bound {
            rows.extend_from_slice(&bound.rows);
            columns.extend_from_slice(&bound.columns);
            for at in std::iter::once(&bound.of).chain(&bound.to) {
                rows.extend(at.row.clone());
                columns.extend(at.column.clone().filter(|c| c != "*"));
            }
        }
        if let Some(slope) = &self.slope {
            rows.extend_from_slice(&slope.rows);
            columns.extend_from_slice(&slope.columns);
        }
        (rows, columns)
    }

    /// Tests it on figures that were measured on a machine of so many cores.
    ///
    /// # Errors
    /// It names what is not there.
    pub fn test_on(&self, cores: usize, definition: &Definition, grid: &Grid) -> Result<Verdict> {
        if cores < self.cores {
            let (takes, has) = (self.cores, cores);
            return Ok(Verdict::Untold(format!("it takes {takes} cores, and there are {has}")));
        }
        self.test(definition, grid)
    }

    /// Tests it on figures.
    ///
    /// # Errors
    /// It names what is not there.
    pub fn test(&self, definition: &Definition, grid: &Grid) -> Result<Verdict> {
        if let Some(order) = &self.order {
            return test_order(order, definition, grid);
        }
        if let Some(order) = &self.rises {
            return test_rises(order, definition, grid);
        }
        if let Some(bound) = &self.bound {
            return test_bound(bound, definition, grid);
        }
        if let Some(same) = &self.same {
            return Ok(test_same(*same, definition, grid));
        }
        test_slope(self.slope.as_ref().context("no test")?, definition, grid)
    }
}

/// The places of columns; those that are measured if none is named.
fn places(definition: &Definition, names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        let all = 0..definition.columns.len();
        return Ok(all.filter(|c| definition.columns[*c].ratio.is_none()).collect());
    }
    names.iter().map(|c| definition.column(c)).collect()
}

/// The places of rows; all if none is named.
fn row_places(definition: &Definition, names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..definition.rows.len()).collect());
    }
    names.iter().map(|r| definition.row(r)).collect()
}

fn test_order(order: &Order, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let rows = row_places(definition, &order.rows)?;
    let mut trial = Trial::default();
    for column in places(definition, &order.columns)? {
        let figures = rows.iter().map(|&r| (&*definition.rows[r].label, grid.get(r, column)));
        compare(&mut trial, figures, &definition.columns[column].label);
    }
    Ok(trial.verdict(order.share))
}

fn test_rises(order: &Order, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let columns = places(definition, &order.columns)?;
    let mut trial = Trial::default();
    for row in row_places(definition, &order.rows)? {
        let figures = columns.iter().map(|&c| (&*definition.columns[c].label, grid.get(row, c)));
        compare(&mut trial, figures, &definition.rows[row].label);
    }
    Ok(trial.verdict(order.share))
}

/// One comparison: whether figures that are there stand in ascending order.
fn compare<'a>(trial: &mut Trial, figures: impl Iterator<Item = (&'a str, Option<f64>)>, of: &str) {
    let mut there: Vec<(&str, f64)> = Vec::new();
    for (label, value) in figures {
        match value {
            Some(value) => there.push((label, value)),
            None => trial.missing += 1,
        }
    }
    if there.len() < 2 {
        return;
    }
    let text = |side: &[(&str, f64)], between: &str| {
        let each: Vec<_> = side.iter().map(|(l, v)| format!("{l} ({})", plain(*v))).collect();
        format!("{of}: {}", each.join(between))
    };
    match there.windows(2).find(|pair| pair[0].1 >= pair[1].1) {
        Some(pair) => trial.add(false, text(pair, " >= ")),
        None => trial.add(true, text(&[there[0], there[there.len() - 1]], " < ")),
    }
}

fn test_bound(bound: &Bound, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let mut trial = Trial::default();
    let rows = match &bound.of.row {
        Some(row) => vec![definition.row(row)?],
        None => row_places(definition, &bound.rows)?,
    };
    let columns = match &bound.of.column {
        Some(column) if column == "*" => vec![0],
        Some(column) => vec![definition.column(column)?],
        None => places(definition, &bound.columns)?,
    };
    let mut values = Vec::new();
    for &row in &rows {
        for &column in &columns {
            match bound.value(definition, grid, row, column) {
                Some(value) => values.push((value, bound.name(definition, row, column))),
                None => trial.missing += 1,
            }
        }
    }
    values.sort_by(|a, b| bound.excess(b.0).total_cmp(&bound.excess(a.0)));
    for (value, name) in values {
        trial
            .add(bound.excess(value) <= 0.0, format!("{name} is {}{}", plain(value), bound.text()));
    }
    Ok(trial.verdict(1.0))
}

impl Bound {
    fn value(
        &self,
        definition: &Definition,
        grid: &Grid,
        row: usize,
        column: usize,
    ) -> Option<f64> {
        let of = grid.at(definition, &self.of, row, column)?;
        match &self.to {
            None => Some(of),
            Some(to) => {
                grid.at(definition, to, row, column).filter(|t| *t != 0.0).map(|to| of / to)
            }
        }
    }

    /// How far a value is out of the bounds; negative if it is within.
    fn excess(&self, value: f64) -> f64 {
        let below = self.at_least.map_or(f64::NEG_INFINITY, |least| least - value);
        let above = self.at_most.map_or(f64::NEG_INFINITY, |most| value - most);
        below.max(above)
    }

    fn name(&self, definition: &Definition, row: usize, column: usize) -> String {
        let cell = |at: &At| {
            let row = at.row.as_deref().unwrap_or(&definition.rows[row].label);
            match at.column.as_deref().unwrap_or(&definition.columns[column].label) {
                "*" => format!("{row} over all columns"),
                column => format!("{row} at {column}"),
            }
        };
        match &self.to {
            None => cell(&self.of),
            Some(to) => format!("{} / {}", cell(&self.of), cell(to)),
        }
    }

    fn text(&self) -> String {
        let least = self.at_least.map(|l| format!("at least {}", plain(l)));
        let most = self.at_most.map(|m| format!("at most {}", plain(m)));
        let bounds: Vec<_> = least.into_iter().chain(most).collect();
        format!(" ({})", bounds.join(", "))
    }
}

fn test_slope(slope: &Slope, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let columns = places(definition, &slope.columns)?;
    let mut trial = Trial::default();
    for label in &slope.rows {
        let row = definition.row(label)?;
        let mut points = Vec::new();
        for &column in &columns {
            match grid.get(row, column) {
                Some(y) => points.push((number(definition, column)?, y)),
                None => trial.missing += 1,
            }
        }
        if let Some(exponent) = exponent(&points) {
            let least = slope.at_least.is_none_or(|l| exponent >= l);
            let most = slope.at_most.is_none_or(|m| exponent <= m);
            trial.add(least && most, format!("{label} grows as the power {exponent:.2}"));
        }
    }
    Ok(trial.verdict(1.0))
}

fn test_same(same: Same, definition: &Definition, grid: &Grid) -> Verdict {
    let mut trial = Trial::default();
    for (r, row) in definition.rows.iter().enumerate() {
        for (c, column) in definition.columns.iter().enumerate() {
            let Some(paper) = definition.paper_figure(r, c) else { continue };
            match grid.get(r, c) {
                None => trial.missing += 1,
                Some(here) => {
                    let near = (here - paper).abs() <= same.within * paper.abs();
                    let (here, paper) = (plain(here), plain(paper));
                    let cell = format!("{} at {}", row.label, column.label);
                    trial.add(near, format!("{cell} is {here}, the paper has {paper}"));
                }
            }
        }
    }
    trial.verdict(1.0)
}

/// The number of a column.
fn number(definition: &Definition, column: usize) -> Result<f64> {
    let column = &definition.columns[column];
    column.x.with_context(|| format!("column {:?} has no number x", column.label))
}

/// The exponent of the power that fits best: least squares of the logarithms.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) =
        (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let slope = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / spread;
    (logs.len() >= 2 && slope.is_finite()).then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let d = Definition::parse("x", &text).unwrap();
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
            Verdict::Holds(
                "a over all columns / b over all columns is 0.750 (at most 0.750)".into()
            )
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
    fn a_claim_may_need_cores() {
        let text = "says = 'c'\ncores = 4\nsame.within = 0";
        let claim: Claim = toml::from_str(text).unwrap();
        let table = "paper = 'P'\nwhere = 't'\ntitle = 't'\nunit = 's'\nclaim = []\n\
                     column = [{ label = '1' }]\nrow = [{ label = 'a', paper = [1] }]\n[base]\n\
                     patterns.source.random = 4\nengine = 'e'\nmetric = 'footprint'";
        let d = Definition::parse("x", table).unwrap();
        let grid = Grid::of_paper(&d);
        assert!(matches!(claim.test_on(2, &d, &grid).unwrap(), Verdict::Untold(_)));
        assert!(matches!(claim.test_on(4, &d, &grid).unwrap(), Verdict::Holds(_)));
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
            let d = Definition::parse("x", &text).unwrap();
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
}
