//! The serialized form of a database: its rules, which are compiled again when it is read.
//!
//! All numbers are little-endian. A header of 40 bytes has the magic (8 bytes), version, mode, kind
//! and zero (4 bytes each), the length of the body and the checksum (8 bytes each).
//!
//! The body of kind 0 has the number of rules (4 bytes). Each rule has its id and flags (4 bytes
//! each), least and greatest end (8 bytes each), length (4 bytes) and bytes. The body of kind 1 is
//! what another library serialized.

use crate::abi::{
    DB_VERSION_ERROR, FLAG_CASELESS, FLAG_SINGLEMATCH, FLAG_SOM_LEFTMOST, INVALID, Status,
};
use crate::expression::Literal;
use crate::rules::{Mode, Rule, Terms};
use fyke_core::sink::{FNV_BASIS, fnv1a};

const MAGIC: &[u8; 8] = b"fykeHSdb";
/// The version of the form.
const VERSION: u32 = 1;
const HEADER: usize = 40;
const KIND_RULES: u32 = 0;
const KIND_NEXT: u32 = 1;

/// What a serialized database holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    Rules(Vec<Rule>),
    /// The bytes of another library.
    Next(&'a [u8]),
}

/// Writes rules.
pub(crate) fn encode_rules(mode: Mode, rules: &[Rule]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&(rules.len() as u32).to_le_bytes());
    for Rule { literal, terms } in rules {
        let flags = flag(literal.nocase, FLAG_CASELESS)
            | flag(terms.is_single, FLAG_SINGLEMATCH)
            | flag(terms.has_start, FLAG_SOM_LEFTMOST);
        body.extend_from_slice(&terms.id.to_le_bytes());
        body.extend_from_slice(&flags.to_le_bytes());
        body.extend_from_slice(&terms.min.to_le_bytes());
        body.extend_from_slice(&terms.max.to_le_bytes());
        body.extend_from_slice(&(literal.bytes.len() as u32).to_le_bytes());
        body.extend_from_slice(&literal.bytes);
    }
    encode(mode, KIND_RULES, &body)
}

/// Writes what another library serialized.
pub(crate) fn encode_next(mode: Mode, bytes: &[u8]) -> Vec<u8> {
    encode(mode, KIND_NEXT, bytes)
}

fn flag(is_set: bool, flag: u32) -> u32 {
    if is_set { flag } else { 0 }
}

fn encode(mode: Mode, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + body.len());
    out.extend_from_slice(MAGIC);
    for number in [VERSION, mode.number(), kind, 0] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    let checksum = fnv1a(body, fnv1a(&out, FNV_BASIS));
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(body);
    out
}

/// Reads a serialized database and checks all of it.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Mode, Body<'_>), Status> {
    let (mode, kind, body) = decode_header(bytes)?;
    match kind {
        KIND_RULES => Ok((mode, Body::Rules(decode_rules(body)?))),
        KIND_NEXT => Ok((mode, Body::Next(body))),
        _ => Err(INVALID),
    }
}

/// The mode of a serialized database, after checking its header and checksum.
pub(crate) fn decode_mode(bytes: &[u8]) -> Result<Mode, Status> {
    decode_header(bytes).map(|(mode, _, _)| mode)
}

fn decode_header(bytes: &[u8]) -> Result<(Mode, u32, &[u8]), Status> {
    let mut reader = Reader(bytes);
    if reader.take(MAGIC.len())? != MAGIC {
        return Err(INVALID);
    }
    if reader.u32()? != VERSION {
        return Err(DB_VERSION_ERROR);
    }
    let (mode, kind, zero) = (reader.u32()?, reader.u32()?, reader.u32()?);
    let (len, checksum) = (reader.u64()?, reader.u64()?);
    let body = reader.0;
    let is_whole = body.len() as u64 == len && zero == 0;
    if !is_whole || fnv1a(body, fnv1a(&bytes[..HEADER - 8], FNV_BASIS)) != checksum {
        return Err(INVALID);
    }
    Ok((Mode::of_number(mode).ok_or(INVALID)?, kind, body))
}

