//! Comparing what a device finds with what a CPU engine finds.

use anyhow::{Result, bail, ensure};
use fyke::gpu::matcher::GpuMatcher;
use fyke_core::sink::Count;
use fyke_core::{Block, Fingerprint, Matcher, PatternSet, Scratch};

/// The engine that gives the expected matches.
pub const CPU_ENGINE: &str = "auto:gpu=no";

/// What begins the message of an error that is about wrong matches.
pub const WRONG: &str = "WRONG";

fn fingerprint(matcher: &dyn Matcher, text: &[u8]) -> Fingerprint {
    let mut sum = Fingerprint::default();
    let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut sum);
    sum
}

/// Fails if a device did: then a CPU engine searched in its place.
///
/// # Errors
/// The first failure since the last call.
pub fn no_fault() -> Result<()> {
    match fyke::gpu::faults::take().first() {
        None => Ok(()),
        Some(fault) => bail!("{}", fault.what),
    }
}

/// What a CPU engine finds in a text.
///
/// # Errors
/// No engine takes the set.
pub fn expected(set: &PatternSet, text: &[u8]) -> Result<Fingerprint> {
    Ok(fingerprint(&*fyke::registry::compile(CPU_ENGINE, set, None)?, text))
}

/// Compares what was found with what is expected.
///
/// # Errors
/// They differ.
pub fn check(found: &Fingerprint, expected: &Fingerprint) -> Result<()> {
    ensure!(
        (found.matches, found.sum) == (expected.matches, expected.sum),
        "{WRONG}: {} matches with fingerprint {:016x}, expected {} with {:016x}",
        found.matches,
        found.sum,
        expected.matches,
        expected.sum
    );
    Ok(())
}

/// Searches a text on a device and checks what it finds.
pub(super) fn verify(matcher: &GpuMatcher, set: &PatternSet, text: &[u8]) -> Result<Fingerprint> {
    let found = fingerprint(matcher, text);
    no_fault()?;
    check(&found, &expected(set, text)?)?;
    Ok(found)
}

/// The same for matches that are counted without records.
pub(super) fn verify_count(matcher: &GpuMatcher, text: &[u8], expected: u64) -> Result<()> {
    let mut count = Count::default();
    let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut count);
    no_fault()?;
    ensure!(count.matches == expected, "{WRONG}: counted {}, expected {expected}", count.matches);
    Ok(())
}
