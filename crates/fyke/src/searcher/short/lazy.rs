//! [`Lazy`]: an automaton that is compiled once it pays.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// An automaton that is compiled once the time that it would have saved equals the time to compile
/// it.
pub(super) struct Lazy<T> {
    made: OnceLock<Option<T>>,
    /// Nanoseconds that it would have saved so far, and nanoseconds to compile it.
    missed_ns: AtomicU64,
    compile_ns: u64,
}

impl<T> Lazy<T> {
    pub(super) fn new(compile_ns: u64) -> Lazy<T> {
        Lazy { made: OnceLock::new(), missed_ns: AtomicU64::new(0), compile_ns: compile_ns.max(1) }
    }

    /// Compiles it now. `None` if it cannot be compiled.
    pub(super) fn compile(&self, compile: impl FnOnce() -> Option<T>) -> Option<&T> {
        self.made.get_or_init(compile).as_ref()
    }

    /// The automaton, if it is compiled.
    #[inline]
    pub(super) fn made(&self) -> Option<&T> {
        self.made.get()?.as_ref()
    }

    /// Whether it turned out that it cannot be compiled.
    #[inline]
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.made.get(), Some(None))
    }

    /// The automaton, if it is compiled or now pays. `saves` computes the nanoseconds that it saves
    /// in this call.
    #[inline]
    pub(super) fn get(
        &self,
        saves: impl FnOnce() -> u64,
        compile: impl FnOnce() -> Option<T>,
    ) -> Option<&T> {
        match self.made.get() {
            Some(made) => made.as_ref(),
            None => self.compile_if_it_pays(saves(), compile),
        }
    }

    #[cold]
    fn compile_if_it_pays(&self, saves: u64, compile: impl FnOnce() -> Option<T>) -> Option<&T> {
        let before = self.missed_ns.fetch_add(saves, Ordering::Relaxed);
        // One call compiles. Those of other threads do not wait for it.
        let is_first = before < self.compile_ns && before.saturating_add(saves) >= self.compile_ns;
        if is_first { self.compile(compile) } else { None }
    }
}
