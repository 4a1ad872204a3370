//! The notes of a release: a section of the changelog.

use anyhow::{Context, Result, ensure};

/// The section of a version, or of what is unreleased if the version has none yet.
pub(super) struct Notes {
    /// The version, or `Unreleased`.
    pub(super) title: String,
    pub(super) text: String,
}

/// Cuts the notes out of a changelog: a section begins with `## VERSION`, perhaps with a date
/// after it, and the newest one comes first.
pub(super) fn of(changelog: &str, version: &str) -> Result<Notes> {
    let section = |title: &str| {
        let mut sections = changelog.split("\n## ").skip(1);
        sections.find_map(|section| {
            let (head, text) = section.split_once('\n')?;
            (head.trim_matches(['[', ']']).split([' ', ']']).next() == Some(title))
                .then(|| Notes { title: title.to_owned(), text: text.trim().to_owned() + "\n" })
        })
    };
    let notes = section(version).or_else(|| section("Unreleased"));
    let notes = notes.with_context(|| {
        format!("CHANGELOG.md has neither a section {version} nor one of what is unreleased")
    })?;
    ensure!(notes.text.contains("\n* "), "the section {} of CHANGELOG.md is empty", notes.title);
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn notes_are_the_section_of_the_version() {
        let log = "# Changelog\n\n## Unreleased\n\n### A\n\n* b\n\n## 1.2.0 (2026-11-25)\n\n### C\n\n* d\n  e\n\n## 1.1.0\n\n* f\n";
        let notes = of(log, "1.2.0").unwrap();
        assert_eq!((&*notes.title, &*notes.text), ("1.2.0", "### C\n\n* d\n  e\n"));
        let notes = of(log, "1.3.0").unwrap();
        assert_eq!((&*notes.title, &*notes.text), ("Unreleased", "### A\n\n* b\n"));
        // A version is not found by a part of it.
        assert_eq!(of(log, "1.2").unwrap().title, "Unreleased");
    }

    #[test]
    fn a_changelog_without_notes_is_an_error() {
        assert!(of("# Changelog\n\n## 1.1.0\n\n### A\n\n* f\n", "1.2.0").is_err());
        assert!(of("# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\n* f\n", "1.2.0").is_err());
    }
}