fn decode_rules(body: &[u8]) -> Result<Vec<Rule>, Status> {
    let mut reader = Reader(body);
    let count = reader.u32()?;
    // The count is not trusted with an allocation: each rule is read from bytes that are there.
    let mut rules = Vec::new();
    for _ in 0..count {
        rules.push(decode_rule(&mut reader)?);
    }
    if rules.is_empty() || !reader.0.is_empty() {
        return Err(INVALID);
    }
    Ok(rules)
}

fn decode_rule(reader: &mut Reader<'_>) -> Result<Rule, Status> {
    let (id, flags) = (reader.u32()?, reader.u32()?);
    let (min, max) = (reader.u64()?, reader.u64()?);
    let len = reader.u32()? as usize;
    let bytes = reader.take(len)?;
    let has = |flag| flags & flag != 0;
    let terms =
        Terms { id, is_single: has(FLAG_SINGLEMATCH), has_start: has(FLAG_SOM_LEFTMOST), min, max };
    let known = FLAG_CASELESS | FLAG_SINGLEMATCH | FLAG_SOM_LEFTMOST;
    let is_contradiction = has(!known) || (terms.is_single && terms.has_start);
    let is_sound =
        !is_contradiction && (1..=usize::from(u16::MAX)).contains(&len) && max >= len as u64;
    let literal = Literal { bytes: bytes.to_vec(), nocase: has(FLAG_CASELESS) };
    if is_sound { Ok(Rule { literal, terms }) } else { Err(INVALID) }
}

/// Takes numbers and bytes from the front. What is missing is [`INVALID`].
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Status> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(INVALID)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Status> {
        let bytes = self.take(4)?.try_into().map_err(|_| INVALID)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Status> {
        let bytes = self.take(8)?.try_into().map_err(|_| INVALID)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::rule;

    fn sample() -> (Vec<Rule>, Vec<u8>) {
        let mut rules = vec![rule("abc", 1, 7), rule(r"\x00", 8, 8), rule("q", 256, u32::MAX)];
        (rules[0].terms.min, rules[0].terms.max) = (5, 9);
        let bytes = encode_rules(Mode::Stream, &rules);
        (rules, bytes)
    }

    #[test]
    fn rules_come_back() {
        let (rules, bytes) = sample();
        assert_eq!(decode(&bytes), Ok((Mode::Stream, Body::Rules(rules))));
        let next = encode_next(Mode::Block, b"other");
        assert_eq!(decode(&next), Ok((Mode::Block, Body::Next(b"other"))));
    }

    #[test]
    fn truncated_and_extended_bytes_are_refused() {
        let (_, bytes) = sample();
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), Err(INVALID), "{len}");
        }
        assert_eq!(decode(&[&bytes[..], b"x"].concat()), Err(INVALID));
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let (_, bytes) = sample();
        for at in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[at / 8] ^= 1 << (at % 8);
            let wanted = if (8..12).contains(&(at / 8)) { DB_VERSION_ERROR } else { INVALID };
            assert_eq!(decode(&changed), Err(wanted), "bit {at}");
        }
    }

    /// Bytes with a right checksum may be hostile all the same.
    #[test]
    fn rules_that_no_compiler_wrote_are_refused() {
        let one = |id: u32, flags: u32, min: u64, max: u64, len: u32| {
            let mut body = 1u32.to_le_bytes().to_vec();
            body.extend_from_slice(&id.to_le_bytes());
            body.extend_from_slice(&flags.to_le_bytes());
            body.extend_from_slice(&min.to_le_bytes());
            body.extend_from_slice(&max.to_le_bytes());
            body.extend_from_slice(&len.to_le_bytes());
            body.extend_from_slice(b"ab");
            encode(Mode::Block, KIND_RULES, &body)
        };
        assert!(decode(&one(1, 1, 0, 9, 2)).is_ok());
        for bytes in [
            one(1, 2, 0, 9, 2),
            one(1, 8 | 256, 0, 9, 2),
            one(1, 0, 0, 1, 2),
            one(1, 0, 0, 9, 0),
            one(1, 0, 0, 9, 1),
            one(1, 0, 0, 9, u32::MAX),
            encode(Mode::Block, KIND_RULES, &u32::MAX.to_le_bytes()),
            encode(Mode::Block, KIND_RULES, &0u32.to_le_bytes()),
            encode(Mode::Block, 2, b""),
        ] {
            assert_eq!(decode(&bytes), Err(INVALID));
        }
    }
}
