//! Cells that are measured on a graphics processor: the haystack lies in its memory and its clock counts, or the haystack
//! goes there from the host and results come back.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::gpu::strategy::Strategy;
use fyke_core::Fingerprint;
use fyke_gpu::device;

use super::host_to_host;
use super::measure::Skip;
use fyke_bench::data::Prepared;
use fyke_bench::gpu::run;
use fyke_bench::gpu::turn::Turn;
use fyke_bench::size::Size;
use fyke_bench::timing::Stats;

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

/// What the processor finds in a text that is repeated to so many bytes, by the name of its data: asked for once, since many
/// cells have the same.
pub(super) type Known = BTreeMap<(String, u64), Fingerprint>;

/// Verifies and times an engine on so many bytes of data that has a name; the haystack is repeated until there are as many.
pub(super) fn search(
    spec: &str,
    (title, data): (&str, &Prepared),
    bytes: u64,
    way: Option<(Strategy, usize)>,
    known: &mut Known,
) -> Result<Found, Skip> {
    let (name, _) = fyke::registry::parse(spec);
    if fyke::registry::find(name).is_err() {
        return Err(Skip::because(format!("there is no engine {name} in this build")));
    }
    let (_, opt) = run::engine(spec).map_err(|why| Skip::because(format!("{why:#}")))?;
    let device = device::open(&opt).map_err(|why| Skip::because(why.to_string()))?;
    let properties = device.properties();
    if properties.is_cpu && bytes > MOST_ON_A_PROCESSOR {
        return Err(Skip::because(format!(
            "{} is a processor that plays the device, and {} would take it minutes: take --quick",
            properties.name,
            Size(bytes as usize)
        )));
    }
    let (set, text) = (&data.set, &data.haystack);
    let _turn = Turn::wait();
    let measured = match way {
        None => run::resident(spec, set, text, run::How::default(), bytes)
            .map(|m| (m.samples, m.matches)),
        Some(way) => host_to_host::host_to_host(spec, set, text, bytes as usize, way, |whole| {
            match known.entry((title.into(), bytes)) {
                Entry::Occupied(had) => Ok(had.get().clone()),
                Entry::Vacant(none) => Ok(none.insert(run::expected(set, whole)?).clone()),
            }
        }),
    };
    let (samples, matches) = measured.map_err(|why| {
        let why = format!("{why:#}");
        Skip { wrong: why.starts_with("WRONG"), why }
    })?;
    Ok(Found {
        stats: Stats::of(&samples.iter().map(|s| s * 1e9).collect::<Vec<_>>()),
        matches,
        device: format!("{} ({})", properties.name, properties.backend.name()),
        played: properties.is_cpu,
    })
}
