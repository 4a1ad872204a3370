//! Knuth-Morris-Pratt for each pattern: a group of work items searches for one, and each has its share of the text.
//!
//! N bytes are shared between as many work items as the device holds at a time. Each reads its share, and the M - 1
//! bytes before it, so that a match that is split between two shares is found by the one that it ends in:
//!
//! > N / threads + (M - 1)
//!
//! bytes (III, figure 4). A failure table tells after a mismatch how much of the pattern was read all the same, as
//! in the processor's [`kmp`].
//!
//! # Variants
//! * `global`: pattern and failure table are read from device memory.
//! * `shared`: the group first copies both to its shared memory (III). They are read more than once for each byte of
//!   the text, and each work item at another place.
//! * `unrolled`: and the loop over the text is unrolled eight times (IV). The paper names this one as its fastest, and
//!   it is the first choice here.
//!
//! `threads=N` shares the text between that many work items, as in figure 6; each has 16 bytes or more.
//!
//! # What differs from the paper
//! * It launches a kernel for each pattern in turn; here one launch has groups for all patterns (module `passes`), as
//!   many as the list of what they find allows.
//! * Which loops are unrolled, and how often, is not said. The loop of the failure links has no count to unroll by.
//! * N / threads is rounded up, and is no less than M - 1, so that the work is at most twice the text's length.
//!
//! Wins where there is one pattern, and few bytes to search for it. Loses otherwise: 1,000 patterns take 1,000 passes,
//! and neighbouring work items read bytes far apart.
//!
//! X. Bellekens, I. Andonovic, R. C. Atkinson, C. Renfrew and T. Kirkham, *Investigation of GPU-based pattern
//! matching*, 2013, III and IV.

use crate::cpu::kmp;
use crate::gpu::passes::{Launch, Passes};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-kmp",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::PerPattern,
        about: "Knuth-Morris-Pratt, pattern and failure table in shared memory, a pass for each pattern",
        source: "Bellekens et al. 2013, III-IV",
        variants: &[
            "backend=opencl",
            "backend=cuda",
            "variant=shared,backend=cuda",
            "variant=global,backend=cuda",
        ],
    },
    prepare: |set, opt, device| {
        let launch = match opt.choice("variant", &["unrolled", "shared", "global"])? {
            "global" => Launch { kernel: "gpu_kmp_global", shared: |_| 0, ..LAUNCH },
            "shared" => Launch { kernel: "gpu_kmp_shared", ..LAUNCH },
            _ => LAUNCH,
        };
        Passes::prepare(set, opt, device, launch)
    },
    options: &["variant", "threads"],
};

static SOURCE: Source =
    source!("gpu_kmp", ["gpu_kmp_global", "gpu_kmp_shared", "gpu_kmp_unrolled"]);

/// Shared memory holds a byte of the pattern and two of its failure table for each place.
const LAUNCH: Launch = Launch {
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

    /// The suite runs them on NVIDIA's devices; where a processor plays the device they take minutes there.
    #[test]
    fn variants_find_the_same() {
        use fyke_core::{Block, Collect, Engine, Matcher, Options, PatternSet, Scratch, oracle};
        use fyke_gpu::faults;
        let set =
            PatternSet::new(["ab", "abab", "b", "aabaab", "abcabcabcabcabcabcabcabd"]).unwrap();
        let text = b"abababcabcabcabcabcabcabcabcabcabdaabaabaab".repeat(9);
        let expected = oracle::find_all(&set, &text);
        for variant in ["unrolled", "shared", "global"] {
            if ENGINE.available().is_err() {
                continue;
            }
            let opt = Options::with_params(&format!("variant={variant}")).unwrap();
            let matcher = ENGINE.compile_for_device(&set, &opt).unwrap();
            let mut found = Collect::default();
            let flow = matcher.scan(Block::whole(&text), &mut Scratch::new(), &mut found);
            assert!(flow.is_continue() && found.sorted() == expected, "{variant}");
            let faults = faults::take();
            assert!(!faults.iter().any(|f| f.what.starts_with("gpu-kmp")), "{faults:?}");
        }
    }
}
