//! Regular expressions: where they may begin, and the longest match there.
//!
//! A match is sought in the [`Needle::MAX_REGEX_LEN`] bytes from its start on, and sees nothing
//! else, so it does not depend on how an image is cut.

use super::FinderError;
use super::piece::{Piece, PieceHits};
use crate::needle::{Needle, NeedleId};
use crate::regex;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::literal::{ExtractKind, Extractor};
use std::sync::atomic::{AtomicU64, Ordering};

/// If a prefix is shorter, only the first byte of a match is looked for: so short a prefix would be
/// too frequent. Not measured: a guess.
const MIN_PREFIX: usize = 2;

/// The maximum number of prefixes of an expression. More make the matcher slower for all needles.
/// Not measured: a guess.
const MAX_PREFIXES: usize = 64;

/// Maximum memory of the NFA of an expression. The states of the lazy DFA do not count.
const MAX_NFA_BYTES: usize = 16 << 20;

/// A compiled expression.
pub(super) struct RegexNeedle {
    needle: NeedleId,
    dfa: DFA,
    /// What every match begins with; empty if that is not known.
    prefixes: Vec<Vec<u8>>,
    /// Which bytes a match can begin with.
    first: Box<[bool; 256]>,
    /// Tells a cache of this expression from others.
    id: u64,
}

impl RegexNeedle {
    pub(super) fn new(needle: NeedleId, pattern: &str, nocase: bool) -> Result<Self, FinderError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let wrong = |why: String| FinderError::Regex { needle, pattern: pattern.to_owned(), why };
        let hir = regex::parse(pattern, nocase).map_err(wrong)?;
        let size = thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_NFA_BYTES));
        let nfa = thompson::Compiler::new().configure(size).build_from_hir(&hir);
        let nfa = nfa.map_err(|e| wrong(e.to_string()))?;
        let config = DFA::config().match_kind(MatchKind::All).skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa);
        let dfa = dfa.map_err(|e| wrong(e.to_string()))?;
        let prefixes = prefixes(&hir);
        let first = first_bytes(&dfa).map_err(wrong)?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { needle, dfa, prefixes, first, id })
    }

    /// What every match begins with; empty if that is not known.
    pub(super) fn prefixes(&self) -> &[Vec<u8>] {
        &self.prefixes
    }

    /// Adds the hits that a piece owns. `candidates` are the offsets where prefixes begin, in any
    /// order.
    pub(super) fn find(
        &self,
        piece: Piece<'_>,
        shift: u32,
        candidates: &mut Vec<u32>,
        cache: &mut Option<(u64, Cache)>,
        hits: &mut PieceHits,
    ) {
        if cache.as_ref().is_none_or(|(id, _)| *id != self.id) {
            *cache = Some((self.id, self.dfa.create_cache()));
        }
        let cache = &mut cache.as_mut().expect("made above").1;
        let hits = hits.needle(self.needle);
        let mut verify = |at: u32| {
            let end = piece.bytes.len().min(at as usize + Needle::MAX_REGEX_LEN);
            let input = Input::new(&piece.bytes[at as usize..end]).anchored(Anchored::Yes);
            let found = self.dfa.try_search_fwd(cache, &input);
            let found = found.expect("no byte stops it, and its cache is cleared when full");
            if let Some(end) = found.map(|m| m.offset()).filter(|&end| end > 0) {
                hits.starts.push(shift + at);
                hits.lengths.push(end as u32);
            }
        };
        if self.prefixes.is_empty() {
            let owned = piece.bytes.iter().take(piece.owned).enumerate();
            owned
                .filter(|(_, b)| self.first[usize::from(**b)])
                .for_each(|(at, _)| verify(at as u32));
        } else {
            candidates.sort_unstable();
            candidates.dedup();
            candidates.iter().for_each(|&at| verify(at));
        }
    }
}

/// The literals that every match begins with; none if they are too many or too short.
fn prefixes(hir: &regex_syntax::hir::Hir) -> Vec<Vec<u8>> {
    let mut extractor = Extractor::new();
    extractor.kind(ExtractKind::Prefix).limit_total(MAX_PREFIXES);
    let literals = extractor.extract(hir);
    let Some(literals) = literals.literals() else { return Vec::new() };
    if literals.iter().any(|l| l.len() < MIN_PREFIX) {
        return Vec::new();
    }
    literals.iter().map(|l| l.as_bytes().to_vec()).collect()
}

/// The bytes that a match can begin with.
fn first_bytes(dfa: &DFA) -> Result<Box<[bool; 256]>, String> {
    let mut cache = dfa.create_cache();
    let mut first = Box::new([false; 256]);
    let start = regex_automata::util::start::Config::new().anchored(Anchored::Yes);
    for (byte, may) in first.iter_mut().enumerate() {
        let state = dfa.start_state(&mut cache, &start).map_err(|e| e.to_string())?;
        let next = dfa.next_state(&mut cache, state, byte as u8).map_err(|e| e.to_string())?;
        *may = !next.is_dead();
    }
    Ok(first)
}
