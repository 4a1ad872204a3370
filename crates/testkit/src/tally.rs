//! Counts of checks, refusals and skips by subject, printed at the end of a test program.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

/// Reasons shown per subject. Reasons contain sizes, so a subject can have thousands of them.
const REASONS_SHOWN: usize = 6;

/// The counts. The tests of a program share it.
#[derive(Default)]
pub struct Tally(Mutex<BTreeMap<String, Row>>);

#[derive(Default)]
struct Row {
    checked: u64,
    /// The part of `checked` that belongs to a named part of the tests.
    parts: BTreeMap<String, u64>,
    refused: BTreeMap<String, u64>,
    skipped: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts one comparison with the expected result.
    pub fn checked(&self, subject: &str) {
        self.with(subject, |row| row.checked += 1);
    }

    /// Counts one comparison, also under the part of the tests that it belongs to.
    pub fn checked_in(&self, subject: &str, part: &str) {
        self.with(subject, |row| {
            row.checked += 1;
            *row.parts.entry(part.to_owned()).or_default() += 1;
        });
    }

    /// Counts a refusal by the engine, with its reason.
    pub fn refused(&self, subject: &str, reason: impl fmt::Display) {
        self.refused_many(subject, reason, 1);
    }

    /// Counts several refusals for one reason.
    pub fn refused_many(&self, subject: &str, reason: impl fmt::Display, n: u64) {
        self.with(subject, |row| *row.refused.entry(reason.to_string()).or_default() += n);
    }

    /// Counts something the test itself left out, with its reason.
    pub fn skipped(&self, subject: &str, reason: impl fmt::Display) {
        self.skipped_many(subject, reason, 1);
    }

    /// Counts several skips for one reason.
    pub fn skipped_many(&self, subject: &str, reason: impl fmt::Display, n: u64) {
        self.with(subject, |row| *row.skipped.entry(reason.to_string()).or_default() += n);
    }

    /// The number of checks of a subject.
    pub fn checks_of(&self, subject: &str) -> u64 {
        self.with(subject, |row| row.checked)
    }

    fn with<T>(&self, subject: &str, act: impl FnOnce(&mut Row) -> T) -> T {
        // The counts stay valid when another test panics.
        let mut rows = self.0.lock().unwrap_or_else(|e| e.into_inner());
        match rows.get_mut(subject) {
            Some(row) => act(row),
            None => act(rows.entry(subject.to_owned()).or_default()),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (subject, row) in self.0.lock().unwrap_or_else(|e| e.into_inner()).iter() {
            writeln!(f, "{subject}: {} checked", row.checked)?;
            let parts: Vec<String> = row.parts.iter().map(|(p, n)| format!("{p} {n}")).collect();
            if !parts.is_empty() {
                writeln!(f, "    by suite: {}", parts.join(", "))?;
            }
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
    if rest > 0 { writeln!(f, "    {what} {rest}: for other reasons") } else { Ok(()) }
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
            shown.contains("refused 2: too short")
                && shown.contains("skipped 3: for other reasons"),
            "{shown}"
        );
    }

    #[test]
    fn parts_are_counted_with_the_whole() {
        let t = Tally::default();
        t.checked_in("x", "one");
        t.checked_in("x", "two");
        assert_eq!(t.checks_of("x"), 2);
        assert!(t.to_string().contains("by suite: one 1, two 1"));
    }
}
