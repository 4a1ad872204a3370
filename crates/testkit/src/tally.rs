//! Counts of what was checked, refused and skipped, by engine: printed at the end of a test program.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

/// Reasons shown for one engine; a set with a thousand sizes has a thousand reasons.
const REASONS_SHOWN: usize = 6;

/// What happened so far. Shared by the tests of a program.
#[derive(Default)]
pub struct Tally(Mutex<BTreeMap<String, Row>>);

#[derive(Default)]
struct Row {
    checked: u64,
    refused: BTreeMap<String, u64>,
    skipped: BTreeMap<String, u64>,
}

impl Tally {
    /// Something was compared with what it should be.
    pub fn checked(&self, engine: &str) {
        self.with(engine, |row| row.checked += 1);
    }

    /// The engine refused, for this reason.
    pub fn refused(&self, engine: &str, reason: impl fmt::Display) {
        self.with(engine, |row| *row.refused.entry(reason.to_string()).or_default() += 1);
    }

    /// The test could not or would not do this one, for this reason.
    pub fn skipped(&self, engine: &str, reason: impl fmt::Display) {
        self.with(engine, |row| *row.skipped.entry(reason.to_string()).or_default() += 1);
    }

    /// How many checks of an engine were made.
    pub fn checks_of(&self, engine: &str) -> u64 {
        self.with(engine, |row| row.checked)
    }

    fn with<T>(&self, engine: &str, act: impl FnOnce(&mut Row) -> T) -> T {
        // A panic in another test does not make the counts worse than they are.
        let mut rows = self.0.lock().unwrap_or_else(|e| e.into_inner());
        match rows.get_mut(engine) {
            Some(row) => act(row),
            None => act(rows.entry(engine.to_owned()).or_default()),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (engine, row) in self.0.lock().unwrap_or_else(|e| e.into_inner()).iter() {
            writeln!(f, "{engine}: {} checked", row.checked)?;
            write_reasons(f, "refused", &row.refused)?;
            write_reasons(f, "skipped", &row.skipped)?;
        }
        Ok(())
    }
}

fn write_reasons(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    reasons: &BTreeMap<String, u64>,
) -> fmt::Result {
    for (reason, n) in reasons.iter().take(REASONS_SHOWN) {
        writeln!(f, "    {what} {n}: {reason}")?;
    }
    let rest: u64 = reasons.values().skip(REASONS_SHOWN).sum();
    if rest > 0 {
        writeln!(f, "    {what} {rest}: for other reasons of the same kind")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_shown() {
        let t = Tally::default();
        t.checked("x");
        t.refused("x", "too short");
        t.refused("x", "too short");
        (0..9).for_each(|i| t.skipped("x", format_args!("why {i}")));
        let shown = t.to_string();
        assert_eq!(t.checks_of("x"), 1);
        assert!(
            shown.contains("refused 2: too short") && shown.contains("skipped 3: for other"),
            "{shown}"
        );
    }
}
