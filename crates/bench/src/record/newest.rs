//! Finding the newest record of a kind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The newest `MACHINE/DATE-KIND.csv` or `MACHINE/DATE-KIND-N.csv` under a folder, if there is one.
///
/// # Errors
/// The folder cannot be read.
pub fn newest(folder: &Path, kind: &str) -> Result<Option<PathBuf>> {
    let machines = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut best: Option<((String, u32), PathBuf)> = None;
    for machine in machines.flatten().map(|e| e.path()).filter(|p| p.is_dir()) {
        for file in fs::read_dir(&machine)?.flatten().map(|e| e.path()) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let Some(age) = age(&name, kind) else { continue };
            if best.as_ref().is_none_or(|(newest, _)| age > *newest) {
                best = Some((age, file));
            }
        }
    }
    Ok(best.map(|(_, file)| file))
}

/// Date and number of a file of this kind: they sort by age.
fn age(name: &str, kind: &str) -> Option<(String, u32)> {
    let (date, rest) = name.strip_suffix(".csv")?.split_at_checked("2026-01-02".len())?;
    let number = match rest.strip_prefix('-')?.strip_prefix(kind)? {
        "" => 1,
        later => later.strip_prefix('-')?.parse().ok()?,
    };
    Some((date.into(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_numbers_are_told_apart() {
        let of = |name, kind| age(name, kind).map(|(_, number)| number);
        assert_eq!(of("2026-11-22-gpu.csv", "gpu"), Some(1));
        assert_eq!(of("2026-11-22-gpu-7.csv", "gpu"), Some(7));
        assert_eq!(of("2026-11-22-gpu-pfac.csv", "gpu"), None);
        assert_eq!(of("2026-11-22-matrix.csv", "matrix-avx2"), None);
        assert_eq!(of("notes.csv", "gpu"), None);
        assert!(age("2026-11-22-gpu-10.csv", "gpu") > age("2026-11-22-gpu-9.csv", "gpu"));
        assert!(age("2026-12-01-gpu.csv", "gpu") > age("2026-11-22-gpu-9.csv", "gpu"));
    }
}
