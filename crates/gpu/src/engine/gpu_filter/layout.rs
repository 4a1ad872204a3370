//! How a group divides its shared memory.

use crate::device::Properties;
use fyke_core::Refusal;

/// Bytes of shared memory that describe the runs of each byte; as in the kernel.
pub(super) const KINDS: usize = 256;

/// Shared memory of an H200 that a group with a second bitmap leaves to the cache, which is part
/// of the same memory. Benchmark: Snort 2.2.0 and ET Open over `zeek`, with bitmaps of several
/// sizes.
const FOR_THE_CACHE: u32 = 31 << 10;

/// Queued candidates of a lane; as in the kernel. They are few, so that a group has room for the
/// table of pairs and for all its warps.
const QUEUE: u32 = 4;

/// Words of shared memory of a warp: text, queue, survivors, and the number of reserved places; as
/// in the kernel.
pub(super) fn warp_words(lanes: u32) -> u32 {
    let survivors = lanes + lanes % 2;
    let queue = if lanes == 1 { 4 } else { QUEUE * lanes / 2 };
    (lanes * 64 + 32) / 4 + queue + 6 * survivors + 4
}

/// The work items of a group, and the tables that fit its shared memory.
pub(super) struct GroupLayout {
    pub(super) items: u32,
    pub(super) table_log: u32,
    /// Logarithm of the bits of the second bitmap, if it is in shared memory.
    pub(super) near_log: Option<u32>,
    pub(super) shared: u32,
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
                let shared = tables + warps * warp_words(lanes) * 4;
                let needed = shared + near_log.map_or(0, |_| FOR_THE_CACHE);
                // Fewer than 512 items do not hide the memory's latency: a smaller table is
                // better.
                let too_few = lanes > 1 && items < 512 && log > 11;
                if items > device.max_items || needed > device.shared || too_few {
                    continue;
                }
                return Ok(GroupLayout { items, table_log: log, near_log, shared });
            }
        }
        Err(Refusal::TooBig {
            what: "bytes of shared memory",
            need: 32 << 10,
            have: device.shared.into(),
        })
    }
}

/// The most work items of a group that fit beside given tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupShape {
    pub(super) items: u32,
    pub(super) shared: u32,
    /// Whether the second bitmap fits, too.
    pub(super) near: bool,
}

impl GroupShape {
    /// The shape for tables of that many bytes and, if it costs no work items, the bitmap.
    pub(super) fn find(device: &Properties, tables: u32, bitmap: u32) -> Option<GroupShape> {
        let sizes: &[u32] = if device.lanes > 1 { &[1024, 768, 512, 256] } else { &[64] };
        let shape = |items: u32, near: bool| {
            let warps = items / device.lanes * warp_words(device.lanes) * 4;
            let shared = tables + if near { bitmap } else { 0 } + warps;
            GroupShape { items, shared, near }
        };
        let both = |&items: &u32| [shape(items, bitmap > 0), shape(items, false)];
        let fits = |s: &GroupShape| s.items <= device.max_items && s.shared <= device.shared;
        sizes.iter().flat_map(both).find(fits)
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
            (layout.items, layout.table_log, layout.near_log)
        };
        assert_eq!(find(14, &[17, 16]), (1024, 14, Some(17)), "Snort 2.2.0");
        assert_eq!(find(14, &[]), (1024, 14, None), "ET Open");
        assert_eq!(find(15, &[]), (1024, 15, None), "100,000 strings");
        assert_eq!(find(16, &[]).1, 15, "a larger table has no room");
    }

    #[test]
    fn a_group_with_pairs_has_all_its_warps() {
        let shape = |log: u32, bitmap| {
            let tables = (64 << 10) + KINDS as u32 + (4 << log);
            let shape = GroupShape::find(&h200(), tables, bitmap).unwrap();
            assert!(shape.shared <= h200().shared);
            (shape.items, shape.near)
        };
        assert_eq!(shape(14, 1 << 13), (1024, false), "Snort 2.2.0: no room for its bitmap");
        assert_eq!(shape(13, 1 << 13), (1024, true));
        assert!(shape(15, 0).0 < 1024);
    }
}
