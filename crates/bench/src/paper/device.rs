//! Cells that are measured on a graphics processor: the haystack lies in its memory and its clock counts, or the haystack
//! goes there from the host and results come back.

use fyke::gpu::device;
use fyke::gpu::strategy::Strategy;

use super::measure::Skip;
use crate::data::Prepared;
use crate::gpu::run;
use crate::size::Size;
use crate::timing::Stats;

/// Most bytes that a processor which plays the device is given: tables of more would take it minutes. Not swept.
const MOST_ON_A_PROCESSOR: u64 = 4 << 20;

/// What a cell comes to.
pub(super) struct Found {
    /// Nanoseconds of a search.
    pub stats: Stats,
    /// Matches in the text once.
    pub matches: u64,
    /// The device.
    pub device: String,
    /// It is a processor that plays one.
    pub played: bool,
}

/// Verifies and times an engine on so many bytes; the haystack is repeated until there are as many.
pub(super) fn search(
    spec: &str,
    data: &Prepared,
    bytes: u64,
    way: Option<(Strategy, usize)>,
) -> Result<Found, Skip> {
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
    let (set, text) = (&data.set, &data.haystack);
    let measured = match way {
        None => run::resident(spec, set, text, run::How::default(), bytes)
            .map(|m| (m.samples, m.matches)),
        Some((strategy, segments)) => {
            run::host_to_host(spec, set, text, bytes as usize, strategy, segments)
        }
    };
    let (samples, matches) = measured.map_err(|why| {
        let why = format!("{why:#}");
        Skip { wrong: why.starts_with("WRONG"), why }
    })?;
    Ok(Found {
        stats: Stats::of(&samples.iter().map(|s| s * 1e9).collect::<Vec<_>>()),
        matches,
        device: format!("{} ({})", properties.name, properties.backend.name()),
        played: properties.is_processor,
    })
}
