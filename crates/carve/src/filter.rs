//! Filters: which carved files to list, export or extract.

use crate::embedded::containers;
use crate::{CarvedFile, RuleSet, Validity};
use std::ops::{Range, RangeInclusive};

/// Conditions that files must meet. An empty list is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Extensions, in lower case. `none` stands for rules without one.
    pub extensions: Vec<String>,
    /// Indexes of rules.
    pub rules: Vec<usize>,
    /// Ranges of numbers.
    pub numbers: Vec<RangeInclusive<u64>>,
    /// Lengths in bytes.
    pub len: RangeInclusive<u64>,
    /// Where files begin.
    pub start: Range<u64>,
    /// What a validator says.
    pub valid: Option<Validity>,
    /// Leave out the files that begin inside others, as [`containers`] says.
    pub no_embedded: bool,
    /// The most files: the first ones that meet the other conditions.
    pub limit: Option<usize>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            extensions: Vec::new(),
            rules: Vec::new(),
            numbers: Vec::new(),
            len: 0..=u64::MAX,
            start: 0..u64::MAX,
            valid: None,
            no_embedded: false,
            limit: None,
        }
    }
}

impl Filter {
    /// The indexes of the files that meet all conditions, in order.
    ///
    /// # Panics
    ///
    /// If a file's rule is of another rule set.
    #[must_use]
    pub fn select(&self, rules: &RuleSet, files: &[CarvedFile]) -> Vec<usize> {
        let chosen: Vec<bool> = (0..rules.rules.len()).map(|i| self.has_rule(rules, i)).collect();
        let inside = if self.no_embedded { containers(rules, files) } else { Vec::new() };
        let is_embedded = |index: usize| inside.get(index).is_some_and(Option::is_some);
        let is_chosen = |index: usize, file: &CarvedFile| {
            chosen[file.rule] && self.has(file) && !is_embedded(index)
        };
        let found = files.iter().enumerate().filter(|&(index, file)| is_chosen(index, file));
        found.map(|(index, _)| index).take(self.limit.unwrap_or(usize::MAX)).collect()
    }

    fn has_rule(&self, rules: &RuleSet, index: usize) -> bool {
        let extension = rules.rules[index].extension.as_deref().unwrap_or("none");
        let is_named = self.extensions.iter().any(|e| e.eq_ignore_ascii_case(extension));
        (self.extensions.is_empty() || is_named)
            && (self.rules.is_empty() || self.rules.contains(&index))
    }

    fn has(&self, file: &CarvedFile) -> bool {
        let is_numbered = self.numbers.iter().any(|range| range.contains(&file.number));
        (self.numbers.is_empty() || is_numbered)
            && self.len.contains(&file.len)
            && self.start.contains(&file.start)
            && self.valid.is_none_or(|valid| valid == file.valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mode, NeedleId, Rule};

    fn rules() -> RuleSet {
        let rule = |extension: Option<&str>| Rule {
            line: 1,
            extension: extension.map(str::to_owned),
            min_len: 0,
            max_len: 9,
            header: NeedleId(0),
            footer: None,
            mode: Mode::Forward,
        };
        RuleSet { rules: vec![rule(Some("JPG")), rule(None), rule(Some("jpg"))], needles: vec![] }
    }

    fn files() -> Vec<CarvedFile> {
        let validities = [Validity::Yes, Validity::No, Validity::Unknown];
        let file = |i: u64| CarvedFile {
            number: 10 + i,
            rule: (i % 3) as usize,
            start: 100 * i,
            len: 1 + i,
            chopped: false,
            valid: validities[(i / 3) as usize],
        };
        (0..9).map(file).collect()
    }

    #[track_caller]
    fn assert_selects(filter: Filter, expected: &[usize]) {
        assert_eq!(filter.select(&rules(), &files()), expected, "{filter:?}");
    }

    #[test]
    fn each_condition_and_all_of_them() {
        let none = Filter::default;
        assert_selects(none(), &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_selects(Filter { extensions: vec!["jpg".into()], ..none() }, &[0, 2, 3, 5, 6, 8]);
        assert_selects(Filter { extensions: vec!["none".into()], ..none() }, &[1, 4, 7]);
        assert_selects(Filter { extensions: vec!["gif".into()], ..none() }, &[]);
        assert_selects(Filter { rules: vec![2], ..none() }, &[2, 5, 8]);
        assert_selects(Filter { numbers: vec![0..=10, 17..=99], ..none() }, &[0, 7, 8]);
        assert_selects(Filter { len: 2..=3, ..none() }, &[1, 2]);
        assert_selects(Filter { start: 100..300, ..none() }, &[1, 2]);
        assert_selects(Filter { valid: Some(Validity::No), ..none() }, &[3, 4, 5]);
        assert_selects(Filter { no_embedded: true, ..none() }, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_selects(Filter { limit: Some(2), rules: vec![1], ..none() }, &[1, 4]);
        assert_selects(Filter { rules: vec![0, 1], len: 5..=7, start: 0..600, ..none() }, &[4]);
    }
}
