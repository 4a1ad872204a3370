//! AC4: `gpu-ac3` with coalesced writes, the last step of the paper's ladder.
//!
//! States that are written 912 bytes apart waste transactions as reads did. Shared memory cannot
//! hold all of them beside the input, so the input makes room: (a) each work item walks its
//! overlap; (b) it moves the 57 words of its positions from shared memory to registers; (c) in
//! rounds of 64 positions it writes states to shared memory, and the group writes the states of
//! each work item to the output, neighbors writing neighboring states. 228 positions take three
//! rounds of 64 and one of 36.
//!
//! Registers have no addresses: an array stays in them only if every index is a constant. So the
//! loop over the words of a round is unrolled, and after each round the words of later ones move
//! to the front of the array. (Unrolling the rounds, too, is too much for the compiler.) No work
//! item returns early, because all have to reach each barrier.
//!
//! The paper's 904 MB take 248.71 ms instead of 434.03, 8.68 times as fast as `gpu-ac0` (tables I
//! and II). As with `gpu-ac3`, the walk of the overlap grows with the longest pattern.
//!
//! Differences from the paper: its states have two bytes, a round takes 8 KiB, and 16 threads
//! write the 128 bytes of one as `uint2`. Here states have four bytes, and 32 work items write 128
//! bytes. The paper lays a work item's 64 states end to end, which puts those of a half-warp in
//! one bank; here work items are 65 words apart, odd by the paper's theorem 1.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, IV-B2, VI-A1 (AC4).

use crate::gpu::dense::{DenseSearch, LadderKernel};
use crate::gpu::gpu_ac3::{ITEMS, T_WORD, staged};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
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
    prepare: |set, opt, device| DenseSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ac4", ["gpu_ac4"]);

/// Words between the states of neighboring work items in a round: ROW in the kernel.
const ROW: u32 = 65;

const _: () = assert!(ROW % 2 == 1, "theorem 1");

const KERNEL: LadderKernel = LadderKernel {
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

    /// The kernel has its own constants.
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
