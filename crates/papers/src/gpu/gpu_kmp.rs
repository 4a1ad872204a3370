//! Knuth-Morris-Pratt: each group searches for one pattern, and each of its work items has a share
//! of the text.
//!
//! N bytes are divided among as many work items as the device runs at a time. Each reads its share
//! and the M - 1 bytes before it, so that a match across two shares is found by the share that it
//! ends in:
//!
//! > N / threads + (M - 1)
//!
//! bytes (III, figure 4). After a mismatch a failure table gives the longest prefix of the pattern
//! that was still read, as in the CPU's [`kmp`].
//!
//! # Variants
//! * `global`: pattern and failure table are read from device memory.
//! * `shared`: the group first copies both to shared memory (III). They are read more than once
//!   for each byte of the text, and each work item reads another place.
//! * `unrolled`: in addition the loop over the text is unrolled eight times (IV). The paper's
//!   fastest variant, and the default here.
//!
//! `threads=N` divides the text among that many work items, as in figure 6; each has at least 16
//! bytes.
//!
//! # Differences from the paper
//! * It launches one kernel per pattern; here one launch has groups for as many patterns as the
//!   list of records allows (module `passes`).
//! * It does not say which loops are unrolled, and how often. The loop of the failure links has no
//!   count to unroll by.
//! * N / threads is rounded up, and is at least M - 1, so that the work is at most twice the
//!   text's length.
//!
//! It wins with one pattern and a short text. It loses otherwise: 1,000 patterns take 1,000
//! passes, and neighboring work items read bytes far apart.
//!
//! X. Bellekens, I. Andonovic, R. C. Atkinson, C. Renfrew and T. Kirkham, *Investigation of
//! GPU-based pattern matching*, 2013, III and IV.

use crate::cpu::kmp;
use crate::gpu::passes::{PassKernel, PassSearch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-kmp",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::PerPattern,
        about: "Knuth-Morris-Pratt, pattern and failure table in shared memory, one pass per pattern",
        source: "Bellekens et al. 2013, III-IV",
        variants: &[
            "backend=opencl",
            "backend=cuda",
            "variant=shared,backend=cuda",
            "variant=global,backend=cuda",
        ],
    },
    prepare: |set, opt, device| {
        let kernel = match opt.choice("variant", &["unrolled", "shared", "global"])? {
            "global" => PassKernel { kernel: "gpu_kmp_global", shared: |_| 0, ..KERNEL },
            "shared" => PassKernel { kernel: "gpu_kmp_shared", ..KERNEL },
            _ => KERNEL,
        };
        PassSearch::prepare(set, opt, device, kernel)
    },
    options: &["variant", "threads"],
};

static SOURCE: KernelSource =
    kernel_source!("gpu_kmp", ["gpu_kmp_global", "gpu_kmp_shared", "gpu_kmp_unrolled"]);

/// Shared memory holds the pattern, and two bytes of its failure table for each byte.
const KERNEL: PassKernel = PassKernel {
    source: &SOURCE,
    kernel: "gpu_kmp_unrolled",
    table: kmp::failures,
    entries: |length| length,
    shared: |longest| (3 * longest).next_multiple_of(16),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_variant_is_refused() {
        use fyke_core::{Engine, Options, PatternSet, Refusal};
        let set = PatternSet::new(["abc"]).unwrap();
        let refused = ENGINE.compile(&set, &Options::with_params("variant=texture").unwrap());
        let refusal = refused.err().unwrap();
        assert!(matches!(refusal, Refusal::BadOption(_) | Refusal::NoDevice(_)), "{refusal}");
    }

    /// The conformance suite runs the variants with CUDA only: OpenCL on the CPU would take
    /// minutes.
    #[test]
    fn variants_find_the_same() {
        use crate::gpu::testing;
        use fyke_core::{Block, Collect, Matcher, Options, PatternSet, Scratch, oracle};
        use fyke_gpu::faults;
        let set =
            PatternSet::new(["ab", "abab", "b", "aabaab", "abcabcabcabcabcabcabcabd"]).unwrap();
        let text = b"abababcabcabcabcabcabcabcabcabcabdaabaabaab".repeat(9);
        let expected = oracle::find_all(&set, &text);
        testing::each_backend(|backend, tests| {
            for variant in ["unrolled", "shared", "global"] {
                let opt = Options::with_params(&format!("backend={backend},variant={variant}"));
                let compiled = ENGINE.compile_for_device(&set, &opt.unwrap());
                let Some(matcher) = tests.on_backend(backend, compiled) else { continue };
                let mut found = Collect::default();
                let flow = matcher.scan(Block::whole(&text), &mut Scratch::new(), &mut found);
                assert!(flow.is_continue() && found.sorted() == expected, "{variant}");
                let faults = faults::take();
                assert!(!faults.iter().any(|f| f.what.starts_with("gpu-kmp")), "{faults:?}");
                tests.checked(format!("{:?}", matcher.device()));
            }
        });
    }
}
