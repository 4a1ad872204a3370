//! [`Rule`]: a checked expression with its flags, id and limits, and the checks of a mode.

use crate::abi::{self, ExprExt};
use crate::error::{Failure, Rejection};
use crate::expression::Literal;

/// Flags that the calls for pure literals take.
const PURE_FLAGS: u32 = abi::FLAG_CASELESS | abi::FLAG_SINGLEMATCH | abi::FLAG_SOM_LEFTMOST;

/// The names of flags that are refused.
const REFUSED: [(u32, &str); 6] = [
    (16, "HS_FLAG_ALLOWEMPTY"),
    (32, "HS_FLAG_UTF8"),
    (64, "HS_FLAG_UCP"),
    (128, "HS_FLAG_PREFILTER"),
    (512, "HS_FLAG_COMBINATION"),
    (1024, "HS_FLAG_QUIET"),
];

/// Greatest length of a literal: that of a pattern of fyke.
const MAX_LEN: usize = u16::MAX as usize;

/// An expression as a caller gives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expression<'a> {
    pub(crate) text: &'a [u8],
    /// Whether the text stands for itself, as in `hs_compile_lit`.
    pub(crate) is_pure: bool,
    pub(crate) flags: u32,
    pub(crate) id: u32,
    pub(crate) ext: Option<ExprExt>,
}

/// What is reported of a match, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) id: u32,
    /// At most one match for the id.
    pub(crate) is_single: bool,
    /// Whether the start is reported.
    pub(crate) has_start: bool,
    /// Least and greatest end.
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// A checked expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) literal: Literal,
    pub(crate) terms: Terms,
}

/// The mode of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Block,
    Stream,
    Vectored,
}

impl Mode {
    /// Reads the mode flags. Also says whether starts may be asked for.
    pub(crate) fn parse(flags: u32) -> Result<(Mode, bool), Failure> {
        let [large, medium, small] = abi::MODE_SOM_HORIZONS;
        let horizons = flags & (large | medium | small);
        let mode = match flags & !horizons {
            abi::MODE_BLOCK => Mode::Block,
            abi::MODE_STREAM => Mode::Stream,
            abi::MODE_VECTORED => Mode::Vectored,
            other if other & !7 != 0 => {
                return Err(Failure::of_call("Invalid parameter: unrecognised mode flags."));
            }
            _ => {
                return Err(Failure::of_call(
                    "Invalid parameter: mode must have one (and only one) of HS_MODE_BLOCK, \
                     HS_MODE_STREAM or HS_MODE_VECTORED set.",
                ));
            }
        };
        if horizons.count_ones() > 1 {
            return Err(Failure::of_call(
                "Invalid parameter: only one HS_MODE_SOM_HORIZON_ mode flag can be set.",
            ));
        }
        if horizons != 0 && mode != Mode::Stream {
            return Err(Failure::of_call(
                "Invalid parameter: the HS_MODE_SOM_HORIZON_ mode flags may only be set in \
                 streaming mode.",
            ));
        }
        Ok((mode, mode != Mode::Stream || horizons != 0))
    }

    /// The number in the header of a serialized database.
    pub(crate) fn number(self) -> u32 {
        match self {
            Mode::Block => abi::MODE_BLOCK,
            Mode::Stream => abi::MODE_STREAM,
            Mode::Vectored => abi::MODE_VECTORED,
        }
    }

    /// The mode of a number.
    pub(crate) fn of_number(number: u32) -> Option<Mode> {
        [Mode::Block, Mode::Stream, Mode::Vectored].into_iter().find(|m| m.number() == number)
    }

    /// Its name in the information string.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Block => "BLOCK",
            Mode::Stream => "STREAM",
            Mode::Vectored => "VECTORED",
        }
    }
}

impl Rule {
    /// Checks an expression.
    pub(crate) fn new(expression: &Expression<'_>, takes_starts: bool) -> Result<Rule, Rejection> {
        check_flags(expression, takes_starts)?;
        if let Some(ext) = &expression.ext {
            check_ext(ext)?;
        }
        let nocase = expression.flags & abi::FLAG_CASELESS != 0;
        let literal = if expression.is_pure {
            Literal { bytes: expression.text.to_vec(), nocase }
        } else {
            Literal::parse(expression.text, nocase)?
        };
        check_length(literal.bytes.len())?;
        let terms = terms(expression, literal.bytes.len())?;
        Ok(Rule { literal, terms })
    }
}

