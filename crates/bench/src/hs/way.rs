//! The ways to scan.

use anyhow::Result;
use fyke_core::Block;
use fyke_rivals::libhs::{Database, Mode};
use fyke_rivals::{Built, Refusal, Scanner, Tally, Work};

use super::haystacks::Haystacks;

/// A way to scan the haystacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Its name in tables and for `--filter`.
    pub name: &'static str,
    /// What databases are compiled for.
    pub mode: Mode,
    /// Whether haystacks are cut into packets.
    is_cut: bool,
}

/// All ways.
pub(super) const WAYS: [Way; 3] = [
    Way { name: "block/whole", mode: Mode::Block, is_cut: false },
    Way { name: "block/packets", mode: Mode::Block, is_cut: true },
    Way { name: "stream/chunks", mode: Mode::Stream, is_cut: false },
];

impl Way {
    /// What each verified scan takes: a haystack or a packet.
    pub(super) fn pieces<'h>(&self, haystacks: &'h Haystacks) -> Vec<&'h [u8]> {
        match self.is_cut {
            true => haystacks.packets().collect(),
            false => haystacks.files.iter().map(Vec::as_slice).collect(),
        }
    }

    /// The calls that scan all haystacks once. A stream is opened and closed besides.
    pub(super) fn calls(&self, haystacks: &Haystacks) -> usize {
        match (self.is_cut, self.mode) {
            (false, Mode::Block) => haystacks.files.len(),
            _ => haystacks.packets().count(),
        }
    }

    /// Bytes of the longest call.
    pub(super) fn longest_call(&self, haystacks: &Haystacks) -> usize {
        let longest = haystacks.files.iter().map(Vec::len).max().unwrap_or(0);
        match (self.is_cut, self.mode) {
            (false, Mode::Block) => longest,
            _ => longest.min(haystacks.call),
        }
    }

    /// A scanner.
    pub(super) fn scanner<'d>(
        &self,
        database: &'d Database,
        haystacks: &Haystacks,
    ) -> Result<Box<dyn Scanner + 'd>, Refusal> {
        match self.mode {
            Mode::Block => database.scanner(),
            Mode::Stream => database.stream_scanner(haystacks.call),
        }
    }
}

/// Scans pieces and adds up what was found.
pub(super) fn scan_all(
    scanner: &mut dyn Scanner,
    pieces: &[&[u8]],
    work: Work,
) -> Result<Tally, Refusal> {
    scanner.scan_each(pieces, work)
}

/// What was found in each piece.
pub(super) fn scan_one_by_one(
    scanner: &mut dyn Scanner,
    pieces: &[&[u8]],
) -> Result<Vec<Tally>, Refusal> {
    pieces.iter().map(|piece| scanner.scan(Block::whole(piece), Work::Fingerprint)).collect()
}
