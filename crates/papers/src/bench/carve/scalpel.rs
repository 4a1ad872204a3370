//! Scalpel itself, if it is installed: its first phase on the same image and needles.

use super::super::skip::Skip;
use fyke_bench::data::Prepared;
use fyke_core::PatternSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The name that stands for it in place of an engine.
pub(super) const NAME: &str = "scalpel";

/// Scalpel 1.60 crashes on smaller images when it writes no files.
const LEAST_IMAGE: usize = 10 << 20;

/// Nanoseconds of each run. The image is in the page cache.
pub(super) fn time(data: &Prepared, runs: usize) -> Result<Vec<f64>, Skip> {
    if data.haystack.len() <= LEAST_IMAGE {
        return Err(Skip::because(
            "Scalpel 1.60 crashes on images of up to 10 MiB: run without --quick",
        ));
    }
    let conf = conf(&data.set).ok_or_else(|| Skip::because("the needles have all 256 bytes"))?;
    let folder = Folder::new().map_err(|error| Skip::because(error.to_string()))?;
    let path = |name: &str| folder.0.join(name);
    let written =
        fs::write(path("conf"), conf).and_then(|()| fs::write(path("image"), &data.haystack[..]));
    written.map_err(|error| Skip::because(error.to_string()))?;
    (0..runs).map(|run| once(&folder.0, run)).collect()
}

fn once(folder: &Path, run: usize) -> Result<f64, Skip> {
    let start = Instant::now();
    let status = Command::new(NAME)
        .args(["-p", "-c", "conf", "-o", &format!("out-{run}"), "image"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| Skip::because(format!("scalpel cannot be started: {error}")))?;
    let time = start.elapsed().as_nanos() as f64;
    if status.success() { Ok(time) } else { Err(Skip::because(format!("scalpel: {status}"))) }
}

/// A rule for each pattern: a header alone.
fn conf(set: &PatternSet) -> Option<String> {
    let is_used = |byte: &u8| set.iter().any(|pattern| pattern.bytes.contains(byte));
    // Scalpel takes the wildcard for one even where it is escaped.
    let wildcard = (b'!'..=b'~').find(|byte| *byte != b'#' && !is_used(byte))?;
    let mut conf = format!("wildcard {}\n", char::from(wildcard));
    for pattern in set.iter() {
        let case = if pattern.nocase { 'n' } else { 'y' };
        let header: String = pattern.bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        conf.push_str(&format!("x {case} 1000 {header}\n"));
    }
    Some(conf)
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("fyke-scalpel-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needles_become_rules() {
        let set = PatternSet::new(["a!", "\n"]).unwrap();
        assert_eq!(conf(&set).unwrap(), "wildcard \"\nx y 1000 \\x0a\nx y 1000 \\x61\\x21\n");
    }
}
