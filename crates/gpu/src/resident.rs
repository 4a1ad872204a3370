//! Haystacks that stay in device memory, and the rates that engines are measured against.

use crate::device::{Buffer, Device, Fault, FaultKind, LaunchShape};
use crate::kernel::{KernelSource, kernel_source};
use crate::matcher::{ALIGNED, GpuMatcher, PAD, SMALLEST, Tile, Workspace};
use fyke_core::Matcher;

static READ_RATE: KernelSource = kernel_source!("read_rate", ["read_rate"]);

/// Bytes of a tile of a resident haystack, without its overlap.
const TILE: u64 = 2 << 30;

/// A haystack in device memory.
///
/// The buffer has [`PAD`] bytes before and after the haystack, as tiles need them.
pub struct Resident {
    text: Buffer,
    bytes: u64,
    /// Bytes of history, if it is a part of a haystack.
    overlap: u64,
}

/// A haystack in the memory of several devices, in parts of about the same size.
pub struct SpreadHaystack {
    parts: Vec<Resident>,
}

impl SpreadHaystack {
    /// A text, repeated until it has `bytes` bytes, in one part for each device of a matcher.
    ///
    /// # Errors
    /// The parts do not fit the devices.
    ///
    /// # Panics
    /// The text is empty and `bytes` is not 0.
    pub fn repeat(matcher: &GpuMatcher, text: &[u8], bytes: u64) -> Result<SpreadHaystack, Fault> {
        let overlap = matcher.set().overlap() as u64;
        let part = bytes.div_ceil(matcher.devices() as u64);
        let make = |index: usize| {
            let start = bytes.min(index as u64 * part);
            let (end, overlap) = (bytes.min(start + part), overlap.min(start));
            // The part begins in the middle of a repetition: rotate the text to there.
            let phase = ((start - overlap) % text.len().max(1) as u64) as usize;
            let rotated = [&text[phase..], &text[..phase]].concat();
            let device = matcher.on(index).device();
            let part = Resident::repeat(device, &rotated, end - start + overlap)?;
            Ok(Resident { overlap, ..part })
        };
        let parts = (0..matcher.devices()).map(make).collect::<Result<_, Fault>>()?;
        Ok(SpreadHaystack { parts })
    }
}

/// The time of a search of a resident haystack, and its output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timed {
    /// Seconds on the device's clock, from the first kernel to the last.
    pub seconds: f64,
    /// Records that were written, or positions for engines that write one each; the number of
    /// matches if they were only counted.
    pub records: u64,
    /// Positions that passed a filter and were verified; 0 for searches without a filter.
    pub candidates: u64,
}

impl Timed {
    /// The sum of this search and the next.
    pub fn then(self, next: Timed) -> Timed {
        Timed {
            seconds: self.seconds + next.seconds,
            records: self.records + next.records,
            candidates: self.candidates + next.candidates,
        }
    }
}

impl Resident {
    /// A text, repeated until it has `bytes` bytes.
    ///
    /// # Errors
    /// It does not fit the device.
    ///
    /// # Panics
    /// The text is empty and `bytes` is not 0.
    pub fn repeat(device: &Device, text: &[u8], bytes: u64) -> Result<Resident, Fault> {
        let padded = usize::try_from(bytes).ok().and_then(|size| {
            Some((size, size.checked_next_multiple_of(PAD)?.checked_add(2 * PAD)?))
        });
        let Some((size, room)) = padded else {
            return Err(Fault::too_large("allocating device memory", format!("{bytes} bytes")));
        };
        let first = text.len().min(size);
        assert!(first > 0 || size == 0, "nothing to repeat");
        let buffer = device.allocate(room)?;
        let queue = device.queue()?;
        queue.zero(&buffer, 0..PAD)?;
        queue.zero(&buffer, PAD + size..buffer.len())?;
        queue.write(&buffer, PAD, &text[..first])?;
        let mut have = first;
        // The copies double: one for each repetition of a short text would take minutes.
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

    /// Seconds of a kernel that reads as many bytes as the haystack has and does nothing else: the
    /// best of a few launch shapes.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Panics
    /// It lies in the memory of another device.
    pub fn read_seconds(&self, device: &Device) -> Result<f64, Fault> {
        let queue = device.queue()?;
        let kernel = device.kernel(&READ_RATE, "read_rate")?;
        let out = device.allocate(16)?;
        let units = device.properties().units;
        let words = self.bytes / 16;
        debug_assert!(16 * words <= self.text.len() as u64);
        let mut best = f64::INFINITY;
        for groups in [8, 16, 32, 8, 16, 32].map(|g| g * units) {
            let args = [(&self.text).into(), words.into(), (&out).into()];
            let shape = LaunchShape { groups, items: 512, shared: 0 };
            // SAFETY: `read_rate` declares these arguments and 512 work items. It reads `words`
            // words of 16 bytes from the buffer's beginning, which are no more than the haystack's
            // bytes, and may write the first word of `out`, which has four.
            best = best.min(queue.time(|| unsafe { queue.launch(&kernel, shape, &args) })?);
        }
        Ok(best)
    }

    /// The tiles of the haystack, each with at least the overlap of the set.
    fn tiles(&self, overlap: usize) -> impl Iterator<Item = Tile<'_>> {
        let overlap = (overlap as u64).next_multiple_of(ALIGNED.into());
        (0..self.bytes).step_by(TILE as usize).map(move |start| {
            let overlap = if start == 0 { self.overlap } else { overlap.min(start) };
            let from = start.saturating_sub(overlap);
            let end = self.bytes.min(start + TILE);
            Tile::new(&self.text, PAD + from as usize, (end - from) as usize, overlap as usize)
        })
    }
}

