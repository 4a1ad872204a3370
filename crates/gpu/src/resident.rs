//! Haystacks that stay on the device, and the rates that engines are measured against.

use crate::device::{Buffer, Device, Fault, FaultKind, Shape};
use crate::kernel::{Source, source};
use crate::matcher::{GpuMatcher, Lane, PAD, SMALLEST, Tile};
use fyke_core::Matcher;

static READ_RATE: Source = source!("read_rate", ["read_rate"]);

/// Bytes of a tile of a resident haystack: positions within it have 32 bits.
const TILE: u64 = 2 << 30;

/// A haystack in device memory.
pub struct Resident {
    text: Buffer,
    bytes: u64,
    /// How many of them are history, if it is a part.
    overlap: u64,
}

/// A haystack in the memory of several devices, cut in parts of about the same size.
pub struct Spread {
    parts: Vec<Resident>,
}

impl Spread {
    /// A text, repeated until there are so many bytes, in parts for the devices of a matcher.
    ///
    /// # Errors
    /// They do not fit the devices.
    ///
    /// # Panics
    /// The text is empty and the bytes are not.
    pub fn repeat(matcher: &GpuMatcher, text: &[u8], bytes: u64) -> Result<Spread, Fault> {
        let overlap = matcher.set().overlap() as u64;
        let part = bytes.div_ceil(matcher.devices() as u64);
        let make = |place: usize| {
            let start = bytes.min(place as u64 * part);
            let (end, overlap) = (bytes.min(start + part), overlap.min(start));
            // What the text looks like from the part's first byte on.
            let phase = ((start - overlap) % text.len().max(1) as u64) as usize;
            let turned = [&text[phase..], &text[..phase]].concat();
            let device = matcher.on(place).device();
            let part = Resident::repeat(device, &turned, end - start + overlap)?;
            Ok(Resident { overlap, ..part })
        };
        Ok(Spread { parts: (0..matcher.devices()).map(make).collect::<Result<_, Fault>>()? })
    }
}

/// What a search of a resident haystack took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timed {
    /// Seconds on the device's clock, from the first kernel to the last.
    pub seconds: f64,
    /// Records that were written there, or positions for engines that write one each; the number of matches where they
    /// were only counted.
    pub records: u64,
    /// Places that passed a filter and were looked at closer; 0 for searches without one.
    pub candidates: u64,
}

impl Timed {
    /// One search and then another.
    pub fn then(self, next: Timed) -> Timed {
        Timed {
            seconds: self.seconds + next.seconds,
            records: self.records + next.records,
            candidates: self.candidates + next.candidates,
        }
    }
}

impl Resident {
    /// A text, repeated until there are so many bytes.
    ///
    /// # Errors
    /// They do not fit the device.
    ///
    /// # Panics
    /// The text is empty and the bytes are not.
    pub fn repeat(device: &Device, text: &[u8], bytes: u64) -> Result<Resident, Fault> {
        let size = bytes as usize;
        let buffer = device.allocate(PAD + size.next_multiple_of(PAD) + PAD)?;
        let queue = device.queue()?;
        let first = text.len().min(size);
        assert!(first > 0 || size == 0, "nothing to repeat");
        queue.zero(&buffer, 0..PAD)?;
        queue.zero(&buffer, PAD + size..buffer.len())?;
        queue.write(&buffer, PAD, &text[..first])?;
        let mut have = first;
        // In doubling steps: a copy for each repetition of a short text would take minutes.
        while have < size {
            let whole = have - have % text.len();
            let more = whole.min(size - have);
            queue.copy(&buffer, PAD, &buffer, PAD + have, more)?;
            have += more;
        }
        queue.finish()?;
        Ok(Resident { text: buffer, bytes, overlap: 0 })
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Seconds that a kernel takes that reads it all and does nothing else: the best of a few shapes.
    ///
    /// # Errors
    /// The device failed.
    pub fn read_seconds(&self, device: &Device) -> Result<f64, Fault> {
        let queue = device.queue()?;
        let kernel = device.kernel(&READ_RATE, "read_rate")?;
        let out = device.allocate(16)?;
        let units = device.properties().units;
        let mut best = f64::INFINITY;
        for groups in [8, 16, 32, 8, 16, 32].map(|g| g * units) {
            let args = [(&self.text).into(), (self.bytes / 16).into(), (&out).into()];
            let shape = Shape { groups, items: 512, shared: 0 };
            // SAFETY: these are the kernel's arguments; it reads so many words of the text and writes one word.
            best = best.min(queue.time(|| unsafe { queue.launch(&kernel, shape, &args) })?);
        }
        Ok(best)
    }

    /// The tiles that a matcher takes, with leads.
    fn tiles(&self, overlap: usize) -> impl Iterator<Item = Tile<'_>> {
        let overlap = (overlap as u64).next_multiple_of(16);
        (0..self.bytes).step_by(TILE as usize).map(move |start| {
            let overlap = if start == 0 { self.overlap } else { overlap.min(start) };
            let from = start.saturating_sub(overlap);
            let end = self.bytes.min(start + TILE);
            Tile {
                text: &self.text,
                at: PAD as u64 + from,
                bytes: (end - from) as u32,
                overlap: overlap as u32,
            }
        })
    }
}

