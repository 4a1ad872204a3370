//! Cells that ask a question in many short calls, as users of the library do.

use fyke_core::PatternSet;
use fyke_core::sink::{FNV_BASIS, fnv1a};
use fyke_rivals::{Answer, CallJob, Caller, Question, Refusal};

use super::measure::rate;
use super::naive::Naive;
use super::rows;
use super::settings::RunSettings;
use crate::contender::choose::{Contender, plain_spec};
use crate::data::store::{Extent, Prepared};
use crate::definition::Cell;
use crate::record::cpu::CpuRow;
use crate::record::row::Status;
use crate::timing::sampling::{self, Pass};

/// A contender that answers correctly.
type Verified = (Box<dyn Caller>, CpuRow);

/// Asks every contender that has a call for the question. Other contenders have no row.
pub fn contest(
    cell: &Cell,
    prepared: &Prepared,
    question: Question,
    contenders: &[Contender],
    settings: &RunSettings,
) -> Vec<CpuRow> {
    let patterns = in_users_order(&prepared.set);
    let set = PatternSet::new(&patterns).expect("they are patterns of a set");
    let memory_limit = settings.limits.memory;
    let job = CallJob { question, set: &set, patterns: &patterns, memory_limit };
    let pieces = cut(cell, prepared, settings.extent);
    let bytes = pieces.iter().map(|p| p.len()).sum();
    let blank = CpuRow { bytes, ..rows::blank(cell, prepared) };
    let naive = Naive::new(&patterns);
    let expected: Vec<Answer> = pieces.iter().map(|p| naive.answer(p, question)).collect();
    let (mut verified, mut refused) = (Vec::new(), Vec::new());
    for contender in contenders {
        let Some(caller) = contender.rival.caller(&job) else { continue };
        let row = rows::of_contender(blank.clone(), contender);
        let checked = caller.and_then(|c| verify(c, row.clone(), &pieces, &expected));
        match checked {
            Ok((caller, row)) if row.status == Status::Verified => verified.push((caller, row)),
            Ok((_, row)) => refused.push(row),
            Err(why) => refused.push(CpuRow { reason: why.to_string(), ..row }),
        }
    }
    if !settings.verify_only {
        time_all(&pieces, &mut verified, settings);
    }
    let mut rows: Vec<CpuRow> = verified.into_iter().map(|(_, row)| row).collect();
    rows.append(&mut refused);
    rate(&mut rows, settings);
    rows
}

/// Cuts the haystacks out of the corpus. They begin at equal distances, so that they are as mixed
/// as the corpus, and at odd ones, so that they are not aligned alike.
fn cut<'a>(cell: &Cell, prepared: &'a Prepared, extent: Extent) -> Vec<&'a [u8]> {
    let (corpus, wanted) = (&prepared.haystack[..], &cell.haystack);
    let count = if extent == Extent::Full { None } else { wanted.quick_pieces };
    let count = count.or(wanted.pieces).unwrap_or(1);
    let len = prepared.call.min(corpus.len());
    let room = corpus.len() - len;
    let distance = (room / count.max(1)).saturating_sub(1) | 1;
    let at = |i: usize| (i * distance).min(room);
    (0..count).map(|i| &corpus[at(i)..][..len]).collect()
}

/// The patterns in an order without meaning. If they were sorted, the first of all patterns that
/// start at a position would always be the shortest.
fn in_users_order(set: &PatternSet) -> Vec<Vec<u8>> {
    let mut patterns: Vec<Vec<u8>> = set.iter().map(|p| p.bytes.to_vec()).collect();
    patterns.sort_by_cached_key(|p| fnv1a(p, FNV_BASIS));
    patterns
}

/// Compares every answer; a wrong one becomes the row's reason.
fn verify(
    mut caller: Box<dyn Caller>,
    row: CpuRow,
    pieces: &[&[u8]],
    expected: &[Answer],
) -> Result<Verified, Refusal> {
    let mut row = row;
    let asked = plain_spec(&row.contender).split(':').next().unwrap_or("");
    row.extra.taken = caller.taken().filter(|t| t != asked).unwrap_or_default();
    row.status = Status::Verified;
    let (mut matches, mut sum) = (0, FNV_BASIS);
    for (i, (piece, right)) in pieces.iter().zip(expected).enumerate() {
        let found = caller.call_each(&[piece])?;
        matches += found.count;
        sum = fnv1a(&found.ends.to_le_bytes(), fnv1a(&found.count.to_le_bytes(), sum));
        if found != *right && row.status == Status::Verified {
            row.status = Status::Wrong;
            row.reason = explain(i, found, *right);
        }
    }
    row.matches = Some(matches);
    row.fingerprint = format!("{sum:016x}");
    Ok((caller, row))
}

fn explain(piece: usize, found: Answer, right: Answer) -> String {
    format!(
        "finds {} matches in haystack {piece}, their ends add up to {}; right is {} and {}",
        found.count, found.ends, right.count, right.ends
    )
}

/// Times the callers in turn. A pass asks about all pieces.
fn time_all(pieces: &[&[u8]], verified: &mut [Verified], settings: &RunSettings) {
    let (callers, mut rows): (Vec<_>, Vec<_>) = verified.iter_mut().map(|(c, r)| (c, r)).unzip();
    let mut passes: Vec<Pass<'_>> = callers.into_iter().map(|c| pass(&mut **c, pieces)).collect();
    let samples = sampling::sample(&mut passes, &settings.budget);
    for (row, samples) in rows.iter_mut().zip(&samples) {
        rows::timed(row, samples, settings.clock);
    }
}

fn pass<'a>(caller: &'a mut dyn Caller, pieces: &'a [&'a [u8]]) -> Pass<'a> {
    Box::new(move || {
        let answer = caller.call_each(std::hint::black_box(pieces));
        std::hint::black_box(answer).expect("verified before");
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wrong;

    impl Caller for Wrong {
        fn call_each(&mut self, haystacks: &[&[u8]]) -> Result<Answer, Refusal> {
            let ends = haystacks.iter().filter(|h| h.starts_with(b"b")).count() as u64;
            Ok(Answer { count: 1, ends })
        }
    }

    #[test]
    fn one_wrong_answer_is_named() {
        let right = Answer { count: 1, ends: 0 };
        let pieces: [&[u8]; 3] = [b"a", b"b", b"c"];
        let check = |pieces: &[&[u8]]| {
            let row = CpuRow::default();
            let expected = vec![right; pieces.len()];
            verify(Box::new(Wrong), row, pieces, &expected).unwrap().1
        };
        assert_eq!(check(&pieces[..1]).status, Status::Verified);
        let row = check(&pieces);
        assert_eq!(row.status, Status::Wrong);
        assert!(row.reason.contains("in haystack 1, their ends add up to 1"), "{}", row.reason);
    }

    #[test]
    fn a_prefix_may_follow_what_it_begins() {
        let words = ["a", "ab", "abc", "abcd", "abcde", "abcdef"];
        let patterns = in_users_order(&PatternSet::new(words).unwrap());
        assert!(!patterns.is_sorted());
    }
}
