//! What lanes leave behind: where each of them was after each byte, and which of these places report something.
//!
//! Lanes step together, so places come step by step, a vector at once, and are written as they come. They are wanted lane
//! by lane: a lane is a piece of the haystack, and pieces one after the other are in order. So the bits that say which
//! places report something are turned, 64 steps at once, into words for each lane: what is reported is found by these
//! bits, in order, and nothing is sorted.

use super::scan::Cut;

/// Steps of a word of bits.
pub(super) const STEPS: usize = u64::BITS as usize;

/// Places of a line of the cache.
const LINE: usize = 16;

/// A line of the cache.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; LINE]);

/// See the module.
#[derive(Default)]
pub(super) struct Trail {
    /// The place of lane `l` after step `s` is word `(l / width * size + s) * width + l % width`. Only those that report
    /// something are sure to be there.
    lines: Vec<Line>,
    /// Bit `s % 64` of word `l * words + s / 64` says that it reports something.
    bits: Vec<u64>,
    cut: Cut,
}

/// Where the trail of a window is written.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// The first place, where a line of the cache begins.
    pub(super) places: *mut u32,
    /// The first word of bits of the first lane.
    pub(super) bits: *mut u64,
    /// Words of bits of a lane.
    pub(super) words: usize,
}

impl Cut {
    fn words(self) -> usize {
        self.size.div_ceil(STEPS)
    }

    /// Where the place of a lane after a step is. That after the next step is `width` words on.
    fn at(self, lane: usize, step: usize) -> usize {
        (lane / self.width * self.size + step) * self.width + lane % self.width
    }
}

impl Trail {
    /// Makes room for a window.
    pub(super) fn prepare(&mut self, cut: Cut) {
        let (lines, words) = ((cut.size * cut.lanes).div_ceil(LINE), cut.words() * cut.lanes);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; LINE]));
        }
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        self.cut = cut;
    }

    /// Room for all of a window that is cut like this.
    pub(super) fn room_for(&mut self, cut: Cut) -> Room {
        assert!(self.cut == cut);
        let (places, bits) = (self.lines.as_mut_ptr().cast(), self.bits.as_mut_ptr());
        Room { places, bits, words: cut.words() }
    }

    /// How the window is cut whose trail this is.
    pub(super) fn cut(&self) -> Cut {
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

    /// Puts right where a lane was after a step.
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
