//! Watches an extraction: progress and interrupts.

/// Gets the progress of an extraction, and can stop it.
pub trait Watch {
    /// The extraction begins, and will read this many bytes of the image.
    fn begins(&mut self, _bytes: u64) {}

    /// Bytes were read, and written to the files that have them.
    fn advanced(&mut self, _bytes: u64) {}

    /// Whether the extraction has to stop. Complete files are kept, the others removed.
    fn stops(&mut self) -> bool {
        false
    }
}

/// Does not watch.
impl Watch for () {}
