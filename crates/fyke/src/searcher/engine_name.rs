//! The engines of this library as an enum.

/// An engine of this library, for [`SearcherBuilder::engine`](crate::SearcherBuilder::engine).
/// docs/engines.md describes each.
///
/// ```
/// use fyke::{EngineName, PatternSet, Searcher};
///
/// let set = PatternSet::new(["she", "he"])?;
/// let searcher = Searcher::builder().engine(EngineName::AcDfa).build(&set)?;
/// assert_eq!(searcher.matcher().info().name, "ac-dfa");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EngineName {
    /// Chooses one for the set and this machine.
    #[default]
    Auto,
    /// Aho-Corasick as a transition table.
    AcDfa,
    /// Aho-Corasick with failure links: the least memory.
    AcNfa,
    /// Aho-Corasick in SIMD lanes: large sets, dense matches, hostile haystacks.
    AcSimd,
    /// Compares every pattern at every position.
    Naive,
    /// A filter for many patterns of four bytes or more.
    QgramFilter,
    /// A filter for many patterns of eight bytes or more.
    QgramSampling,
    /// A filter for up to 2,000 patterns.
    Teddy,
    /// Chooses one for a GPU. This and the following engines need the feature `gpu`.
    Gpu,
    /// An automaton on a GPU.
    GpuDfa,
    /// A filter on a GPU.
    GpuFilter,
}

impl EngineName {
    /// All engines of this library.
    pub const ALL: [EngineName; 11] = [
        EngineName::Auto,
        EngineName::AcDfa,
        EngineName::AcNfa,
        EngineName::AcSimd,
        EngineName::Naive,
        EngineName::QgramFilter,
        EngineName::QgramSampling,
        EngineName::Teddy,
        EngineName::Gpu,
        EngineName::GpuDfa,
        EngineName::GpuFilter,
    ];

    /// The name in the registry and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            EngineName::Auto => "auto",
            EngineName::AcDfa => "ac-dfa",
            EngineName::AcNfa => "ac-nfa",
            EngineName::AcSimd => "ac-simd",
            EngineName::Naive => "naive",
            EngineName::QgramFilter => "qgram-filter",
            EngineName::QgramSampling => "qgram-sampling",
            EngineName::Teddy => "teddy",
            EngineName::Gpu => "gpu",
            EngineName::GpuDfa => "gpu-dfa",
            EngineName::GpuFilter => "gpu-filter",
        }
    }
}

impl AsRef<str> for EngineName {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, registry};

    #[test]
    fn the_names_are_those_of_the_registry() {
        let built_in = registry::built_in();
        for engine in &built_in {
            let name = engine.info().name;
            assert!(EngineName::ALL.iter().any(|e| e.name() == name), "{name} is missing");
        }
        let on_gpu = ["gpu", "gpu-dfa", "gpu-filter"];
        for engine in EngineName::ALL {
            let found = built_in.iter().find(|e| e.info().name == engine.name());
            let is_on_gpu = on_gpu.contains(&engine.name());
            match found {
                Some(found) => assert_eq!(found.info().device == Device::Gpu, is_on_gpu),
                None => assert!(is_on_gpu && cfg!(not(feature = "gpu")), "{engine:?}"),
            }
        }
    }
}