/// Checks that rules with one id agree on whether they have at most one match. The failure is that
/// of the first rule which does not agree with one before it.
pub(crate) fn check_ids(rules: &[Rule]) -> Result<(), Failure> {
    let mut order: Vec<u32> = (0..rules.len() as u32).collect();
    let terms = |index: u32| &rules[index as usize].terms;
    order.sort_by_key(|&index| terms(index).id);
    let conflicts = order.chunk_by(|&a, &b| terms(a).id == terms(b).id).filter_map(|group| {
        let first = group[0];
        let differs = |&&index: &&u32| terms(index).is_single != terms(first).is_single;
        group.iter().find(differs).map(|&index| (index, first))
    });
    let Some((index, first)) = conflicts.min() else { return Ok(()) };
    let (did, former) =
        if terms(index).is_single { ("specified", "did not") } else { ("did not specify", "did") };
    let rejection = Rejection::Wrong(format!(
        "Expression (index {index}) with match ID {} {did} HS_FLAG_SINGLEMATCH whereas previous \
         expression (index {first}) with the same match ID {former}.",
        terms(index).id,
    ));
    Err(Failure::of_expression(index as usize, rejection))
}

fn wrong(message: impl Into<String>) -> Rejection {
    Rejection::Wrong(message.into())
}

fn check_flags(expression: &Expression<'_>, takes_starts: bool) -> Result<(), Rejection> {
    let flags = expression.flags;
    if flags & !abi::FLAGS_KNOWN != 0 {
        return Err(wrong("Unrecognised flag."));
    }
    if expression.is_pure && flags & !PURE_FLAGS != 0 {
        return Err(wrong(
            "Only HS_FLAG_CASELESS, HS_FLAG_SINGLEMATCH and HS_FLAG_SOM_LEFTMOST are supported in \
             literal API.",
        ));
    }
    if let Some((_, name)) = REFUSED.iter().find(|(flag, _)| flags & flag != 0) {
        return Err(Rejection::Unsupported(format!(
            "{name} is not supported for literals; name a real Hyperscan in FYKE_HS_NEXT for it."
        )));
    }
    if flags & abi::FLAG_SOM_LEFTMOST == 0 {
        return Ok(());
    }
    if flags & abi::FLAG_SINGLEMATCH != 0 {
        return Err(wrong(
            "HS_FLAG_SINGLEMATCH is not supported in combination with HS_FLAG_SOM_LEFTMOST.",
        ));
    }
    if !takes_starts {
        return Err(wrong(
            "To use a SOM expression flag in streaming mode, an SOM precision mode (e.g. \
             HS_MODE_SOM_HORIZON_LARGE) must be specified.",
        ));
    }
    Ok(())
}

fn check_ext(ext: &ExprExt) -> Result<(), Rejection> {
    let has = |flag| ext.flags & flag != 0;
    if has(!abi::EXT_KNOWN) {
        return Err(wrong("Invalid hs_expr_ext flag set."));
    }
    let known = abi::EXT_MIN_OFFSET | abi::EXT_MAX_OFFSET | abi::EXT_MIN_LENGTH;
    if has(!known) {
        return Err(Rejection::Unsupported(
            "Edit and Hamming distances are not supported for literals; name a real Hyperscan in \
             FYKE_HS_NEXT for them."
                .into(),
        ));
    }
    if has(abi::EXT_MAX_OFFSET) {
        for (flag, value, name) in [
            (abi::EXT_MIN_OFFSET, ext.min_offset, "min_offset"),
            (abi::EXT_MIN_LENGTH, ext.min_length, "min_length"),
        ] {
            if has(flag) && value > ext.max_offset {
                return Err(wrong(format!(
                    "In hs_expr_ext, {name} must be less than or equal to max_offset."
                )));
            }
        }
    }
    Ok(())
}

fn check_length(len: usize) -> Result<(), Rejection> {
    match len {
        0 => Err(wrong("Pattern matches empty buffer; use HS_FLAG_ALLOWEMPTY to enable support.")),
        1..=MAX_LEN => Ok(()),
        _ => Err(wrong(format!("Pattern length exceeds limit: {len} bytes, at most {MAX_LEN}."))),
    }
}

