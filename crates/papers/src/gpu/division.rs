//! How a text is divided among the work items of a device.

/// Fewest positions of a work item. Not measured: a guess.
const FEWEST: u32 = 16;

/// The positions of each work item, and the groups of work items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// Positions of a work item. The last ones have fewer, or none.
    pub positions: u32,
    /// Groups of work items.
    pub groups: u32,
}

impl Division {
    /// Divides `bytes` positions among `threads` work items in groups of `items`.
    ///
    /// The share is N / threads rounded up, so that none is left over. A work item reads up to
    /// `overlap` bytes beyond its share, so the share is at least that, and the work at most twice
    /// the text's length.
    pub(crate) fn of(bytes: u32, threads: u32, items: u32, overlap: u32) -> Self {
        let positions = bytes.div_ceil(threads.max(1)).max(overlap).max(FEWEST);
        Self { positions, groups: bytes.div_ceil(positions.saturating_mul(items)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_a_work_item() {
        for (bytes, threads, items, overlap) in
            [(0, 1, 64, 0), (1, 64, 64, 0), (11, 4, 2, 1), (100_000, 300, 64, 9), (99, 7, 64, 4095)]
        {
            let division = Division::of(bytes, threads, items, overlap);
            assert!(division.positions >= FEWEST.max(overlap));
            let covered = u64::from(division.positions) * u64::from(items);
            assert!(covered * u64::from(division.groups) >= u64::from(bytes), "{division:?}");
        }
        assert_eq!(Division::of(100_000, 300, 64, 9), Division { positions: 334, groups: 5 });
    }
}
