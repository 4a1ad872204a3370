//! Finder: finds the hits of every needle of a rule set in a piece of an image, in one pass.
//!
//! Each needle is reduced to literals, and one multi-pattern matcher finds the literals of all
//! needles. An occurrence of a literal is a candidate; the rest of the needle is verified there.
//!
//! | needle | literals | verified |
//! |---|---|---|
//! | bytes | the whole needle | nothing |
//! | bytes with wildcards | the run that is rarest by the pair model | the bytes outside the run |
//! | wildcards only | none: every offset is a hit | |
//! | regular expression | its prefixes | the longest match, anchored |
//! | the same without useful prefixes | none: every offset with a possible first byte | the same |
//!
//! **A piece owns the hits that start in its owned range.** It needs [`Finder::look_ahead`] more
//! bytes after that range, up to the end of what can be read. So each hit is found once, however
//! the image is cut.

mod literals;
mod piece;
mod regex;
mod scratch;
#[cfg(test)]
mod tests;

pub use piece::{Piece, PieceHits, PieceNeedle};
pub use scratch::FinderScratch;

use crate::hit::{Hits, Lengths, NeedleHits};
use crate::needle::{Needle, NeedleId};
use crate::rule::RuleSet;
use fyke::engine::Block;
use fyke::{BuildError, Matcher};
use literals::Literals;
use regex::RegexNeedle;
use std::fmt;
use std::sync::Arc;

/// Bytes that the matcher scans at once. They stay in the cache between the parts of a matcher.
const PIECE: usize = fyke_core::driver::PIECE;

/// The compiled needles of a rule set. It is immutable; threads share it.
pub struct Finder {
    /// Finds the literals of all needles; none if no needle has any.
    matcher: Option<Arc<dyn Matcher>>,
    literals: Literals,
    /// Indexed by needle.
    lengths: Vec<Option<u32>>,
    regexes: Vec<RegexNeedle>,
    /// Needles of wildcards only, with their lengths.
    anything: Vec<(NeedleId, usize)>,
    look_ahead: usize,
}

/// Why a rule set has no finder.
#[derive(Debug)]
#[non_exhaustive]
pub enum FinderError {
    /// A regular expression is wrong or too large.
    Regex {
        /// The needle.
        needle: NeedleId,
        /// The expression.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// The matcher refused the literals.
    Matcher(BuildError),
}

impl fmt::Display for FinderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regex { pattern, why, .. } => {
                write!(f, "the regular expression /{pattern}/ {why}")
            }
            Self::Matcher(error) => {
                write!(f, "the headers and footers cannot be searched: {error}")
            }
        }
    }
}

/// Messages are whole: they contain that of the cause, so there is no source.
impl std::error::Error for FinderError {}

impl From<BuildError> for FinderError {
    fn from(error: BuildError) -> Self {
        Self::Matcher(error)
    }
}

impl Finder {
    /// Compiles the needles of a rule set, for the engine that suits them best.
    ///
    /// # Errors
    /// A regular expression is wrong or too large.
    pub fn new(rules: &RuleSet) -> Result<Self, FinderError> {
        Self::with_engine(rules, "auto")
    }

    /// Compiles the needles of a rule set for an engine of fyke, such as `"ac-dfa"`.
    ///
    /// # Errors
    /// As [`new`](Self::new); or no engine has the name, or it refuses the literals.
    pub fn with_engine(rules: &RuleSet, engine: &str) -> Result<Self, FinderError> {
        let mut builder = literals::Builder::default();
        let (mut regexes, mut anything) = (Vec::new(), Vec::new());
        for (index, needle) in rules.needles.iter().enumerate() {
            let id = NeedleId(index as u32);
            match needle {
                Needle::Bytes { bytes, .. } if bytes.is_empty() => {}
                Needle::Bytes { bytes, nocase } => {
                    if !builder.add_bytes(id, bytes, *nocase) {
                        anything.push((id, bytes.len()));
                    }
                }
                Needle::Regex { pattern, nocase } => {
                    let regex = RegexNeedle::new(id, pattern, *nocase)?;
                    builder.add_prefixes(id, regexes.len() as u32, regex.prefixes());
                    regexes.push(regex);
                }
            }
        }
        let (matcher, literals) = builder.build(engine)?;
        let longest = rules.needles.iter().map(Needle::max_len).max().unwrap_or(0);
        let lengths = rules.needles.iter().map(|needle| match needle {
            Needle::Bytes { bytes, .. } => Some(bytes.len() as u32),
            Needle::Regex { .. } => None,
        });
        Ok(Self {
            matcher,
            literals,
            lengths: lengths.collect(),
            regexes,
            anything,
            look_ahead: longest.saturating_sub(1),
        })
    }

    /// Bytes that a piece needs after those that it owns.
    #[must_use]
    pub fn look_ahead(&self) -> usize {
        self.look_ahead
    }

    /// The number of needles.
    #[must_use]
    pub fn needles(&self) -> usize {
        self.lengths.len()
    }

    /// The engine that finds the literals, and what it built, for people. None if no needle has a
    /// literal.
    #[must_use]
    pub fn describe(&self) -> Option<String> {
        let matcher = self.matcher.as_ref()?;
        Some(format!("{}: {}", matcher.info().name, matcher.describe()))
    }

    /// An empty result for an image.
    #[must_use]
    pub fn no_hits(&self, image_len: u64) -> Hits {
        let needle = |len: &Option<u32>| NeedleHits {
            starts: Vec::new(),
            lengths: len.map_or_else(|| Lengths::Each(Vec::new()), Lengths::Fixed),
        };
        Hits { image_len, needles: self.lengths.iter().map(needle).collect() }
    }

    /// Adds the hits that `piece` owns to `hits`. Starts count from `base`, which lies at most
    /// 4 GiB before the end of the piece.
    ///
    /// Pieces of one `hits` come in the order of the image.
    pub fn find(&self, piece: Piece<'_>, scratch: &mut FinderScratch, hits: &mut PieceHits) {
        hits.reset_for(self.needles());
        scratch.begin(self.regexes.len());
        let shift = u32::try_from(piece.offset - hits.base).expect("a piece ends within 4 GiB");
        self.find_literals(piece, shift, scratch, hits);
        let working = scratch.candidates.iter_mut().zip(&mut scratch.caches);
        for (regex, (candidates, cache)) in self.regexes.iter().zip(working) {
            regex.find(piece, shift, candidates, cache, hits);
        }
        for &(needle, len) in &self.anything {
            let ends = (piece.bytes.len() + 1).saturating_sub(len).min(piece.owned);
            hits.needle(needle).starts.extend((0..ends as u32).map(|at| shift + at));
        }
        hits.sort();
    }

    /// Finds the literals of all needles, verifies those of byte needles and notes those of regular
    /// expressions.
    fn find_literals(
        &self,
        piece: Piece<'_>,
        shift: u32,
        scratch: &mut FinderScratch,
        hits: &mut PieceHits,
    ) {
        let Some(matcher) = &self.matcher else { return };
        let history = matcher.set().overlap();
        let mut sink = literals::Verifier {
            literals: &self.literals,
            piece,
            shift,
            hits,
            candidates: &mut scratch.candidates,
        };
        let all = Block::whole(piece.bytes);
        for block in all.pieces(PIECE, history) {
            // A sink that never stops: the flow is always `Continue`.
            let _ = matcher.scan(block, &mut scratch.matcher, &mut sink);
        }
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finder")
            .field("needles", &self.needles())
            .field("matcher", &self.describe())
            .field("look_ahead", &self.look_ahead)
            .finish_non_exhaustive()
    }
}
