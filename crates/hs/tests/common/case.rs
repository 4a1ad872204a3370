//! A random set of literals with flags, ids and limits, as the compile calls take it.

use super::random::Random;
use super::{Api, Compiled};
use fyke_hs::abi::{self, ExprExt};
use std::ffi::{CString, c_char, c_uint};
use std::ptr;

/// The arguments of a compile call.
pub(crate) struct Case {
    /// The byte strings that the expressions stand for.
    pub(crate) literals: Vec<Vec<u8>>,
    pub(crate) flags: Vec<c_uint>,
    /// None: a null pointer, which makes all ids 0.
    pub(crate) ids: Option<Vec<c_uint>>,
    pub(crate) ext: Option<Vec<Option<ExprExt>>>,
    pub(crate) mode: c_uint,
    /// Whether `hs_compile_lit_multi` compiles it.
    pub(crate) is_pure: bool,
    expressions: Vec<CString>,
}

/// The bytes that literals and haystacks of a case are made of.
pub(crate) struct Alphabet(Vec<u8>);

impl Alphabet {
    /// One of several kinds.
    pub(crate) fn random(r: &mut Random) -> Self {
        Self(match r.below(5) {
            0 => b"ab".to_vec(),
            1 => b"aAbB".to_vec(),
            2 => b"\0a\xffZ".to_vec(),
            3 => (0..=255).collect(),
            _ => {
                b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /.-:=&?%".to_vec()
            }
        })
    }

    fn bytes(&self, r: &mut Random, len: usize) -> Vec<u8> {
        (0..len).map(|_| r.element(&self.0)).collect()
    }
}

impl Case {
    /// A random case.
    pub(crate) fn random(r: &mut Random, alphabet: &Alphabet) -> Case {
        let count = match r.below(8) {
            0..3 => 1,
            3..5 => 2 + r.below(8),
            5..7 => 2 + r.below(60),
            _ => 2 + r.below(299),
        };
        let longest = r.element(&[1, 3, 8, 20, 64, 3, 8, 20, 400]);
        let mut literals: Vec<Vec<u8>> = Vec::new();
        for _ in 0..count {
            let literal = match literals.is_empty() || !r.once_in(10) {
                true => {
                    let len = 1 + r.below(longest);
                    alphabet.bytes(r, len)
                }
                false => relative(r, &literals),
            };
            literals.push(literal);
        }
        let is_pure = r.once_in(8);
        let mode = r.element(&[abi::MODE_BLOCK, abi::MODE_STREAM, abi::MODE_VECTORED]);
        let horizon = if mode == abi::MODE_STREAM { 1 << 24 } else { 0 };
        let ids = random_ids(r, count);
        let flags = random_flags(r, ids.as_deref(), count, is_pure);
        let has_ext = !is_pure && r.once_in(2);
        let ext = has_ext.then(|| literals.iter().map(|l| random_ext(r, l.len())).collect());
        let expressions = literals.iter().map(|l| expression(r, l)).collect();
        Case { literals, flags, ids, ext, mode: mode | horizon, is_pure, expressions }
    }

    /// A haystack in which literals of the case occur.
    pub(crate) fn haystack(&self, r: &mut Random, alphabet: &Alphabet) -> Vec<u8> {
        let most = r.element(&[4, 40, 400, 2000]);
        let len = r.below(most + 1);
        let mut haystack = Vec::with_capacity(len);
        while haystack.len() < len {
            if r.once_in(2) {
                let piece = 1 + r.below(12);
                haystack.extend(alphabet.bytes(r, piece));
            } else {
                let mut literal = self.literals[r.below(self.literals.len())].clone();
                if r.once_in(3) {
                    literal.iter_mut().for_each(|b| *b ^= 0x20 * u8::from(b.is_ascii_alphabetic()));
                }
                haystack.extend(literal);
            }
        }
        haystack.truncate(len);
        haystack
    }

    /// Compiles it.
    pub(crate) fn compile<'a>(&self, api: &'a Api) -> Compiled<'a> {
        let (mut database, mut error) = (ptr::null_mut(), ptr::null_mut());
        let (to, errors) = (&raw mut database, &raw mut error);
        let (flags, count) = (self.flags.as_ptr(), self.literals.len() as c_uint);
        let ids = self.ids.as_ref().map_or(ptr::null(), Vec::as_ptr);
        let status = if self.is_pure {
            let texts: Vec<*const c_char> =
                self.literals.iter().map(|l| l.as_ptr().cast()).collect();
            let lens: Vec<usize> = self.literals.iter().map(Vec::len).collect();
            let (compile, lens) = (api.hs_compile_lit_multi, lens.as_ptr());
            let (texts, mode) = (texts.as_ptr(), self.mode);
            // SAFETY: the arrays have `count` elements, and the results have places.
            unsafe { compile(texts, flags, ids, lens, count, mode, ptr::null(), to, errors) }
        } else {
            let texts: Vec<*const c_char> = self.expressions.iter().map(|e| e.as_ptr()).collect();
            let ext: Option<Vec<*const ExprExt>> = self.ext.as_ref().map(|ext| {
                ext.iter().map(|e| e.as_ref().map_or(ptr::null(), ptr::from_ref)).collect()
            });
            let ext = ext.as_ref().map_or(ptr::null(), Vec::as_ptr);
            let (compile, texts, mode) = (api.hs_compile_ext_multi, texts.as_ptr(), self.mode);
            // SAFETY: the arrays have `count` elements, and the results have places.
            unsafe { compile(texts, flags, ids, ext, count, mode, ptr::null(), to, errors) }
        };
        api.database(status, database, error)
    }

    /// The case, for people.
    pub(crate) fn describe(&self) -> String {
        let each = self.literals.iter().enumerate().map(|(i, literal)| {
            let id = self.ids.as_ref().map_or(0, |ids| ids[i]);
            let ext = self.ext.as_ref().and_then(|e| e[i]);
            let ext = ext.map(|e| (e.flags, e.min_offset, e.max_offset, e.min_length));
            let text = self.expressions[i].to_string_lossy();
            let literal = literal.escape_ascii();
            format!("{i}: {literal} as {text:?} id {id} flags {} ext {ext:?}", self.flags[i])
        });
        let head = format!("mode {:#x}, pure {}", self.mode, self.is_pure);
        [head].into_iter().chain(each).collect::<Vec<_>>().join("\n")
    }
}

