//! Cells that are measured on a GPU: on its own clock with the haystack in its memory, or on the
//! host's clock with copies there and back.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::gpu::strategy::Strategy;
use fyke_core::Fingerprint;
use fyke_gpu::device;

use super::host_to_host;
use super::skip::Skip;
use fyke_bench::data::Prepared;
use fyke_bench::gpu::engine::engine;
use fyke_bench::gpu::resident::{How, resident};
use fyke_bench::gpu::turn::Turn;
use fyke_bench::gpu::verify::{self, WRONG};
use fyke_bench::size::Size;
use fyke_bench::timing::Stats;

/// The maximum number of bytes for OpenCL on the CPU (PoCL), which is correct but slow: a table of
/// more takes minutes.
const POCL_LIMIT: u64 = 4 << 20;

/// The result of a cell.
pub(super) struct DeviceTimes {
    /// Statistics of the samples, in nanoseconds.
    pub stats: Stats,
    /// Matches in the text once.
    pub matches: u64,
    /// The device.
    pub device: String,
    /// Whether the device is OpenCL on the CPU.
    pub on_pocl: bool,
}

/// The expected matches in a text of this many bytes, by the name of its data. Many cells share
/// one.
pub(super) type ExpectedMatches = BTreeMap<(String, u64), Fingerprint>;

/// Verifies and times an engine on named data; its haystack is repeated to this many bytes.
pub(super) fn search(
    spec: &str,
    (title, data): (&str, &Prepared),
    bytes: u64,
    way: Option<(Strategy, usize)>,
    expected: &mut ExpectedMatches,
) -> Result<DeviceTimes, Skip> {
    let (name, _) = fyke::registry::parse(spec);
    if fyke::registry::find(name).is_err() {
        return Err(Skip::because(format!("there is no engine {name} in this build")));
    }
    let (_, opt) = engine(spec).map_err(|why| Skip::because(format!("{why:#}")))?;
    let device = device::open(&opt).map_err(|why| Skip::because(why.to_string()))?;
    let properties = device.properties();
    if properties.is_cpu && bytes > POCL_LIMIT {
        return Err(Skip::because(format!(
            "{} is OpenCL on the CPU, where {} would take minutes; use --quick",
            properties.name,
            Size(bytes as usize)
        )));
    }
    let (set, text) = (&data.set, &data.haystack);
    let _turn = Turn::wait();
    let measured = match way {
        None => {
            resident(spec, set, text, How::default(), bytes).map(|m| (m.samples, m.found.matches))
        }
        Some(way) => {
            host_to_host::host_to_host(spec, set, text, bytes as usize, way, |whole| match expected
                .entry((title.into(), bytes))
            {
                Entry::Occupied(had) => Ok(had.get().clone()),
                Entry::Vacant(none) => Ok(none.insert(verify::expected(set, whole)?).clone()),
            })
        }
    };
    let (samples, matches) = measured.map_err(|why| {
        let why = format!("{why:#}");
        Skip { wrong: why.starts_with(WRONG), why }
    })?;
    Ok(DeviceTimes {
        stats: Stats::of(&samples),
        matches,
        device: format!("{} ({})", properties.name, properties.backend.name()),
        on_pocl: properties.is_cpu,
    })
}