/// Times a search of a tile, or of its halves where it finds more than there is room for. What the failed attempt took is
/// left out: a search that knows its text would begin with the halves.
fn time_halves<'a>(
    lane: &mut Lane,
    tile: Tile<'a>,
    history: usize,
    time: &mut dyn FnMut(&mut Lane, Tile<'a>) -> Result<Timed, Fault>,
) -> Result<Timed, Fault> {
    match time(lane, tile) {
        Err(fault)
            if fault.kind() == FaultKind::OutOfMemory && tile.owned() as usize > SMALLEST =>
        {
            let [first, second] = tile.halves(history);
            let sum = time_halves(lane, first, history, time)?;
            Ok(sum.then(time_halves(lane, second, history, time)?))
        }
        timed => timed,
    }
}

impl GpuMatcher {
    /// Searches a resident haystack and leaves what it finds on the device.
    ///
    /// # Errors
    /// The device failed.
    pub fn time_resident(&self, lane: &mut Lane, haystack: &Resident) -> Result<Timed, Fault> {
        let history = self.set().overlap();
        haystack.tiles(history).try_fold(Timed::default(), |sum, tile| {
            let time = &mut |lane: &mut Lane, tile| self.search().timed(lane, tile);
            Ok(sum.then(time_halves(lane, tile, history, time)?))
        })
    }

