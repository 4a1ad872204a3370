//! Cells that are measured on a graphics processor: the haystack lies in its memory, and its clock counts.

use fyke::gpu::device;

use super::measure::Skip;
use crate::data::Prepared;
use crate::gpu::run::{self, Measured};
use crate::size::Size;
use crate::timing::Stats;

/// Most bytes that a processor which plays the device is given: tables of more would take it minutes. Not swept.
const MOST_ON_A_PROCESSOR: u64 = 4 << 20;

/// Verifies and times an engine on so many bytes; the haystack is repeated until there are as many.
pub(super) fn search(spec: &str, data: &Prepared, bytes: u64) -> Result<Measured, Skip> {
    let (name, _) = fyke::registry::parse(spec);
    if !fyke::gpu::ENGINES.iter().any(|e| e.info.name == name) {
        return Err(Skip::because(format!("there is no engine {name} in this build")));
    }
    let (_, opt) = run::engine(spec).map_err(|why| Skip::because(format!("{why:#}")))?;
    let device = device::open(&opt).map_err(|why| Skip::because(why.to_string()))?;
    let properties = device.properties();
    if properties.is_processor && bytes > MOST_ON_A_PROCESSOR {
        return Err(Skip::because(format!(
            "{} is a processor that plays the device, and {} would take it minutes: take --quick",
            properties.name,
            Size(bytes as usize)
        )));
    }
    run::resident(spec, &data.set, &data.haystack, false, bytes).map_err(|why| {
        let why = format!("{why:#}");
        Skip { wrong: why.starts_with("WRONG"), why }
    })
}

/// The statistics of its samples, in nanoseconds.
pub(super) fn stats(found: &Measured) -> Stats {
    Stats::of(&found.samples.iter().map(|s| s * 1e9).collect::<Vec<_>>())
}
