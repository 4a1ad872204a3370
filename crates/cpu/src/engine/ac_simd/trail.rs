//! The trail: the place of each lane after each byte, and which of these places report something.
//!
//! Lanes step together, so places are written step by step, one vector at a time. They are read
//! lane by lane, since the lanes' segments are consecutive in the haystack. So the report bits are
//! transposed into words per lane, 64 steps at a time. Read in this order, matches need no sort.

use super::scan::LaneLayout;

/// Steps of a word of bits.
pub(super) const STEPS: usize = u64::BITS as usize;

/// Places of a cache line.
const LINE: usize = 16;

/// A cache line of places.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct PlaceLine([u32; LINE]);

/// See the module head.
#[derive(Default)]
pub(super) struct Trail {
    /// The place of lane `l` after step `s` is word `(l / width * size + s) * width + l % width`.
    /// Only places that report something are guaranteed to be there.
    lines: Vec<PlaceLine>,
    /// Bit `s % 64` of word `l * words + s / 64`: whether lane `l` reports something after step
    /// `s`.
    bits: Vec<u64>,
    cut: LaneLayout,
}

/// Where the trail of a window is written.
#[derive(Clone, Copy)]
pub(super) struct TrailRoom {
    /// The first place, aligned to a cache line.
    pub(super) places: *mut u32,
    /// The first word of bits of the first lane.
    pub(super) bits: *mut u64,
    /// Words of bits of a lane.
    pub(super) words: usize,
}

impl LaneLayout {
    fn words(self) -> usize {
        self.size.div_ceil(STEPS)
    }

    /// The index of a lane's place after a step. That after the next step is `width` words on.
    fn at(self, lane: usize, step: usize) -> usize {
        (lane / self.width * self.size + step) * self.width + lane % self.width
    }
}

impl Trail {
    /// Makes room for a window.
    pub(super) fn prepare(&mut self, cut: LaneLayout) {
        let (lines, words) = ((cut.size * cut.lanes).div_ceil(LINE), cut.words() * cut.lanes);
        if self.lines.len() < lines {
            self.lines.resize(lines, PlaceLine([0; LINE]));
        }
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        self.cut = cut;
    }

    /// The room for a window of this layout.
    pub(super) fn room_for(&mut self, cut: LaneLayout) -> TrailRoom {
        assert!(self.cut == cut);
        let (places, bits) = (self.lines.as_mut_ptr().cast(), self.bits.as_mut_ptr());
        TrailRoom { places, bits, words: cut.words() }
    }

    /// The layout of the window of this trail.
    pub(super) fn cut(&self) -> LaneLayout {
        self.cut
    }

    /// The place of a lane after its first step. That after the next is `width` words on.
    pub(super) fn places(&self, lane: usize) -> *const u32 {
        self.lines.as_ptr().cast::<u32>().wrapping_add(self.cut.at(lane, 0))
    }

    /// The words of bits of a lane.
    pub(super) fn bits(&self, lane: usize) -> &[u64] {
        let words = self.cut.words();
        &self.bits[lane * words..][..words]
    }

    /// Corrects the place of a lane after a step.
    pub(super) fn put(&mut self, lane: usize, step: usize, place: u32, reports: bool) {
        let at = self.cut.at(lane, step);
        self.lines[at / LINE].0[at % LINE] = place;
        let word = &mut self.bits[lane * self.cut.words() + step / STEPS];
        *word = *word & !(1 << (step % STEPS)) | u64::from(reports) << (step % STEPS);
    }

    /// Calls `each` with all places that report something.
    pub(super) fn each_place(&self, mut each: impl FnMut(u32)) {
        for lane in 0..self.cut.lanes {
            for (i, &word) in self.bits(lane).iter().enumerate() {
                let mut bits = word;
                while bits != 0 {
                    let step = i * STEPS + bits.trailing_zeros() as usize;
                    let at = self.cut.at(lane, step);
                    each(self.lines[at / LINE].0[at % LINE]);
                    bits &= bits - 1;
                }
            }
        }
    }
}
