//! Sparse output: kernels write a record where they find something, and nothing elsewhere.
//!
//! Work items reserve places in one list by an atomic counter at its head. A record without room
//! is not written but still counted, so the counter says how large the list should have been; the
//! host enlarges it and repeats the launch. No match is lost or reported twice.
//!
//! A launch may find at most [`MOST`] records, because kernels index the list's words in 32 bits.
//! With more records it fails as if memory were short, and its caller searches the halves of the
//! tile.
//!
//! Kernels that reserve several places at a time leave some of them empty. The head counts these
//! holes too, and the host skips them ([`HOLE`]).
//!
//! Use it if fewer than every second position has a record: dense output, the alternative, writes
//! and copies four bytes for each byte of the text. Records are in no order.

use crate::device::{Arg, Buffer, Fault};
use crate::matcher::Workspace;
use crate::resident::Timed;

/// The maximum number of records of a launch: kernels count the list's words in 32 bits.
pub const MOST: u32 = 1 << 29;

/// Records that the list has room for at first, and that one copy brings back with the counter.
/// Not measured: a guess.
const FIRST: usize = 8 << 10;

/// Bytes of a record: two words. The head takes as many, before the first record: the number of
/// places, and how many of them are holes.
const BYTES: usize = 8;

/// The value of [`RawRecord::what`] in a place without a record; as in the dialect.
pub const HOLE: u32 = !0;

/// The workspace's buffer that holds the list.
const BUFFER: usize = 0;

/// A record as the dialect's `record` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// Where a match ends or begins, depending on the kernel.
    pub place: u32,
    /// A pattern or a state, depending on the kernel.
    pub what: u32,
}

/// The list that a launch writes records to.
///
/// Its buffer has room for the counter and `room` records: kernels rely on that, so `new` checks
/// it.
#[derive(Clone, Copy)]
pub struct RecordList<'a> {
    buffer: &'a Buffer,
    room: u32,
}

impl<'a> RecordList<'a> {
    /// A list in a buffer.
    ///
    /// # Panics
    /// The buffer is too small for the counter and as many records.
    pub fn new(buffer: &'a Buffer, room: u32) -> Self {
        let needed = (1 + room as usize) * BYTES;
        assert!(buffer.len() >= needed, "{needed} bytes of records in {}", buffer.len());
        RecordList { buffer, room }
    }

    /// The list of a launch that writes no records: nothing has to be cleared before or copied
    /// after.
    ///
    /// # Panics
    /// The buffer is too small for a counter, which the kernel might write.
    pub fn of_none(buffer: &'a Buffer) -> Self {
        Self::new(buffer, 0)
    }

    /// The last two arguments of a kernel that finds records: `GLOBAL u32 *found, u32 room`.
    pub fn args(self) -> [Arg<'a>; 2] {
        [self.buffer.into(), self.room.into()]
    }
}

