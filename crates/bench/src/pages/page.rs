//! The pages of the matrix, one for each class of machine.

/// A page of the matrix.
pub(super) struct Page {
    /// The kind of its records.
    pub(super) kind: &'static str,
    /// The class of machine.
    pub(super) machine: &'static str,
    /// The document, from the root of the workspace.
    pub(super) file: &'static str,
    /// Its plots, from the root of the workspace.
    pub(super) plots: &'static str,
    /// The same folder as the document links to it.
    pub(super) link: &'static str,
}

/// The pages, in the order of the headline table.
pub(super) const PAGES: [Page; 5] = [
    Page {
        kind: "matrix",
        machine: "Intel, AVX-512",
        file: "BENCHMARKS.md",
        plots: "benchmarks/plots",
        link: "benchmarks/plots",
    },
    Page {
        kind: "matrix-avx2",
        machine: "Intel, limited to AVX2",
        file: "benchmarks/avx2.md",
        plots: "benchmarks/plots/avx2",
        link: "plots/avx2",
    },
    Page {
        kind: "matrix-zen5",
        machine: "AMD Zen 5: AVX-512, slow gathers",
        file: "benchmarks/zen5.md",
        plots: "benchmarks/plots/zen5",
        link: "plots/zen5",
    },
    Page {
        kind: "matrix-zen4",
        machine: "AMD Zen 4: AVX-512, slow gathers",
        file: "benchmarks/zen4.md",
        plots: "benchmarks/plots/zen4",
        link: "plots/zen4",
    },
    Page {
        kind: "matrix-zen3",
        machine: "AMD Zen 3: AVX2, slow gathers",
        file: "benchmarks/zen3.md",
        plots: "benchmarks/plots/zen3",
        link: "plots/zen3",
    },
];
