//! Sparse output: a kernel that finds little writes a record where it finds something, and nothing elsewhere.
//!
//! Work items take their places in one list by an atomic counter, which comes first in the buffer. One that finds no
//! room left still counts, so the counter tells how much room the launch would have needed; then the buffer grows and
//! the launch is repeated. Nothing is lost, and what was found twice is read once.
//!
//! The counter has 32 bits, so a launch may have [`MOST`] records. One that finds more fails as one without memory does,
//! and whoever holds the tile searches its halves: [`GpuMatcher`](crate::matcher::GpuMatcher) does.
//!
//! Wins over dense output, which writes and copies four bytes for each byte of the text, as
//! long as fewer than one position in two has a record. The records come in no order.

use crate::device::{Arg, Buffer, Fault};
use crate::matcher::Lane;
use crate::resident::Timed;

/// Most records of a launch. The kernels count their words in 32 bits.
pub const MOST: u32 = 1 << 29;

/// Records that there is room for at first, and that come back in one copy with the counter; not swept.
const FIRST: usize = 8 << 10;

/// Bytes of a record: two words. As many go before the first, for the counter.
const BYTES: usize = 8;

/// The number of the lane's buffer.
const BUFFER: usize = 0;

/// What a kernel wrote with the dialect's `record`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it ends, or begins: as the kernel has it.
    pub place: u32,
    /// A pattern or a state.
    pub what: u32,
}

/// The list of a launch.
#[derive(Clone, Copy)]
pub struct List<'a> {
    buffer: &'a Buffer,
    room: u32,
}

impl<'a> List<'a> {
    /// That of a launch that writes no record; the buffer may be any. There is nothing to bring back then: that made 1 GB/s of
    /// 53 in `gpu-dfa`'s pipeline.
    pub fn of_none(buffer: &'a Buffer) -> Self {
        List { buffer, room: 0 }
    }

    /// The last two arguments of a kernel that finds records: `GLOBAL u32 *found, u32 room`.
    pub fn args(self) -> [Arg<'a>; 2] {
        [self.buffer.into(), self.room.into()]
    }
}

/// Runs a launch, as often as it takes to have room for all that it finds, and calls `each` with that.
///
/// # Errors
/// The device failed, or there are more records than a launch may have: a smaller tile has fewer.
pub fn collect(
    lane: &mut Lane,
    launch: impl Fn(&Lane, List<'_>) -> Result<(), Fault>,
    each: impl FnMut(Found),
) -> Result<(), Fault> {
    let mut bytes = std::mem::take(&mut lane.host);
    let mut count = FIRST;
    let taken = loop {
        let room = room(lane, count)?;
        lane.queue.zero(lane.held(BUFFER), 0..BYTES)?;
        launch(lane, List { buffer: lane.held(BUFFER), room: room as u32 })?;
        bytes.resize((1 + FIRST.min(room)) * BYTES, 0);
        lane.read(BUFFER, 0, &mut bytes)?;
        count = word(&bytes) as usize;
        if count <= room {
            break count;
        }
        if let Err(fault) = check(lane, count) {
            lane.host = bytes;
            return Err(fault);
        }
    };
    let first = bytes.len();
    bytes.resize((1 + taken) * BYTES, 0);
    if bytes.len() > first {
        lane.read(BUFFER, first, &mut bytes[first..])?;
    }
    let found = |record: &[u8]| Found { place: word(record), what: word(&record[4..]) };
    bytes[BYTES..].chunks_exact(BYTES).map(found).for_each(each);
    lane.host = bytes;
    Ok(())
}

/// What a launch takes that has room for all it finds; at first for so many records, or for as many as the one before had.
/// They stay on the device.
///
/// # Errors
/// As [`collect`].
pub fn time(
    lane: &mut Lane,
    mut count: usize,
    launch: impl Fn(&Lane, List<'_>) -> Result<(), Fault>,
) -> Result<Timed, Fault> {
    loop {
        let room = room(lane, count.max(FIRST))?;
        lane.queue.zero(lane.held(BUFFER), 0..BYTES)?;
        let list = List { buffer: lane.held(BUFFER), room: room as u32 };
        let seconds = lane.queue.time(|| launch(lane, list))?;
        let mut counter = [0; BYTES];
        lane.read(BUFFER, 0, &mut counter)?;
        count = word(&counter) as usize;
        if count <= room {
            return Ok(Timed { seconds, records: count as u64, candidates: 0 });
        }
        check(lane, count)?;
    }
}

/// Refuses more records than a launch may have.
fn check(lane: &Lane, count: usize) -> Result<(), Fault> {
    let most = lane.most_records;
    if count > most {
        let said = format!("{count} records, and a launch may have {most}");
        return Err(Fault::too_large("counting matches", said));
    }
    Ok(())
}

/// Makes room for at least so many records, and says for how many there is.
fn room(lane: &mut Lane, count: usize) -> Result<usize, Fault> {
    let most = lane.most_records;
    let buffer = lane.buffer(BUFFER, (1 + count.min(most)) * BYTES)?;
    Ok((buffer.len() / BYTES - 1).min(most))
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// How a tile is cut: each work item has so many positions, and there are so many groups of work items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Positions of a work item. The last ones have fewer, or none.
    pub positions: u32,
    /// Groups of work items.
    pub groups: u32,
}

/// Fewest positions of a work item; not swept.
const FEWEST: u32 = 16;

impl Cut {
    /// Shares `bytes` positions between `threads` work items in groups of `items`: N / threads, rounded up, since
    /// rounded down some would be left over. An item reads up to `overlap` bytes beside its share, so that it gets no
    /// fewer positions than that, and the work is at most twice the text's length.
    pub fn of(bytes: u32, threads: u32, items: u32, overlap: u32) -> Self {
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
            let cut = Cut::of(bytes, threads, items, overlap);
            assert!(cut.positions >= FEWEST.max(overlap));
            let reached = u64::from(cut.positions) * u64::from(items) * u64::from(cut.groups);
            assert!(reached >= u64::from(bytes), "{cut:?}");
        }
        assert_eq!(Cut::of(100_000, 300, 64, 9), Cut { positions: 334, groups: 5 });
    }

    #[test]
    fn a_launch_that_finds_too_much_is_repeated() {
        for device in &crate::device::inventory().devices {
            let mut lane = Lane::open(device).unwrap();
            for wanted in [0, 1, FIRST, FIRST + 1, 5 * FIRST] {
                let launches = std::cell::Cell::new(0);
                let mut found = Vec::new();
                collect(
                    &mut lane,
                    |lane, list| {
                        launches.set(launches.get() + 1);
                        write(lane, list, wanted)
                    },
                    |f| found.push(f),
                )
                .unwrap();
                let all: Vec<_> =
                    (0..wanted as u32).map(|i| Found { place: i, what: i / 3 }).collect();
                assert_eq!(found, all, "{device:?}");
                assert!(launches.get() <= 2);
            }
        }
    }

    /// What a kernel that finds so many records would do.
    fn write(lane: &Lane, list: List<'_>, wanted: usize) -> Result<(), Fault> {
        let mut words = vec![wanted as u32, 0];
        words.extend((0..(wanted as u32).min(list.room)).flat_map(|i| [i, i / 3]));
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        lane.queue.write(list.buffer, 0, &bytes)
    }
}