/// Times a search of a tile, or of its halves if it finds more than there is room for. The time of
/// the failed attempt is left out: a caller that knows the text would begin with the halves.
fn time_halves<'a>(
    workspace: &mut Workspace,
    tile: Tile<'a>,
    history: usize,
    time: &mut dyn FnMut(&mut Workspace, Tile<'a>) -> Result<Timed, Fault>,
) -> Result<Timed, Fault> {
    match time(workspace, tile) {
        Err(fault)
            if fault.kind() == FaultKind::OutOfMemory && tile.owned() as usize > SMALLEST =>
        {
            let [first, second] = tile.halves(history);
            let sum = time_halves(workspace, first, history, time)?;
            Ok(sum.then(time_halves(workspace, second, history, time)?))
        }
        timed => timed,
    }
}

impl GpuMatcher {
    /// Searches a resident haystack and leaves the records on the device.
    ///
    /// # Errors
    /// The device failed.
    pub fn time_resident(
        &self,
        workspace: &mut Workspace,
        haystack: &Resident,
    ) -> Result<Timed, Fault> {
        let history = self.set().overlap();
        haystack.tiles(history).try_fold(Timed::default(), |sum, tile| {
            let time = &mut |workspace: &mut Workspace, tile| self.search().timed(workspace, tile);
            Ok(sum.then(time_halves(workspace, tile, history, time)?))
        })
    }