    /// Searches a haystack in the memory of several devices, each by a thread of its own with one of the lanes: seconds are
    /// those of the slowest. Matches are counted if that is wanted and the search counts, else found.
    ///
    /// # Errors
    /// A device failed.
    pub fn time_spread(
        &self,
        lanes: &mut [Lane],
        haystack: &Spread,
        counted: bool,
    ) -> Result<Timed, Fault> {
        let time = &|place: usize, lane: &mut Lane, part: &Resident| {
            let matcher = self.on(place);
            let count = counted.then(|| matcher.time_resident_count(lane, part)).flatten();
            count.unwrap_or_else(|| matcher.time_resident(lane, part))
        };
        let parts = lanes.iter_mut().zip(&haystack.parts).enumerate();
        let each: Vec<Result<Timed, Fault>> = std::thread::scope(|scope| {
            let threads: Vec<_> = parts
                .map(|(place, (lane, part))| scope.spawn(move || time(place, lane, part)))
                .collect();
            let join = |t: std::thread::ScopedJoinHandle<'_, _>| {
                t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        each.into_iter().try_fold(Timed::default(), |sum, timed| {
            let timed = timed?;
            Ok(Timed {
                seconds: sum.seconds.max(timed.seconds),
                records: sum.records + timed.records,
                candidates: sum.candidates + timed.candidates,
            })
        })
    }

    /// Counts the matches of a resident haystack, if the search counts: [`Timed::records`] is their number, each counted
    /// once for each id of its pattern.
    ///
    /// # Errors
    /// The device failed.
    pub fn time_resident_count(
        &self,
        lane: &mut Lane,
        haystack: &Resident,
    ) -> Option<Result<Timed, Fault>> {
        let history = self.set().overlap();
        let mut sum = Timed::default();
        for tile in haystack.tiles(history) {
            let mut counts = self.counts();
            let time = &mut |lane: &mut Lane, tile| {
                let timed = self.counts().then(|| self.search().timed_count(lane, tile)).flatten();
                counts = timed.is_some();
                timed.unwrap_or(Ok(Timed::default()))
            };
            match time_halves(lane, tile, history, time) {
                Ok(timed) if counts => sum = sum.then(timed),
                Ok(_) => return None,
                Err(fault) => return Some(Err(fault)),
            }
        }
        Some(Ok(sum))
    }
}

/// Bytes a second between pinned memory and the device.
#[derive(Clone, Copy, Debug)]
pub struct CopyRates {
    /// To the device.
    pub write: f64,
    /// From the device.
    pub read: f64,
}

/// Measures copies of so many bytes; the best of five.
///
/// # Errors
/// There is not enough memory, or the device failed.
pub fn copy_rates(device: &Device, bytes: usize) -> Result<CopyRates, Fault> {
    let queue = device.queue()?;
    let buffer = device.allocate(bytes)?;
    let mut host = device.pinned(bytes)?;
    let (mut write, mut read) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        // SAFETY: the copy is waited for before the memory is used again.
        let to = queue.time(|| unsafe { queue.write_later(&buffer, 0, &host, 0..bytes) })?;
        // SAFETY: as above.
        let back = queue.time(|| unsafe { queue.read_later(&buffer, 0, &mut host, 0..bytes) })?;
        (write, read) = (write.min(to), read.min(back));
    }
    Ok(CopyRates { write: bytes as f64 / write, read: bytes as f64 / read })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::inventory;
    use crate::engine::gpu_dfa;
    use fyke_core::{Options, PatternSet};

    #[test]
    fn what_finds_too_much_for_a_launch_is_searched_in_halves() {
        let set = PatternSet::new(["a", "aab", "baabaab"]).unwrap();
        let text = b"aab".repeat(100_000);
        for (number, device) in inventory().devices.iter().enumerate() {
            let haystack = Resident::repeat(device, b"aab", text.len() as u64).unwrap();
            let opt = Options::with_params(&format!("device={number}")).unwrap();
            let matcher = gpu_dfa::ENGINE.compile_for_device(&set, &opt).unwrap();
            let mut lane = Lane::open(device).unwrap();
            let whole = matcher.time_resident(&mut lane, &haystack).unwrap();
            lane.most_records = whole.records as usize / 3;
            let cut = matcher.time_resident(&mut lane, &haystack).unwrap();
            // One for each byte, for every state here ends a pattern, and some where work items follow what began earlier.
            assert!((300_000..=cut.records).contains(&whole.records), "{whole:?} {cut:?}");
            lane.most_records = 1;
            assert!(matcher.time_resident(&mut lane, &haystack).is_err());
            lane.most_records = 5_000;
            // The form that writes records where it counts.
            let opt = opt.params(&format!("device={number},form=linked")).unwrap();
            let matcher = gpu_dfa::ENGINE.compile_for_device(&set, &opt).unwrap();
            let counted = matcher.time_resident_count(&mut lane, &haystack).unwrap().unwrap();
            assert_eq!(counted.records, 300_000 + 99_998, "{device:?}");
        }
    }

    #[test]
    fn a_text_is_repeated_without_a_seam() {
        for device in &inventory().devices {
            let haystack = Resident::repeat(device, b"abcdefg", 5_000).unwrap();
            let mut back = vec![0; 5_000];
            device.queue().unwrap().read(&haystack.text, PAD, &mut back).unwrap();
            assert!(back.iter().enumerate().all(|(i, b)| *b == b"abcdefg"[i % 7]));
            assert!(haystack.read_seconds(device).unwrap() > 0.0);
        }
    }
}
