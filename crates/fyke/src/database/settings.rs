//! The settings of a searcher, as a section.

use crate::{MatchKind, SearcherBuilder, Semantics};
use fyke_core::wire::{Reader, Writer};

/// The maximum number of threads that a database may ask for.
const MOST_THREADS: u64 = 1 << 12;

/// The settings, and whether two patterns can match the same bytes, which is slow to find out.
pub(super) struct Settings {
    pub(super) builder: SearcherBuilder,
    pub(super) shared_spans: bool,
}

impl Settings {
    pub(super) fn encode(&self) -> Vec<u8> {
        let (b, mut to) = (&self.builder, Writer::default());
        let (kind, options) = (b.kind.semantics(), &b.options);
        to.text(&b.engine).text(b.semantics.name()).text(kind.name());
        to.number(b.threads as u64).number(u64::from(b.short_haystacks));
        to.optional(options.memory_limit);
        to.optional(options.expected_bytes).optional(options.expected_call);
        to.number(u64::from(self.shared_spans));
        to.finish()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Settings> {
        let mut from = Reader::new(bytes);
        let mut builder = SearcherBuilder::default().engine(from.text()?);
        builder.semantics = from.text()?.parse().ok()?;
        let kind: Semantics = from.text()?.parse().ok()?;
        let kinds = [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest];
        builder.kind = kinds.into_iter().find(|k| k.semantics() == kind)?;
        builder.threads = from.number()?.clamp(1, MOST_THREADS) as usize;
        builder.short_haystacks = from.flag()?;
        builder.options.memory_limit = from.optional()?;
        builder.options.expected_bytes = from.optional()?;
        builder.options.expected_call = from.optional()?;
        let shared_spans = from.flag()?;
        from.is_empty().then_some(Settings { builder, shared_spans })
    }
}
