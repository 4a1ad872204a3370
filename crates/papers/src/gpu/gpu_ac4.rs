//! `gpu-ac3` with the writes put together too: the last rung of the paper's ladder.
//!
//! States written 912 bytes apart waste transactions as reads did. There is no room for all of them in shared memory, so
//! the input makes room: (a) each work item walks its overlap; (b) it moves the 57 words of its positions from shared memory to
//! registers; (c) in rounds of 64 positions it writes states to shared memory, and then the group writes those of each
//! work item to the output, neighbours writing neighbouring states. 228 positions take three rounds of 64 and one of 36.
//!
//! Registers have no addresses: an array is kept in them only if every index is a constant. So the loop over the words of a
//! round is unrolled, and the words of later rounds move to the front of the array after each (rounds unrolled as well are
//! too much for the compiler: it did not come to an end in minutes). No work item ends early, as all have to come to each
//! barrier.
//!
//! The paper's 904 MB take 248.71 ms in place of 434.03, 8.68 times as fast as `gpu-ac0` (tables I and II). As with `gpu-ac3`,
//! the walk of the overlap grows with the longest pattern.
//!
//! Where the paper differs: its states have two bytes, a round's take 8 KiB, and 16 threads write the 128 bytes of one as
//! `uint2`. Here they have four, and 32 work items write 128 bytes. The paper lays a work item's 64 states end to end, which
//! puts those of a half-warp in one bank; here 65 words are between one and the next, odd by its own theorem 1.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, IV-B2, VI-A1 (AC4).

use crate::gpu::dense::{Dense, Launch};
use crate::gpu::gpu_ac3::{ITEMS, T_WORD, staged};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac4",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "gpu-ac3 with input in registers and states written together through shared memory",
        source: "Zha and Sahni 2011, IV-B2 (AC4)",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Dense::prepare(set, opt, device, LAUNCH),
    options: &[],
};

static SOURCE: Source = source!("gpu_ac4", ["gpu_ac4"]);

/// Words from one work item's states of a round to the next one's, ROW in the kernel.
const ROW: u32 = 65;

const _: () = assert!(ROW % 2 == 1, "theorem 1");

const LAUNCH: Launch = Launch {
    source: &SOURCE,
    kernel: "gpu_ac4",
    items: ITEMS,
    positions: 4 * T_WORD,
    texture: true,
    shared: |overlap| staged(overlap).max(ITEMS * ROW * 4),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel needs them as constants.
    #[test]
    fn both_halves_agree_on_the_shape() {
        for line in [
            format!("KERNEL({ITEMS})"),
            format!("#define T_WORD {T_WORD}\n"),
            format!("#define ROUND {}\n", ROW - 1),
        ] {
            assert!(SOURCE.text.contains(&line), "{line}");
        }
    }
}
