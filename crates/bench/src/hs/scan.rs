//! One way to scan: verified, then timed.

use anyhow::{Result, bail};
use fyke_rivals::{Refusal, Tally, Work};

use super::compile::Entrant;
use super::haystacks::Haystacks;
use super::way::{Way, scan_all, scan_one_by_one};
use crate::run::settings::RunSettings;
use crate::timing::clock::Span;
use crate::timing::sampling::{self, Pass};
use crate::verify;

/// What a library found, and its samples.
pub(super) struct Timed {
    /// The matches of all pieces.
    pub found: Result<Tally, Refusal>,
    /// Times of scanning all haystacks once.
    pub samples: Vec<Span>,
}

/// Scans with all libraries that compiled the set, in their order. One whose scan fails has no
/// samples.
///
/// # Errors
/// They find different matches.
pub(super) fn contest(
    way: &Way,
    entrants: &[&Entrant<'_>],
    haystacks: &Haystacks,
    settings: &RunSettings,
) -> Result<Vec<Timed>> {
    let pieces = way.pieces(haystacks);
    let scan =
        |e: &&Entrant<'_>| scan_one_by_one(&mut *way.scanner(&e.database, haystacks)?, &pieces);
    let found: Vec<Result<Vec<Tally>, Refusal>> = entrants.iter().map(scan).collect();
    if let [Ok(ours), Ok(theirs)] = &found[..]
        && let Some(why) = difference(ours, theirs)
    {
        bail!("the libraries disagree: {}: {why}", way.name);
    }
    let sum = |all: &Vec<Tally>| all.iter().copied().fold(Tally::default(), Tally::plus);
    let found: Vec<_> = found.iter().map(|f| f.as_ref().map(sum).map_err(Clone::clone)).collect();
    let mut passes = Vec::new();
    for (entrant, _) in entrants.iter().zip(&found).filter(|(_, f)| f.is_ok()) {
        passes.push(pass(way, entrant, haystacks, &pieces)?);
    }
    let samples = match settings.verify_only {
        true => Vec::new(),
        false => sampling::sample(&mut passes, &settings.budget),
    };
    let mut samples = samples.into_iter();
    let one = |found: Result<Tally, Refusal>| {
        let samples = if found.is_ok() { samples.next().unwrap_or_default() } else { Vec::new() };
        Timed { found, samples }
    };
    Ok(found.into_iter().map(one).collect())
}

/// The first piece in which they found different matches.
fn difference(ours: &[Tally], theirs: &[Tally]) -> Option<String> {
    let mut pairs = ours.iter().zip(theirs).enumerate();
    let (piece, (ours, theirs)) = pairs.find(|(_, (a, b))| a != b)?;
    Some(format!(
        "in haystack or packet {piece}, ours {}",
        verify::explain(*ours, *theirs, "theirs")
    ))
}

fn pass<'a>(
    way: &Way,
    entrant: &'a Entrant<'_>,
    haystacks: &Haystacks,
    pieces: &'a [&'a [u8]],
) -> Result<Pass<'a>, Refusal> {
    let mut scanner = way.scanner(&entrant.database, haystacks)?;
    Ok(Box::new(move || {
        let tally = scan_all(&mut *scanner, std::hint::black_box(pieces), Work::Touch);
        std::hint::black_box(tally).expect("verified before");
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_its_piece() {
        let tally = |count| Tally { count, sum: 7 * count, ..Tally::default() };
        let (ours, theirs) = ([tally(1), tally(2)], [tally(1), tally(3)]);
        assert_eq!(difference(&ours, &ours), None);
        let why = difference(&ours, &theirs).unwrap();
        assert!(
            why.contains("packet 1, ours finds 2 matches") && why.contains("theirs has 3"),
            "{why}"
        );
    }
}
