//! How a group divides its shared memory.

use crate::device::Properties;
use fyke_core::Refusal;

/// Bytes of shared memory that describe the runs of each byte; as in the kernel.
pub(super) const KINDS: usize = 256;

/// Shared memory of an H200 that a group with a second bitmap leaves to the cache, which is part
/// of the same memory. Benchmark: Snort 2.2.0 and ET Open over `zeek`, with bitmaps of several
/// sizes.
const FOR_THE_CACHE: u32 = 31 << 10;

/// What each lane of a warp holds in shared memory; as in the kernel.
#[derive(Clone, Copy)]
pub(super) struct WarpMemory {
    /// Queued candidates.
    queue: u32,
    records: u32,
}

impl WarpMemory {
    const WRITES: WarpMemory = WarpMemory { queue: 8, records: 2 };
    pub(super) const COUNTS: WarpMemory = WarpMemory { queue: 8, records: 0 };
    /// With the table of pairs. Half of a queue lets the filter's table keep its size and the
    /// group its warps. Benchmark: Snort 3 community and ET Open of all lengths over `zeek`,
    /// counted.
    pub(super) const COUNTS_ALL: WarpMemory = WarpMemory { queue: 4, records: 0 };

    /// Words of shared memory of a warp: text, queue, survivors and records; as in the kernel.
    pub(super) fn warp_words(self, lanes: u32) -> u32 {
        let survivors = lanes + lanes % 2;
        let queue = if lanes == 1 { Self::COUNTS.queue } else { self.queue * lanes };
        (lanes * 64 + 32) / 4 + queue / 2 + 2 * self.records * lanes + 6 * survivors
    }
}

/// The work items of a group, and the tables that fit its shared memory.
pub(super) struct GroupLayout {
    pub(super) items: u32,
    pub(super) warps: u32,
    pub(super) table_log: u32,
    /// Logarithm of the bits of the second bitmap, if it is in shared memory.
    pub(super) near_log: Option<u32>,
    pub(super) shared: u32,
    /// Bytes of a warp's chunk.
    pub(super) chunk: u32,
}

impl GroupLayout {
    /// The layout with the largest table up to `wanted`, and with one of the near bitmaps if it
    /// costs no warps.
    pub(super) fn find(
        device: &Properties,
        wanted: u32,
        near_logs: &[u32],
    ) -> Result<GroupLayout, Refusal> {
        let lanes = device.lanes;
        let all_items: &[u32] = if lanes > 1 { &[1024, 768, 512, 256] } else { &[64] };
        let shapes = |&items: &u32| {
            near_logs.iter().map(move |log| (items, Some(*log))).chain([(items, None)])
        };
        for log in (8..=wanted).rev() {
            for (items, near_log) in all_items.iter().flat_map(shapes) {
                let near = near_log.map_or(0, |log| (1 << log) / 8);
                let (warps, table) = (items / lanes, 4u32 << log);
                let tables = table + near + KINDS as u32;
                let shared = tables + warps * WarpMemory::WRITES.warp_words(lanes) * 4;
                let needed = shared + near_log.map_or(0, |_| FOR_THE_CACHE);
                // Fewer than 512 items do not hide the memory's latency: a smaller table is
                // better.
                let too_few = lanes > 1 && items < 512 && log > 11;
                if items > device.max_items || needed > device.shared || too_few {
                    continue;
                }
                let chunk = lanes * 64;
                return Ok(GroupLayout { items, warps, table_log: log, near_log, shared, chunk });
            }
        }
        Err(Refusal::TooBig {
            what: "bytes of shared memory",
            need: 32 << 10,
            have: device.shared.into(),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::device::Backend;

    pub(in super::super) fn h200() -> Properties {
        Properties {
            backend: Backend::Cuda,
            name: "H200".into(),
            driver: String::new(),
            memory: 140 << 30,
            shared: 227 << 10,
            units: 132,
            lanes: 32,
            max_items: 1024,
            is_cpu: false,
            capability: Some((9, 0)),
        }
    }

    #[test]
    fn a_group_has_all_its_warps_and_leaves_the_cache_memory() {
        let find = |log, near: &[u32]| {
            let layout = GroupLayout::find(&h200(), log, near).unwrap();
            (layout.warps, layout.table_log, layout.near_log)
        };
        assert_eq!(find(14, &[18, 17, 16]), (32, 14, Some(16)), "Snort 2.2.0");
        assert_eq!(find(14, &[]), (32, 14, None), "ET Open");
        assert!(find(15, &[]).0 < 32, "so larger tables take warps");
    }
}
