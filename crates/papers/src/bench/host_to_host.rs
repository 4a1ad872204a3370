//! Verifies and times the host-to-host strategies on a device.

use crate::gpu::strategy::{HostToHost, Strategy};
use anyhow::Result;
use fyke_bench::gpu::run::{SAMPLES, check, engine};
use fyke_core::{Fingerprint, PatternSet};

/// Runs a strategy once and verifies what it finds, then times it: the seconds of each sample on the host's clock.
///
/// # Errors
/// It does not find what is expected, or the device fails.
pub fn strategy(
    run: &mut HostToHost<'_>,
    strategy: Strategy,
    expected: &Fingerprint,
) -> Result<Vec<f64>> {
    run.forget();
    run.run(strategy)?;
    let mut found = Fingerprint::default();
    let _ = run.deliver(&mut found);
    check(&found, expected)?;
    (0..SAMPLES).map(|_| Ok(run.run(strategy)?)).collect()
}

/// Verifies and times a strategy that brings `bytes` of text from the host to the device in segments, and results back:
/// the seconds of each sample on the host's clock. `expected` says what is in that text.
pub(super) fn host_to_host(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    bytes: usize,
    (way, segments): (Strategy, usize),
    expected: impl FnOnce(&[u8]) -> Result<Fingerprint>,
) -> Result<(Vec<f64>, u64)> {
    let (engine, opt) = engine(spec)?;
    let matcher = engine.compile_for_device(set, &opt)?;
    let mut run = HostToHost::new(&matcher, text, bytes, segments)?;
    let expected = expected(run.text())?;
    Ok((strategy(&mut run, way, &expected)?, expected.matches))
}
