//! [`Multi`]: a database of several literals, searched by the engine that fyke chooses.

use crate::error::{Failure, Rejection};
use crate::expression::Literal;
use crate::report::{Plain, Reporter, Reports};
use crate::rules::Rule;
use fyke::{Batch, Matcher, Options, PatternId, PatternSet, Semantics, Sink};
use fyke_core::{Block, Driver};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Bytes of a typical call: a packet or a header. Suricata's calls on ET rules have 1.2 KB.
const EXPECTED_CALL: u64 = 1200;

/// Several literals, compiled. The ids of the pattern set are the positions of the rules.
pub(crate) struct Multi {
    matcher: Arc<dyn Matcher>,
    reports: Reports,
    plain: Plain,
    /// Kept here because each scan asks for it and the set may be out of cache.
    overlap: usize,
}

impl Multi {
    /// Compiles rules.
    pub(crate) fn new(rules: &[Rule]) -> Result<Self, Failure> {
        let mut builder = PatternSet::builder();
        builder.reserve(rules.len(), rules.iter().map(|r| r.literal.bytes.len()).sum());
        for (index, rule) in rules.iter().enumerate() {
            let literal = &rule.literal;
            builder.push_with(PatternId(index as u32), &literal.bytes, literal.nocase).map_err(
                |error| Failure::of_expression(index, Rejection::Wrong(error.to_string())),
            )?;
        }
        let options = Options::default().in_calls(Some(EXPECTED_CALL)).expecting(None, 1);
        let matcher = fyke::registry::compile_with("auto", &builder.build(), &options)
            .map_err(|refusal| Failure::of_call(refusal.to_string()))?;
        let (set, reports) = (matcher.set(), Reports::new(rules));
        let (overlap, plain) = (set.overlap(), reports.plain(set));
        Ok(Self { matcher, reports, plain, overlap })
    }

    /// What its rules report.
    pub(crate) fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Bytes of history that a block needs.
    pub(crate) fn overlap(&self) -> usize {
        self.overlap
    }

    /// Bytes on the heap.
    pub(crate) fn memory(&self) -> usize {
        let matcher = self.matcher.footprint().host + self.matcher.set().memory();
        matcher as usize + self.reports.memory() + self.plain.memory()
    }

    /// The rules that it was compiled from, in their order.
    pub(crate) fn rules(&self) -> Vec<Rule> {
        let set = self.matcher.set();
        let mut patterns = vec![0; self.reports.len()];
        for pattern in set.iter() {
            for id in pattern.ids {
                patterns[id.0 as usize] = pattern.index;
            }
        }
        let rule = |(rule, &index): (usize, &u32)| {
            let pattern = set.get(index);
            let literal = Literal { bytes: pattern.bytes.to_vec(), nocase: pattern.nocase };
            Rule { literal, terms: self.reports.terms(rule as u32) }
        };
        patterns.iter().enumerate().map(rule).collect()
    }

    /// Reports the matches that a block owns.
    pub(crate) fn scan(
        &self,
        block: Block<'_>,
        driver: &mut Driver,
        reporter: &mut Reporter<'_>,
    ) -> ControlFlow<()> {
        driver.restart(Semantics::All, self.matcher.set());
        let mut sink = ReportSink { multi: self, reporter };
        driver.scan(&*self.matcher, block, &mut sink)
    }
}

/// Passes the records of an engine on to a reporter.
struct ReportSink<'a, 'r> {
    multi: &'a Multi,
    reporter: &'a mut Reporter<'r>,
}

impl Sink for ReportSink<'_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for &record in batch.records {
            let end = batch.end(record);
            if let Some(id) = self.multi.plain.id(record.pattern) {
                self.reporter.plain(id, end)?;
                continue;
            }
            let start = end - batch.set.pattern_len(record.pattern) as u64;
            for id in batch.set.ids(record.pattern) {
                self.reporter.occurrence(&self.multi.reports, id.0, (start, end))?;
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::rule;

    #[test]
    fn the_rules_come_back() {
        let mut rules =
            vec![rule("Ab", 0, 4), rule("xyz", 8, 3), rule("Ab", 0, 5), rule("Ab", 256, 4)];
        rules.push(rule("caseless", 1, 3));
        rules[4].terms.is_single = true;
        rules[2].terms.max = 77;
        assert_eq!(Multi::new(&rules).unwrap().rules(), rules);
    }
}
