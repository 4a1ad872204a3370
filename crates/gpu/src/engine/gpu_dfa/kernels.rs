//! The kernels of the automaton: which ones a set uses, and the shared memory of a group.

use super::tables::{DfaTables, TableForm};
use crate::device::{Device, Fault, Kernel, LaunchShape};
use crate::kernel::{KernelSource, kernel_source};

static SOURCE: KernelSource = kernel_source!(
    "gpu_dfa",
    [
        "gpu_dfa_bytes",
        "gpu_dfa_bytes_count",
        "gpu_dfa_bytes_paths",
        "gpu_dfa_bytes_paths_count",
        "gpu_dfa_classes",
        "gpu_dfa_classes_count",
        "gpu_dfa_classes_paths",
        "gpu_dfa_classes_paths_count",
        "gpu_dfa_linked",
        "gpu_dfa_linked_count",
    ]
);

/// Those that count, for GPUs that copy blocks of the text to shared memory.
pub(super) static STAGED: KernelSource = KernelSource {
    name: "gpu_dfa_staged",
    kernels: &[
        "gpu_dfa_bytes_count_staged",
        "gpu_dfa_bytes_paths_count_staged",
        "gpu_dfa_classes_count_staged",
        "gpu_dfa_classes_paths_count_staged",
    ],
    text: "",
    ptx: include_str!("../../kernel/ptx/gpu_dfa_staged.ptx"),
};

/// Work items of a group: with warps of 32 lanes, and with warps of one lane. As the kernels
/// declare.
pub(super) const ITEMS: u32 = 1024;
pub(super) const ITEMS_ALONE: u32 = 64;

/// Bytes of shared memory of a warp: how many places for records it has reserved.
const SHARED_PER_WARP: u32 = 4;

/// The same for kernels of [`STAGED`], with a block of 32 bytes of text for each lane, and a
/// barrier.
const STAGED_PER_WARP: u32 = SHARED_PER_WARP + 32 * 32 + 8;

/// Bytes of shared memory for classes.
pub(super) const SHARED_CLASSES: u32 = 256;

/// Divisor of the number of a warp's lanes that would be outside of shared memory if all slots were
/// equally frequent. A warp with more such lanes than the quotient follows paths. Benchmark:
/// `floor/...` of `bench gpu`, traffic and hostile text; simulation shows both far from the limit.
const DEEP_OF_HOSTILE: f32 = 3.0;

/// Bytes of a sum.
pub(super) const SUM_BYTES: usize = 8;

/// One of the two kernels of a set, with its share of a multiprocessor.
pub(super) struct DfaKernel {
    pub(super) kernel: Kernel,
    pub(super) shape: LaunchShape,
    /// Slots in shared memory.
    pub(super) near_slots: u32,
    pub(super) few_deep: u32,
    /// Whether it writes a sum for each group.
    pub(super) counts: bool,
    /// Whether it copies the text in blocks.
    pub(super) staged: bool,
}

/// The kernels that find and count with these tables.
pub(super) fn kernels(
    device: &Device,
    tables: &DfaTables,
    items: u32,
) -> Result<[DfaKernel; 2], Fault> {
    let is_linked = tables.form == TableForm::Linked;
    let contexts = if is_linked { 0 } else { tables.contexts.len() as u32 };
    let paths = if tables.paths > 0 { "_paths" } else { "" };
    let name = format!("gpu_dfa_{}{paths}", tables.form.name());
    let make = |counts: bool, staged_slots: Option<usize>| {
        let staged = staged_slots.is_some();
        let near_slots = staged_slots.unwrap_or(tables.near_slots);
        let source = if staged { &STAGED } else { &SOURCE };
        let count = if counts { "_count" } else { "" };
        let suffix = if staged { "_staged" } else { "" };
        let kernel = device.kernel(source, &format!("{name}{count}{suffix}"))?;
        let warps = shared_of_warps(device, items, staged);
        let shared = SHARED_CLASSES + contexts + 4 * near_slots as u32 + warps;
        let shape = LaunchShape { groups: 1, items, shared: shared.max(SUM_BYTES as u32 * items) };
        let groups = kernel.resident_groups(shape);
        let far = tables.slot_count.saturating_sub(near_slots) as f32;
        let lanes = device.properties().lanes as f32;
        let few_deep = (lanes * far / tables.slot_count as f32 / DEEP_OF_HOSTILE) as u32;
        let shape = LaunchShape { groups, ..shape };
        Ok(DfaKernel { kernel, shape, near_slots: near_slots as u32, few_deep, counts, staged })
    };
    Ok([make(false, None)?, make(true, tables.staged_slots)?])
}

/// Bytes of shared memory of a group's warps.
pub(super) fn shared_of_warps(device: &Device, items: u32, staged: bool) -> u32 {
    let each = if staged { STAGED_PER_WARP } else { SHARED_PER_WARP };
    each * items / device.properties().lanes
}