/// Launches until the list has room for all records, and passes them to `each`. Has waited for the
/// queue when it returns.
///
/// # Errors
/// The device failed, or there are more records than [`MOST`].
pub fn collect(
    workspace: &mut Workspace,
    launch: impl Fn(&Workspace, RecordList<'_>) -> Result<(), Fault>,
    each: impl FnMut(RawRecord),
) -> Result<(), Fault> {
    let mut bytes = workspace.take_host();
    let collected = collect_bytes(workspace, &launch, &mut bytes);
    if collected.is_ok() {
        let record = |r: &[u8]| RawRecord { place: word(r), what: word(&r[4..]) };
        let found = bytes[BYTES..].chunks_exact(BYTES).map(record);
        found.filter(|r| r.what != HOLE).for_each(each);
    }
    workspace.return_host(bytes);
    collected
}

/// The counter and the records of a launch, as bytes.
fn collect_bytes(
    workspace: &mut Workspace,
    launch: &dyn Fn(&Workspace, RecordList<'_>) -> Result<(), Fault>,
    bytes: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut count = FIRST;
    loop {
        let room = make_room(workspace, count)?;
        start(workspace, room, launch)?;
        bytes.resize((1 + FIRST.min(room)) * BYTES, 0);
        workspace.read(BUFFER, 0, bytes)?;
        count = word(bytes) as usize;
        if count <= room {
            break;
        }
        check(workspace, count)?;
    }
    let first = bytes.len();
    bytes.resize((1 + count) * BYTES, 0);
    if bytes.len() > first {
        workspace.read(BUFFER, first, &mut bytes[first..])?;
    }
    Ok(())
}

/// The time of a launch whose list has room for all records, which stay on the device. `count` is
/// how many records to expect.
///
/// # Errors
/// As [`collect`].
pub fn time(
    workspace: &mut Workspace,
    mut count: usize,
    launch: impl Fn(&Workspace, RecordList<'_>) -> Result<(), Fault>,
) -> Result<Timed, Fault> {
    loop {
        let room = make_room(workspace, count.max(FIRST))?;
        workspace.queue().zero(workspace.buffer(BUFFER), 0..BYTES)?;
        let list = RecordList::new(workspace.buffer(BUFFER), room as u32);
        let seconds = workspace.queue().time(|| launch(workspace, list))?;
        let mut head = [0; BYTES];
        workspace.read(BUFFER, 0, &mut head)?;
        count = word(&head) as usize;
        if count <= room {
            let records = count as u64 - u64::from(word(&head[4..]));
            return Ok(Timed { seconds, records, candidates: 0 });
        }
        check(workspace, count)?;
    }
}

/// Clears the counter and launches.
fn start(
    workspace: &Workspace,
    room: usize,
    launch: &dyn Fn(&Workspace, RecordList<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let buffer = workspace.buffer(BUFFER);
    workspace.queue().zero(buffer, 0..BYTES)?;
    launch(workspace, RecordList::new(buffer, room as u32))
}

/// Refuses more records than a launch may find.
fn check(workspace: &Workspace, count: usize) -> Result<(), Fault> {
    let most = workspace.most_records;
    if count > most {
        let said = format!("{count} records, at most {most} per launch");
        return Err(Fault::too_large("counting matches", said));
    }
    Ok(())
}

/// Makes room for at least that many records, up to the most of a launch; returns for how many
/// there is.
fn make_room(workspace: &mut Workspace, count: usize) -> Result<usize, Fault> {
    let most = workspace.most_records;
    let bytes = workspace.reserve(BUFFER, (1 + count.min(most)) * BYTES)?;
    Ok((bytes / BYTES - 1).min(most))
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_launch_that_finds_too_much_is_repeated() {
        testing::each_device(|device| {
            let mut workspace = Workspace::open(device).unwrap();
            for wanted in [0, 1, FIRST, FIRST + 1, 5 * FIRST] {
                let launches = std::cell::Cell::new(0);
                let mut found = Vec::new();
                collect(
                    &mut workspace,
                    |workspace, list| {
                        launches.set(launches.get() + 1);
                        write(workspace, list, wanted)
                    },
                    |f| found.push(f),
                )
                .unwrap();
                let all: Vec<_> =
                    (0..wanted as u32).map(|i| RawRecord { place: i, what: i / 3 }).collect();
                assert_eq!(found, all, "{device:?}");
                assert!(launches.get() <= 2);
            }
        });
    }

    /// What a kernel that finds that many records would do.
    fn write(workspace: &Workspace, list: RecordList<'_>, wanted: usize) -> Result<(), Fault> {
        let mut words = vec![wanted as u32, 0];
        words.extend((0..(wanted as u32).min(list.room)).flat_map(|i| [i, i / 3]));
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        workspace.queue().write(list.buffer, 0, &bytes)
    }

    #[test]
    fn holes_are_skipped_and_not_counted() {
        testing::each_device(|device| {
            let mut workspace = Workspace::open(device).unwrap();
            let launch = |workspace: &Workspace, list: RecordList<'_>| {
                let words = [4, 2, 7, 1, 0, HOLE, 8, 2, 0, HOLE];
                let bytes: Vec<u8> = words.iter().flat_map(|w: &u32| w.to_le_bytes()).collect();
                workspace.queue().write(list.buffer, 0, &bytes)
            };
            let mut found = Vec::new();
            collect(&mut workspace, launch, |r| found.push((r.place, r.what))).unwrap();
            assert_eq!(found, [(7, 1), (8, 2)], "{device:?}");
            assert_eq!(time(&mut workspace, 0, launch).unwrap().records, 2);
        });
    }

    #[test]
    fn no_list_is_longer_than_its_buffer() {
        testing::each_device(|device| {
            let buffer = device.allocate(4 * BYTES).unwrap();
            let is_refused = |room: u32| {
                let make = || RecordList::new(&buffer, room).room;
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(make)).is_err()
            };
            assert!(!is_refused(3) && is_refused(4) && is_refused(u32::MAX));
        });
    }
}
