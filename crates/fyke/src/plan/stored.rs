//! Plans in a database: what `auto` built is stored part by part.
//!
//! For a filter, the database stores which automaton is its fallback, and when that pays. So
//! nothing is forecast when a database is loaded (module `load`). The fallback is still compiled
//! when it is first needed. The numbers are those of the machine that compiled. They change the
//! speed, never the matches. The plan of a split set is stored with its last part.

use fyke_core::Matcher;
use fyke_core::stored::StoredPart;
#[cfg(any(feature = "database", test))]
use fyke_core::wire::Reader;
use fyke_core::wire::Writer;

/// A filter's fallback and its table for small blocks, in numbers.
pub(super) struct SwitchPlan {
    /// The engine of the fallback.
    pub(super) engine: String,
    /// See [`Fallback::new`].
    pub(super) price: u64,
    /// Candidates per 1,024 bytes above which the fallback takes over.
    pub(super) candidate_limit: u64,
    /// The price of the table for small blocks, if there is one.
    pub(super) tiny: Option<u64>,
}

impl SwitchPlan {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.text(&self.engine).number(self.price).number(self.candidate_limit).optional(self.tiny);
        to.finish()
    }

    /// A plan that a database stores. `None` if it cannot be read.
    #[cfg(any(feature = "database", test))]
    pub(super) fn decode(bytes: &[u8]) -> Option<SwitchPlan> {
        let mut from = Reader::new(bytes);
        let plan = SwitchPlan {
            engine: from.text()?.to_owned(),
            price: from.number()?,
            // The product with the bytes of a piece must not overflow.
            candidate_limit: from.number()?.min(1 << 20),
            tiny: from.optional()?,
        };
        from.is_empty().then_some(plan)
    }
}

/// A part of an engine that compiles when it is loaded.
pub(super) fn without_tables<'a>(matcher: &'a dyn Matcher) -> StoredPart<'a> {
    StoredPart {
        engine: matcher.info().name,
        layout: 0,
        numbers: Vec::new(),
        tables: Vec::new(),
        set: matcher.set(),
        indices: &[],
        plan: Vec::new(),
    }
}
