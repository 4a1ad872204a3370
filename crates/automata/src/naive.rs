//! Compares every pattern at every position: the oracle as a matcher.
//!
//! At each end position it compares every pattern that ends with that byte, longest first. The
//! lists by last byte are its only difference from [`fyke_core::oracle`]. They make tests of rule
//! sets on real traffic feasible. It accepts every set.

use fyke_core::{
    Block, Emitter, Footprint, Info, Matcher, Options, PatternSet, Refusal, Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Compiles a set for the engine of `info`.
///
/// # Errors
/// The lists would take more than the memory limit.
pub fn compile(
    info: &'static Info,
    set: &PatternSet,
    opt: &Options,
) -> Result<Arc<dyn Matcher>, Refusal> {
    opt.check_memory(8 * set.len() as u64)?;
    Ok(Arc::new(Naive { info, by_last: by_last_byte(set), set: set.clone() }))
}

struct Naive {
    info: &'static Info,
    set: PatternSet,
    /// For each byte, the patterns that can end with it: longest first, then by dense index.
    by_last: Vec<Vec<u32>>,
}

fn by_last_byte(set: &PatternSet) -> Vec<Vec<u32>> {
    let mut by_last = vec![Vec::new(); 256];
    for p in set.iter() {
        let last = p.bytes[p.bytes.len() - 1];
        by_last[usize::from(last)].push(p.index);
        if p.nocase && last.is_ascii_lowercase() {
            by_last[usize::from(last.to_ascii_uppercase())].push(p.index);
        }
    }
    for list in &mut by_last {
        list.sort_by_key(|&i| std::cmp::Reverse(set.pattern_len(i)));
    }
    by_last
}

impl Naive {
    fn matches_at(&self, end: usize, bytes: &[u8], index: u32) -> bool {
        let p = self.set.get(index);
        p.bytes.len() <= end && p.is_match(&bytes[end - p.bytes.len()..end])
    }
}

impl Matcher for Naive {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn set(&self) -> &PatternSet {
        &self.set
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, true);
        let (mut base, bytes) = (0, block.bytes);
        for end in block.overlap + 1..=bytes.len() {
            if end - base > u32::MAX as usize {
                base = end;
                out.rebase(block.offset + base as u64)?;
            }
            for &index in &self.by_last[usize::from(bytes[end - 1])] {
                if self.matches_at(end, bytes, index) {
                    out.push((end - base) as u32, index);
                }
            }
            out.flush_if_full()?;
        }
        out.flush()
    }

    fn footprint(&self) -> Footprint {
        let lists: usize = self.by_last.iter().map(|l| l.capacity() * 4 + 24).sum();
        Footprint { host: lists as u64, device: 0 }
    }

    fn describe(&self) -> String {
        format!("{} patterns, listed by their last byte", self.set.len())
    }
}