/// A literal that has to do with one before: the same, a part, or in other cases.
fn relative(r: &mut Random, literals: &[Vec<u8>]) -> Vec<u8> {
    let mut literal = literals[r.below(literals.len())].clone();
    match r.below(4) {
        0 => {}
        1 => {
            let from = r.below(literal.len());
            literal.drain(..from);
        }
        2 => literal.truncate(1 + r.below(literal.len())),
        _ => literal.iter_mut().for_each(|b| *b = b.to_ascii_uppercase()),
    }
    literal
}

fn random_ids(r: &mut Random, count: usize) -> Option<Vec<c_uint>> {
    match r.below(6) {
        0 => None,
        1 => Some((0..count).map(|_| r.below(count.div_ceil(2)) as c_uint).collect()),
        2 => Some((0..count).map(|i| u32::MAX - i as c_uint).collect()),
        _ => Some((0..count as c_uint).collect()),
    }
}

/// Flags on which expressions with one id agree, but for one case in twenty.
fn random_flags(r: &mut Random, ids: Option<&[c_uint]>, count: usize, pure: bool) -> Vec<c_uint> {
    let (singles, starts) = (r.below(3), r.below(3));
    let salt = if r.once_in(20) { None } else { Some(r.number()) };
    (0..count)
        .map(|i| {
            let id = ids.map_or(0, |ids| ids[i]);
            let mut own = Random(salt.map_or(r.number(), |salt| salt ^ u64::from(id)));
            let mut flags = if r.once_in(2) { abi::FLAG_CASELESS } else { 0 };
            if own.below(4) < singles {
                flags |= abi::FLAG_SINGLEMATCH;
            } else if own.below(4) < starts {
                flags |= abi::FLAG_SOM_LEFTMOST;
            }
            if !pure {
                flags |= r.element(&[0, abi::FLAG_DOTALL, abi::FLAG_MULTILINE]);
            }
            flags
        })
        .collect()
}

/// Limits; once in a hundred times such as no match can meet.
fn random_ext(r: &mut Random, len: usize) -> Option<ExprExt> {
    let len = len as u64;
    let mut ext = ExprExt::default();
    if r.once_in(3) {
        ext.flags |= abi::EXT_MIN_OFFSET;
        ext.min_offset = r.below(60) as u64;
    }
    if r.once_in(3) {
        ext.flags |= abi::EXT_MAX_OFFSET;
        ext.max_offset = ext.min_offset.max(len) + r.below(200) as u64;
    }
    if r.once_in(6) {
        ext.flags |= abi::EXT_MIN_LENGTH;
        ext.min_length = 1 + r.below(len as usize) as u64;
    }
    if r.once_in(2000) {
        ext.flags |= r.element(&[abi::EXT_MAX_OFFSET, abi::EXT_MIN_LENGTH, 1 << 5]);
        (ext.max_offset, ext.min_length) = (len - 1, len + 1);
    }
    (ext.flags != 0 || r.once_in(2)).then_some(ext)
}

/// The literal as an expression, written in one of many ways.
fn expression(r: &mut Random, literal: &[u8]) -> CString {
    let mut text = Vec::new();
    let style = r.below(4);
    if style == 0 && r.once_in(3) && !literal.contains(&0) && !contains(literal, br"\E") {
        // A backslash at the end would become one with `\E`.
        if literal.last() != Some(&b'\\') {
            text = [br"\Q", literal, br"\E"].concat();
            return CString::new(text).expect("no NUL");
        }
    }
    for &byte in literal {
        write_byte(r, &mut text, byte, style);
    }
    CString::new(text).expect("NUL is written as an escape")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}

fn write_byte(r: &mut Random, text: &mut Vec<u8>, byte: u8, style: usize) {
    let short = match byte {
        b'\n' => Some(r"\n"),
        b'\t' => Some(r"\t"),
        b'\r' => Some(r"\r"),
        7 => Some(r"\a"),
        0x1b => Some(r"\e"),
        0x0c => Some(r"\f"),
        _ => None,
    };
    match (style, r.below(6)) {
        (1, _) | (_, 0) => text.extend(format!("\\x{byte:02x}").bytes()),
        (2, 1) => text.extend(format!("\\{byte:03o}").bytes()),
        (2, 2) => text.extend(format!("\\x{{{byte:x}}}").bytes()),
        (3, 1) if !b"\0^-[]\\".contains(&byte) => text.extend([b'[', byte, b']']),
        (3, 2) => text.extend(format!("\\o{{{byte:o}}}").bytes()),
        _ if short.is_some() => text.extend(short.unwrap_or_default().bytes()),
        _ if byte.is_ascii_alphanumeric() => text.push(byte),
        _ if byte.is_ascii_graphic() || byte == b' ' => text.extend([b'\\', byte]),
        _ => text.extend(format!("\\x{byte:02X}").bytes()),
    }
}
