//! The host side that GPU engines share: a haystack goes to the device in tiles, and the matches
//! come back.
//!
//! An engine implements [`Search`]: tables on the device, and the launch of kernels over a
//! [`Tile`]. [`GpuMatcher`] makes a [`Matcher`] of it.
//!
//! The sink sees nothing of a tile before all of its matches are back. So a fault loses no match
//! and reports none twice. A tile that is too large for the device's memory is cut in two; after
//! any other fault the CPU scans it ([`crate::faults`]).
//!
//! If the sink only counts, a search that can count returns a number, and no record is written.

mod packed;
mod scan;
mod tile;
mod workspace;

pub use packed::Packed;
pub use scan::GpuMatcher;
pub(crate) use scan::{Wanted, WorkerState};
pub(crate) use tile::ALIGNED;
pub use tile::Tile;
pub use workspace::Workspace;

use crate::device::{self, Buffer, Device, Fault, Queue};
use crate::resident::Timed;
use fyke_core::{Engine, Footprint, Info, Matcher, Options, PatternSet, Record, Refusal};
use std::sync::Arc;

/// Bytes before and after a text on the device that kernels may read, so that they load whole
/// words and whole chunks.
pub const PAD: usize = 4096;

/// Tiles are cut in two when memory is short, down to this many bytes.
pub(crate) const SMALLEST: usize = 64 << 10;

/// Compiles a set for a device.
pub type Prepare = fn(&PatternSet, &Options, &Device) -> Result<Box<dyn Search>, Refusal>;

/// A GPU engine: its description, and how it compiles a set.
pub struct GpuEngine {
    /// Its description.
    pub info: &'static Info,
    /// Compiles a set for a device.
    pub prepare: Prepare,
    /// The engine's own options, in addition to [`device::OPTIONS`].
    pub options: &'static [&'static str],
}

impl GpuEngine {
    /// Compiles a set. As [`Engine::compile`], but returns the concrete type.
    ///
    /// # Errors
    /// As [`Engine::compile`].
    pub fn compile_for_device(
        &self,
        set: &PatternSet,
        opt: &Options,
    ) -> Result<GpuMatcher, Refusal> {
        let known: Vec<&str> = self.options.iter().chain(&device::OPTIONS).copied().collect();
        opt.check_params(&known)?;
        let compile = |device: Device| {
            let search = (self.prepare)(set, opt, &device)?;
            Ok(GpuMatcher::new(self.info, set.clone(), device, search))
        };
        let each = device::open_all(opt)?.into_iter().map(compile);
        Ok(GpuMatcher::together(each.collect::<Result<_, Refusal>>()?))
    }
}

impl Engine for GpuEngine {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn available(&self) -> Result<(), Refusal> {
        device::open(&Options::default()).map(drop)
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Ok(Arc::new(self.compile_for_device(set, opt)?))
    }
}

/// A set compiled for a device.
pub trait Search: Send + Sync {
    /// Most bytes of a tile, without its overlap: at most [`Tile::MAX_BYTES`] with it.
    fn tile(&self) -> usize;

    /// Finds the matches of a tile and appends them to `records`, in a form that
    /// [`expand`](Self::expand) completes; ends count from the tile's first byte. When it returns
    /// without a fault, it has waited for the workspace's queue.
    ///
    /// # Errors
    /// The device failed. The caller drops what was appended.
    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault>;

    /// Replaces records that stand for several matches by those matches. `overlap` is that of the
    /// tile. With packed haystacks it keeps the matches that the sink has to get. Records that stand
    /// for several matches have the number of no pattern.
    fn expand(&self, records: &mut Vec<Record>, overlap: u32, packed: Option<Packed<'_>>) {
        let _ = (records, overlap, packed);
    }

    /// Searches a tile, leaves the matches on the device, and returns the time of the kernels.
    ///
    /// # Errors
    /// The device failed.
    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault>;

    /// The search as [`States`], if it writes a state for each byte.
    fn states(&self) -> Option<&dyn States> {
        None
    }

    /// Counts the matches of a tile without writing records. A match counts once for each id of its
    /// pattern. `None` if this search cannot count, which holds for all tiles. When it returns
    /// without a fault, it has waited for the workspace's queue.
    ///
    /// Not called if [`confirm`](Self::confirm) is true for some pattern.
    ///
    /// # Errors
    /// The device failed, and the tile has to be counted in another way.
    fn count(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Option<Result<u64, Fault>> {
        let _ = (workspace, tile);
        None
    }

    /// Why this search does not count this set, for people, if it counts others.
    fn why_uncounted(&self) -> Option<&str> {
        None
    }

    /// As [`count`](Self::count), with the time of the kernels; [`Timed::records`] is the count.
    ///
    /// # Errors
    /// The device failed.
    fn timed_count(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
    ) -> Option<Result<Timed, Fault>> {
        let first = match workspace.queue().record() {
            Ok(first) => first,
            Err(fault) => return Some(Err(fault)),
        };
        let counted = self.count(workspace, tile)?;
        Some(counted.and_then(|records| {
            let seconds = workspace.queue().record()?.seconds_since(&first)?;
            Ok(Timed { seconds, records, candidates: 0 })
        }))
    }

    /// Whether records come in order of (end, start, pattern).
    fn is_ordered(&self) -> bool {
        false
    }

    /// For each pattern, by dense index, whether the host has to compare its records with the text:
    /// for example if the search ignores case and the pattern does not. Empty if no pattern needs
    /// it.
    fn confirm(&self) -> &[bool] {
        &[]
    }

    /// Memory of its tables.
    fn footprint(&self) -> Footprint;

    /// One line for people: the tables, and what limits the speed.
    fn describe(&self) -> String;
}

/// A search that writes a state of 32 bits for each byte of a tile, so that its time and memory
/// depend on the number of bytes only. The papers' host-to-host strategies are built on it.
pub trait States {
    /// Enqueues a kernel that writes the state after each byte of a tile, the overlap included.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Panics
    /// `states` has fewer than four bytes for each byte of the tile.
    fn launch(&self, queue: &Queue, tile: Tile<'_>, states: &Buffer) -> Result<(), Fault>;

    /// Appends the matches that the states report, given the states after the overlap.
    fn records(&self, overlap: u32, states: &[u8], records: &mut Vec<Record>);
}
