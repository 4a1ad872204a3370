//! The literals of all needles: which are searched, and what is verified around each.

use super::FinderError;
use super::piece::{Piece, PieceHits};
use crate::needle::NeedleId;
use fyke::{Batch, Matcher, PatternId, PatternSet, PatternSetBuilder, Searcher, Sink};
use fyke_automata::model::PairModel;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// A longer literal is cut to this length, and the rest is verified: more bytes would hardly make
/// matches rarer. Not measured: a guess.
const MAX_LITERAL: usize = 64;

/// A literal at its place in a needle.
#[derive(Clone, Debug)]
struct Use {
    needle: NeedleId,
    /// Where the literal ends in the needle.
    end: u32,
    /// Bytes of the whole needle.
    len: u32,
    /// The regular expression of which it is a prefix.
    regex: Option<u32>,
    /// The bytes of the needle outside the literal: a range of [`Literals::checks`].
    checks: Range<u32>,
}

/// A byte to verify: `haystack[start + at] | fold == byte`.
#[derive(Clone, Copy, Debug)]
struct Check {
    at: u32,
    byte: u8,
    /// The bit that tells cases apart, where case is ignored; else 0.
    fold: u8,
}

/// The uses of all literals.
#[derive(Debug, Default)]
pub(super) struct Literals {
    /// The uses of each distinct pattern, by its dense index: a range of `uses`.
    of: Vec<Range<u32>>,
    uses: Vec<Use>,
    checks: Vec<Check>,
}

/// Collects literals.
#[derive(Default)]
pub(super) struct Builder {
    patterns: PatternSetBuilder,
    /// By pattern id.
    uses: Vec<Use>,
    checks: Vec<Check>,
}

impl Builder {
    /// Adds the rarest literal of a needle. False if it consists of wildcards.
    pub(super) fn add_bytes(
        &mut self,
        needle: NeedleId,
        bytes: &[Option<u8>],
        nocase: bool,
    ) -> bool {
        let Some(literal) = rarest_run(bytes) else { return false };
        let first = self.checks.len() as u32;
        for (at, byte) in bytes.iter().enumerate().filter(|(at, _)| !literal.contains(at)) {
            let Some(byte) = *byte else { continue };
            let fold = if nocase && byte.is_ascii_alphabetic() { 0x20 } else { 0 };
            self.checks.push(Check { at: at as u32, byte: byte | fold, fold });
        }
        let pattern: Vec<u8> = bytes[literal.clone()].iter().flatten().copied().collect();
        let (end, len) = (literal.end as u32, bytes.len() as u32);
        let checks = first..self.checks.len() as u32;
        self.push(&pattern, nocase, Use { needle, end, len, regex: None, checks });
        true
    }

    /// Adds the literals that a regular expression can begin with.
    pub(super) fn add_prefixes(&mut self, needle: NeedleId, regex: u32, prefixes: &[Vec<u8>]) {
        for prefix in prefixes {
            let prefix = &prefix[..prefix.len().min(MAX_LITERAL)];
            let end = prefix.len() as u32;
            self.push(
                prefix,
                false,
                Use { needle, end, len: end, regex: Some(regex), checks: 0..0 },
            );
        }
    }

    fn push(&mut self, literal: &[u8], nocase: bool, r#use: Use) {
        let id = PatternId(self.uses.len() as u32);
        self.uses.push(r#use);
        self.patterns.push_with(id, literal, nocase).expect("1 to 64 bytes");
    }

    /// Compiles the literals.
    pub(super) fn build(
        self,
        engine: &str,
    ) -> Result<(Option<Arc<dyn Matcher>>, Literals), FinderError> {
        let set = self.patterns.build();
        let mut literals = Literals { checks: self.checks, ..Literals::default() };
        if set.is_empty() {
            return Ok((None, literals));
        }
        for index in 0..set.len() as u32 {
            let first = literals.uses.len() as u32;
            literals.uses.extend(uses_of(&set, index).map(|id| self.uses[id.0 as usize].clone()));
            literals.of.push(first..literals.uses.len() as u32);
        }
        let matcher = Searcher::builder().engine(engine).build(&set)?.matcher().clone();
        Ok((Some(matcher), literals))
    }
}

fn uses_of(set: &PatternSet, index: u32) -> impl Iterator<Item = PatternId> {
    set.ids(index).iter().copied()
}

/// The run of literal bytes with the most information, cut to its rarest part if it is long. None
/// if there is no literal byte.
fn rarest_run(bytes: &[Option<u8>]) -> Option<Range<usize>> {
    let model = PairModel::built_in();
    let mut runs = Vec::new();
    let mut at = 0;
    for run in bytes.split(Option::is_none) {
        let cut = run.len().min(MAX_LITERAL);
        // Overlapping parts of a long run, a quarter apart.
        let parts = (0..=run.len() - cut).step_by(MAX_LITERAL / 4).map(|from| at + from);
        runs.extend(parts.map(|from| from..from + cut).filter(|part| !part.is_empty()));
        at += run.len() + 1;
    }
    let bits = |run: &Range<usize>| {
        let run: Vec<u8> = bytes[run.clone()].iter().flatten().copied().collect();
        model.bits(&run)
    };
    // The first of the best: `max_by` takes the last.
    runs.into_iter().rev().max_by(|a, b| bits(a).total_cmp(&bits(b)))
}

/// Verifies the candidates, and keeps the hits among them.
pub(super) struct Verifier<'a> {
    pub(super) literals: &'a Literals,
    pub(super) piece: Piece<'a>,
    /// What is added to an offset in the piece.
    pub(super) shift: u32,
    pub(super) hits: &'a mut PieceHits,
    /// For each regular expression, where a prefix begins.
    pub(super) candidates: &'a mut [Vec<u32>],
}

impl Verifier<'_> {
    #[inline]
    fn take(&mut self, r#use: &Use, end: usize) {
        let Some(start) = end.checked_sub(r#use.end as usize) else { return };
        if start >= self.piece.owned {
            return;
        }
        let Some(window) = self.piece.bytes.get(start..start + r#use.len as usize) else { return };
        let Range { start: from, end: to } = r#use.checks;
        let checks = &self.literals.checks[from as usize..to as usize];
        if !checks.iter().all(|check| window[check.at as usize] | check.fold == check.byte) {
            return;
        }
        match r#use.regex {
            None => self.hits.needle(r#use.needle).starts.push(self.shift + start as u32),
            Some(regex) => self.candidates[regex as usize].push(start as u32),
        }
    }
}

impl Sink for Verifier<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let literals = self.literals;
        for record in batch.records {
            let end = batch.end(*record) as usize;
            let Range { start, end: to } = literals.of[record.pattern as usize];
            for r#use in &literals.uses[start as usize..to as usize] {
                self.take(r#use, end);
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(needle: &[u8]) -> Option<Range<usize>> {
        let bytes: Vec<_> = needle.iter().map(|&b| (b != b'?').then_some(b)).collect();
        rarest_run(&bytes)
    }

    #[test]
    fn the_rarest_run_is_searched() {
        assert_eq!(run(b"BM??\0\0\0"), Some(0..2));
        assert_eq!(run(b"\xff\xd8\xff???JFIF"), Some(6..10));
        assert_eq!(run(b"????moov"), Some(4..8));
        assert_eq!(run(b"??"), None);
        assert_eq!(run(b"?a?"), Some(1..2));
        assert_eq!(run(&[b'x'; 200]).map(|r| r.len()), Some(MAX_LITERAL));
    }
}
