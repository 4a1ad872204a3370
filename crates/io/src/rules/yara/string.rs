//! One string of a YARA rule: `$id = VALUE MODIFIERS`.

use super::super::error::{Kind, Located};
use super::super::table::check_len;
use super::reader::Reader;

/// A string of a rule.
pub(super) struct YaraString {
    /// With its dollar sign.
    pub(super) id: String,
    /// Position of the dollar sign.
    pub(super) at: usize,
    pub(super) found: Found,
    pub(super) ascii: bool,
    pub(super) wide: bool,
    pub(super) nocase: bool,
    pub(super) fullword: bool,
}

/// What to search for.
pub(super) enum Found {
    Bytes(Vec<u8>),
    /// The string cannot be searched, for this reason.
    Skipped(&'static str),
}

/// Parses a string whose dollar sign is the next byte.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<YaraString, Located> {
    let at = reader.at();
    reader.next();
    let is_anonymous = !reader.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let id = if is_anonymous { &[] } else { reader.word() };
    let id = format!("${}", String::from_utf8_lossy(id));
    reader.skip_space()?;
    reader.expect(b'=', "write = after the identifier of the string")?;
    reader.skip_space()?;
    let value = reader.at();
    let found = match reader.peek() {
        Some(b'"') => Found::Bytes(text(reader)?),
        Some(b'{') => hex(reader)?,
        Some(b'/') => {
            reader.skip_regex()?;
            Found::Skipped("regular expression")
        }
        _ => return Err((value, Kind::Expected("write \"...\", { ... } or /.../ here"))),
    };
    let mut string =
        YaraString { id, at, found, ascii: false, wide: false, nocase: false, fullword: false };
    modifiers(reader, &mut string)?;
    string.ascii |= !string.wide;
    if let Found::Bytes(bytes) = &string.found {
        let len = if string.wide { 2 * bytes.len() } else { bytes.len() };
        check_len(len, Kind::EmptyContent).map_err(|kind| (value, kind))?;
    }
    Ok(string)
}

fn modifiers(reader: &mut Reader<'_>, string: &mut YaraString) -> Result<(), Located> {
    loop {
        reader.skip_space()?;
        let at = reader.at();
        match reader.word() {
            b"ascii" => string.ascii = true,
            b"wide" => string.wide = true,
            b"nocase" => string.nocase = true,
            b"fullword" => string.fullword = true,
            b"private" => {}
            b"xor" => transformed(reader, string, "xor modifier")?,
            b"base64" | b"base64wide" => transformed(reader, string, "base64 modifier")?,
            b"condition" | b"meta" if reader.peek() == Some(b':') => {
                reader.back_to(at);
                return Ok(());
            }
            b"" => return Ok(()),
            _ => {
                let known = "modifiers are nocase, wide, ascii, fullword, private, xor, base64";
                return Err((at, Kind::Expected(known)));
            }
        }
    }
}

/// A modifier with optional arguments whose strings cannot be searched.
fn transformed(
    reader: &mut Reader<'_>,
    string: &mut YaraString,
    reason: &'static str,
) -> Result<(), Located> {
    string.found = Found::Skipped(reason);
    reader.skip_space()?;
    let open = reader.at();
    if !reader.take(b'(') {
        return Ok(());
    }
    loop {
        reader.skip_space()?;
        match reader.peek() {
            Some(b')') => return reader.expect(b')', ""),
            Some(b'"') => reader.skip_string()?,
            Some(b'}' | b'{') | None => return Err((open, Kind::NotClosed("argument list"))),
            Some(_) => _ = reader.next(),
        }
    }
}

/// Decodes a text string whose quote is the next byte.
fn text(reader: &mut Reader<'_>) -> Result<Vec<u8>, Located> {
    let open = reader.at();
    reader.next();
    let mut out = Vec::new();
    loop {
        let at = reader.at();
        match reader.next() {
            Some(b'"') => return Ok(out),
            Some(b'\\') => out.push(escape(reader, at)?),
            Some(b'\n') | None => return Err((open, Kind::OpenString)),
            Some(b) => out.push(b),
        }
    }
}

/// Decodes the escape whose backslash is at `at` and was taken.
fn escape(reader: &mut Reader<'_>, at: usize) -> Result<u8, Located> {
    Ok(match reader.next() {
        Some(b @ (b'"' | b'\\')) => b,
        Some(b't') => b'\t',
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b'f') => 0x0c,
        Some(b'x') => digit(reader)? << 4 | digit(reader)?,
        Some(b) if b != b'\n' => return Err((at, Kind::BadYaraEscape(b))),
        _ => return Err((at, Kind::OpenString)),
    })
}

fn digit(reader: &mut Reader<'_>) -> Result<u8, Located> {
    let at = reader.at();
    match reader.peek() {
        None | Some(b'\n') => Err((at, Kind::OddDigits)),
        Some(b) => {
            let value = char::from(b).to_digit(16).ok_or((at, Kind::NotHex(b)))?;
            reader.next();
            Ok(value as u8)
        }
    }
}

/// Decodes a hex string whose brace is the next byte.
fn hex(reader: &mut Reader<'_>) -> Result<Found, Located> {
    let open = reader.at();
    reader.next();
    let mut out = Vec::new();
    let mut skipped = None;
    loop {
        reader.skip_space()?;
        match reader.peek() {
            Some(b'}') => {
                reader.next();
                return Ok(skipped.map_or(Found::Bytes(out), Found::Skipped));
            }
            Some(b'[') => {
                skipped.get_or_insert("hex jump");
                jump(reader)?;
            }
            Some(b'(' | b'|' | b')') => {
                skipped.get_or_insert("hex alternative");
                reader.next();
            }
            Some(b'~') => {
                skipped.get_or_insert("hex wildcard");
                reader.next();
            }
            Some(_) => match (nibble(reader)?, nibble(reader)?) {
                (Some(high), Some(low)) => out.push(high << 4 | low),
                _ => _ = skipped.get_or_insert("hex wildcard"),
            },
            None => return Err((open, Kind::NotClosed("hex string"))),
        }
    }
}

/// Half a byte; `None` for a question mark.
fn nibble(reader: &mut Reader<'_>) -> Result<Option<u8>, Located> {
    if reader.take(b'?') { Ok(None) } else { digit(reader).map(Some) }
}

/// Skips `[4-6]`.
fn jump(reader: &mut Reader<'_>) -> Result<(), Located> {
    let open = reader.at();
    reader.next();
    loop {
        match reader.next() {
            Some(b']') => return Ok(()),
            Some(b'0'..=b'9' | b'-' | b' ' | b'\t') => {}
            _ => return Err((open, Kind::NotClosed("jump"))),
        }
    }
}
