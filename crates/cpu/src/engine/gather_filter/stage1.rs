//! Stage 1: which positions of a tile may begin a window.

use super::build::Tables;
use super::hash;
use super::scan::Lists;
use fyke_core::{Options, Refusal};
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
#[path = "stage1_x86.rs"]
mod x86;

/// The instructions that stage 1 is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isa {
    /// What every processor has.
    Scalar,
    /// Eight positions a gather.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Sixteen positions a gather, candidates compressed by VBMI2.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The form that was asked for, or the best that this machine has.
    pub(super) fn new(opt: &Options) -> Result<Self, Refusal> {
        let wanted = opt.choice("isa", &["auto", "avx512", "avx2", "scalar"])?;
        if wanted == "scalar" {
            return Ok(Isa::Scalar);
        }
        #[cfg(target_arch = "x86_64")]
        {
            if wanted != "avx2" && x86::has_avx512() {
                return Ok(Isa::Avx512);
            }
            if wanted != "avx512" && is_x86_feature_detected!("avx2") {
                return Ok(Isa::Avx2);
            }
        }
        missing(wanted)
    }
}

/// `auto` is content with the plain form.
fn missing(wanted: &str) -> Result<Isa, Refusal> {
    match wanted {
        "avx512" => Err(Refusal::NoIsa("AVX-512 with VBMI2")),
        "avx2" => Err(Refusal::NoIsa("AVX2")),
        _ => Ok(Isa::Scalar),
    }
}

/// Puts every `stride`-th position of `tile` that may begin a window on the lists, in order.
pub(super) fn fill(isa: Isa, tables: &Tables, bytes: &[u8], tile: Range<usize>, lists: &mut Lists) {
    let done = match isa {
        Isa::Scalar => tile.start,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => x86::fill_avx2(tables, bytes, tile.clone(), lists),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => x86::fill_avx512(tables, bytes, tile.clone(), lists),
    };
    plain(tables, bytes, tile.start, done..tile.end, lists);
}

/// The plain form, for any positions: near the end of a block it is the only one.
fn plain(tables: &Tables, bytes: &[u8], base: usize, part: Range<usize>, lists: &mut Lists) {
    let shape = &tables.shape;
    let wrap = tables.filter.len() - 1;
    for at in part.step_by(shape.stride) {
        let word = hash::word(bytes, at) | shape.fold;
        let (low, high) = (hash::low(word), hash::high(word & shape.long_mask()));
        let index = if shape.short > 0 { low } else { low.wrapping_add(high) };
        let filter = tables.filter[(index >> hash::INDEX_SHIFT) as usize & wrap];
        let passes = |bits: u32| filter & bits == 0;
        if shape.short > 0 {
            lists.short.push_if(at - base, passes(hash::bits(low, hash::SHORT_BYTES)));
            lists.long.push_if(at - base, passes(hash::bits(high, hash::LONG_BYTES)));
        } else {
            lists.long.push_if(at - base, passes(hash::bits(high, u32::MAX)));
        }
    }
}
