//! Times searches of one text in the memory of several devices.

use anyhow::{Result, ensure};
use fyke::Options;
use fyke::gpu::device::{self, Device, Fault};
use fyke::gpu::matcher::Workspace;
use fyke::gpu::resident::SpreadHaystack;
use fyke_core::PatternSet;

use super::engine::engine;
use super::resident::{How, SAMPLES};
use super::verify::verify;

/// Verifies an engine on the first `devices` devices of the kind that it would choose, then times
/// it on `bytes` of text: nanoseconds of each sample, each that of the slowest device.
pub(super) fn spread(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    how: How,
    bytes: u64,
    devices: usize,
) -> Result<Vec<f64>> {
    let (engine, mut opt) = engine(spec)?;
    let (_, params) = fyke::registry::parse(spec);
    let first = first_of_kind(&opt, devices)?;
    opt = opt.params(&format!("{params},devices={first}"))?;
    if how.sample {
        opt = opt.sampled(text);
    }
    let matcher = engine.compile_for_device(set, &opt)?;
    verify(&matcher, set, text)?;
    let haystack = SpreadHaystack::repeat(&matcher, text, bytes)?;
    let open = |place| Workspace::open(matcher.on(place).device());
    let mut workspaces = (0..devices).map(open).collect::<Result<Vec<_>, _>>()?;
    let mut once = || matcher.time_spread(&mut workspaces, &haystack, how.counted);
    once()?;
    let one = |_| once().map(|timed| timed.seconds * 1e9);
    Ok((0..SAMPLES).map(one).collect::<Result<Vec<f64>, Fault>>()?)
}

/// The numbers of the first `count` devices that the options mean by `all`, for `devices=`.
fn first_of_kind(opt: &Options, count: usize) -> Result<String> {
    let backend = opt.param("backend").unwrap_or("auto");
    let all = Options::with_params(&format!("backend={backend},devices=all"))?;
    let all = device::open_all(&all)?;
    ensure!(all.len() >= count, "--devices {count}: there are {} devices of this kind", all.len());
    let number = |d: &Device| device::inventory().devices.iter().position(|other| other.is(d));
    let numbers = all.iter().take(count).filter_map(number);
    Ok(numbers.map(|n| n.to_string()).collect::<Vec<_>>().join("+"))
}