    /// Searches a haystack in the memory of several devices, one thread and one workspace per
    /// device. Seconds are those of the slowest. Matches are counted if `counted` and if the
    /// search can count.
    ///
    /// # Errors
    /// A device failed.
    pub fn time_spread(
        &self,
        workspaces: &mut [Workspace],
        haystack: &SpreadHaystack,
        counted: bool,
    ) -> Result<Timed, Fault> {
        let time = &|index: usize, workspace: &mut Workspace, part: &Resident| {
            let matcher = self.on(index);
            let count = counted.then(|| matcher.time_resident_count(workspace, part)).flatten();
            count.unwrap_or_else(|| matcher.time_resident(workspace, part))
        };
        let parts = workspaces.iter_mut().zip(&haystack.parts).enumerate();
        let each: Vec<Result<Timed, Fault>> = std::thread::scope(|scope| {
            let threads: Vec<_> = parts
                .map(|(index, (workspace, part))| scope.spawn(move || time(index, workspace, part)))
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

    /// Counts the matches of a resident haystack: [`Timed::records`] is their number, each counted
    /// once for each id of its pattern. `None` if the search cannot count.
    ///
    /// # Errors
    /// The device failed.
    pub fn time_resident_count(
        &self,
        workspace: &mut Workspace,
        haystack: &Resident,
    ) -> Option<Result<Timed, Fault>> {
        let history = self.set().overlap();
        let mut sum = Timed::default();
        for tile in haystack.tiles(history) {
            let mut counts = self.counts();
            let time = &mut |workspace: &mut Workspace, tile| {
                let timed =
                    self.counts().then(|| self.search().timed_count(workspace, tile)).flatten();
                counts = timed.is_some();
                timed.unwrap_or(Ok(Timed::default()))
            };
            match time_halves(workspace, tile, history, time) {
                Ok(timed) if counts => sum = sum.then(timed),
                Ok(_) => return None,
                Err(fault) => return Some(Err(fault)),
            }
        }
        Some(Ok(sum))
    }
}

/// Copy rates between pinned memory and the device, in bytes per second.
#[derive(Clone, Copy, Debug)]
pub struct CopyRates {
    /// To the device.
    pub write: f64,
    /// From the device.
    pub read: f64,
}

/// Measures copies of that many bytes; returns the best of five.
///
/// # Errors
/// There is not enough memory, or the device failed.
pub fn copy_rates(device: &Device, bytes: usize) -> Result<CopyRates, Fault> {
    let queue = device.queue()?;
    let buffer = device.allocate(bytes)?;
    let mut host = device.pinned(bytes)?;
    let measured = (|| {
        let (mut write, mut read) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..5 {
            // SAFETY: `host` stays as it is until `finish` below: the copy back follows on the
            // same queue, and nothing else accesses it.
            let to = queue.time(|| unsafe { queue.write_later(&buffer, 0, &host, 0..bytes) })?;
            // SAFETY: nothing accesses `host` but the copies of this loop, which one queue orders,
            // and it is dropped after `finish` below.
            let back =
                queue.time(|| unsafe { queue.read_later(&buffer, 0, &mut host, 0..bytes) })?;
            (write, read) = (write.min(to), read.min(back));
        }
        Ok((write, read))
    })();
    queue.finish()?;
    let (write, read) = measured?;
    Ok(CopyRates { write: bytes as f64 / write, read: bytes as f64 / read })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu_dfa;
    use crate::testing;
    use fyke_core::PatternSet;

    #[test]
    fn what_finds_too_much_for_a_launch_is_searched_in_halves() {
        let set = PatternSet::new(["a", "aab", "baabaab"]).unwrap();
        let text = b"aab".repeat(100_000);
        testing::each_device(|device| {
            let haystack = Resident::repeat(device, b"aab", text.len() as u64).unwrap();
            let matcher = testing::compile(&gpu_dfa::ENGINE, &set, device, "");
            let mut workspace = Workspace::open(device).unwrap();
            let whole = matcher.time_resident(&mut workspace, &haystack).unwrap();
            workspace.most_records = whole.records as usize / 3;
            let cut = matcher.time_resident(&mut workspace, &haystack).unwrap();
            // One for each byte, because every state here ends a pattern, and some where work
            // items follow what began before their positions. Parts have as many items or more.
            // But at each of the three seams an item follows nothing, and the next ones begin
            // elsewhere in a repetition, where they follow up to `overlap` bytes less.
            let at_seams = 3 * 3 * set.overlap() as u64;
            let most = cut.records + at_seams;
            assert!((300_000..=most).contains(&whole.records), "{whole:?} {cut:?} on {device:?}");
            workspace.most_records = 1;
            assert!(matcher.time_resident(&mut workspace, &haystack).is_err());
            // More than a part has that is not cut, of SMALLEST bytes, and fewer than the whole.
            workspace.most_records = 10_000;
            // The form that writes records even where it counts.
            let matcher = testing::compile(&gpu_dfa::ENGINE, &set, device, "form=linked");
            let counted = matcher.time_resident_count(&mut workspace, &haystack).unwrap().unwrap();
            assert_eq!(counted.records, 300_000 + 99_998, "{device:?}");
        });
    }

    #[test]
    fn a_text_is_repeated_without_a_seam() {
        testing::each_device(|device| {
            let haystack = Resident::repeat(device, b"abcdefg", 5_000).unwrap();
            let mut back = vec![0; 5_000];
            device.queue().unwrap().read(&haystack.text, PAD, &mut back).unwrap();
            assert!(back.iter().enumerate().all(|(i, b)| *b == b"abcdefg"[i % 7]));
            assert!(haystack.read_seconds(device).unwrap() > 0.0);
        });
    }

    #[test]
    fn a_haystack_that_no_address_space_holds_is_refused() {
        testing::each_device(|device| {
            let refused = Resident::repeat(device, b"a", u64::MAX).err().unwrap();
            assert_eq!(refused.kind(), FaultKind::OutOfMemory, "{refused}");
        });
    }
}