/// What an expression of `len` bytes reports. Its length is fixed, so the least length is decided
/// here.
fn terms(expression: &Expression<'_>, len: usize) -> Result<Terms, Rejection> {
    let mut terms = Terms {
        id: expression.id,
        is_single: expression.flags & abi::FLAG_SINGLEMATCH != 0,
        has_start: expression.flags & abi::FLAG_SOM_LEFTMOST != 0,
        min: 0,
        max: u64::MAX,
    };
    let Some(ext) = &expression.ext else { return Ok(terms) };
    if ext.flags & abi::EXT_MIN_OFFSET != 0 {
        terms.min = ext.min_offset;
    }
    if ext.flags & abi::EXT_MAX_OFFSET != 0 {
        terms.max = ext.max_offset;
    }
    if terms.max < len as u64 {
        return Err(wrong(format!(
            "Expression has max_offset={} but requires {len} bytes to match.",
            terms.max
        )));
    }
    if ext.flags & abi::EXT_MIN_LENGTH != 0 && ext.min_length > len as u64 {
        return Err(wrong(format!(
            "Expression has min_length={} but can only produce matches of length {len} bytes at \
             most.",
            ext.min_length
        )));
    }
    Ok(terms)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A rule for tests.
    pub(crate) fn rule(text: &str, flags: u32, id: u32) -> Rule {
        Rule::new(&expression(text, flags, id), true).unwrap()
    }

    fn expression(text: &str, flags: u32, id: u32) -> Expression<'_> {
        Expression { text: text.as_bytes(), is_pure: false, flags, id, ext: None }
    }

    fn refused(text: &str, flags: u32) -> Rejection {
        Rule::new(&expression(text, flags, 0), false).unwrap_err()
    }

    fn with_ext(flags: u64, min: u64, max: u64, least: u64) -> Result<Rule, Rejection> {
        let ext = ExprExt {
            flags,
            min_offset: min,
            max_offset: max,
            min_length: least,
            ..ExprExt::default()
        };
        Rule::new(&Expression { ext: Some(ext), ..expression("abc", 0, 0) }, true)
    }

    #[test]
    fn modes_are_checked() {
        assert_eq!(Mode::parse(1), Ok((Mode::Block, true)));
        assert_eq!(Mode::parse(2), Ok((Mode::Stream, false)));
        assert_eq!(Mode::parse(2 | 1 << 25), Ok((Mode::Stream, true)));
        assert_eq!(Mode::parse(4), Ok((Mode::Vectored, true)));
        for wrong in [0, 3, 7, 8, 1 | 1 << 24, 2 | 3 << 24] {
            assert_eq!(Mode::parse(wrong).unwrap_err().expression, None, "{wrong}");
        }
    }

    #[test]
    fn flags_are_checked() {
        assert!(rule("a", abi::FLAG_DOTALL | abi::FLAG_MULTILINE, 0).terms.id == 0);
        assert!(matches!(refused("a", 1 << 11), Rejection::Wrong(_)));
        assert!(matches!(refused("a", 256), Rejection::Wrong(_)));
        assert!(matches!(refused("a", 8 | 256), Rejection::Wrong(_)));
        for (flag, name) in REFUSED {
            let Rejection::Unsupported(message) = refused("a", flag) else { panic!("{name}") };
            assert!(message.starts_with(name));
        }
        let pure = Expression { is_pure: true, ..expression("a.b", 2, 0) };
        assert!(matches!(Rule::new(&pure, true), Err(Rejection::Wrong(_))));
        let pure = Expression { flags: 1, ..pure };
        assert_eq!(Rule::new(&pure, true).unwrap().literal.bytes, b"a.b");
    }

    #[test]
    fn empty_and_long_literals_are_refused() {
        assert!(matches!(refused("", 0), Rejection::Wrong(_)));
        assert!(matches!(refused(&"a".repeat(MAX_LEN + 1), 0), Rejection::Wrong(_)));
        assert_eq!(rule(&"a".repeat(MAX_LEN), 0, 0).literal.bytes.len(), MAX_LEN);
    }

    #[test]
    fn limits_that_no_match_meets_are_refused() {
        let terms = with_ext(3, 4, 9, 0).unwrap().terms;
        assert_eq!((terms.min, terms.max), (4, 9));
        let terms = with_ext(0, 4, 2, 7).unwrap().terms;
        assert_eq!((terms.min, terms.max), (0, u64::MAX), "flags say that nothing is set");
        assert!(with_ext(4, 0, 0, 3).is_ok());
        for (flags, min, max, least) in
            [(2, 0, 2, 0), (3, 5, 4, 0), (4, 0, 0, 4), (6, 0, 3, 5), (32, 0, 0, 0)]
        {
            let got = with_ext(flags, min, max, least);
            assert!(matches!(got, Err(Rejection::Wrong(_))), "{flags}: {got:?}");
        }
        assert!(matches!(with_ext(8, 0, 0, 0), Err(Rejection::Unsupported(_))));
    }

    #[test]
    fn rules_of_one_id_agree_on_single_matches() {
        let (many, once) = (rule("a", 0, 4), rule("b", 8, 4));
        assert_eq!(check_ids(&[many.clone(), rule("b", 8, 5), rule("c", 0, 4)]), Ok(()));
        let two = [many.clone(), rule("x", 0, 3), rule("x", 8, 3), once.clone()];
        assert_eq!(check_ids(&two).unwrap_err().expression, Some(2), "the first of two conflicts");
        let failure = check_ids(&[rule("z", 0, 1), many.clone(), once.clone()]).unwrap_err();
        assert_eq!(failure.expression, Some(2));
        assert!(failure.message.contains("(index 2) with match ID 4 specified"));
        assert!(check_ids(&[once, many]).unwrap_err().message.contains("did not specify"));
    }
}
