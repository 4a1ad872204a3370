//! ZIP, and what is made of it (OOXML, ODF, JAR, APK): local headers with data, a central
//! directory, and its end (PKWARE APPNOTE, 4.3).

use super::Stop;
use super::bytes::Bytes;

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
const END64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR64: [u8; 4] = *b"PK\x06\x07";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";

const LOCAL_LEN: u64 = 30;
const CENTRAL_LEN: u64 = 46;
const END_LEN: u64 = 22;
const LOCATOR64_LEN: u64 = 20;
/// A comment has at most 65,535 bytes.
const MOST_END: u64 = END_LEN + 0xffff;

/// Where the central directory is.
struct Directory {
    offset: u64,
    len: u64,
    entries: u64,
}

pub(super) fn validate(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    match from_end(bytes) {
        Err(Stop::Wrong) => from_start(bytes),
        other => other,
    }
}

/// Takes the last end of a directory that the file's last bytes have, as a reader of ZIP files
/// does.
fn from_end(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    let first = bytes.len().saturating_sub(MOST_END);
    let at = bytes.find_last(&END, first..bytes.len())?;
    check_end(bytes, at)
}

/// Goes from one local header to the next, until the central directory.
fn from_start(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    let at = follow(bytes, 0, LOCAL, skip_local)?;
    let mut at = follow(bytes, at, CENTRAL, |bytes, at| Ok(skip_central(bytes, at)?.1))?;
    if bytes.array(at)? == END64 {
        let len = u64_le(bytes, at + 4)?;
        at = at.checked_add(12).and_then(|at| at.checked_add(len)).ok_or(Stop::Wrong)?;
    }
    if bytes.array(at)? == LOCATOR64 {
        at += LOCATOR64_LEN;
    }
    check_end(bytes, at)
}

/// Goes from one header to the next, until there is none. What earlier files passed is not read
/// again.
fn follow(
    bytes: &mut Bytes<'_>,
    mut at: u64,
    signature: [u8; 4],
    skip: impl Fn(&mut Bytes<'_>, u64) -> Result<u64, Stop>,
) -> Result<u64, Stop> {
    let chains = bytes.chains();
    let mut passed = Vec::new();
    let end = loop {
        match bytes.array(at) {
            Ok(found) if found == signature => {}
            Ok(_) => break Ok(at),
            Err(stop) => break Err(stop),
        }
        let header = bytes.in_image(at);
        let next = match chains.end_of(header) {
            Some(end) => Ok(bytes.in_file(end)),
            None => skip(bytes, at),
        };
        match next {
            Ok(next) => at = next,
            Err(stop) => break Err(stop),
        }
        passed.push(header);
    };
    chains.link(passed, bytes.in_image(at));
    end
}

/// The end of a local header and its data.
fn skip_local(bytes: &mut Bytes<'_>, at: u64) -> Result<u64, Stop> {
    let flags = u16_le(bytes, at + 6)?;
    let name_len = u64::from(u16_le(bytes, at + 26)?);
    let extra_len = u64::from(u16_le(bytes, at + 28)?);
    let packed = u32_le(bytes, at + 18)?;
    let data = at + LOCAL_LEN + name_len + extra_len;
    if flags & 8 != 0 && packed == 0 {
        return skip_described(bytes, data);
    }
    let packed = match packed {
        u32::MAX => packed64(bytes, at + LOCAL_LEN + name_len, data)?,
        packed => u64::from(packed),
    };
    let end = data.checked_add(packed).ok_or(Stop::Wrong)?;
    let has_descriptor = flags & 8 != 0 && bytes.array(end)? == DESCRIPTOR;
    Ok(if has_descriptor { end + 16 } else { end })
}

/// The end of data whose length is in the descriptor after it. A descriptor without its signature,
/// which is optional, cannot be told from data.
fn skip_described(bytes: &mut Bytes<'_>, data: u64) -> Result<u64, Stop> {
    let (chains, key, end) = (bytes.chains(), bytes.in_image(data), bytes.in_image(bytes.len()));
    if chains.has_no_descriptor(key, end) {
        return Err(Stop::Unknown);
    }
    // The file ends before a descriptor, or in what looks like one.
    let none = |stop| {
        if stop == Stop::Wrong {
            chains.no_descriptor(key, end);
        }
        Stop::Unknown
    };
    let mut from = data;
    loop {
        let at = bytes.find(&DESCRIPTOR, from).map_err(none)?;
        let len = at - data;
        if u64::from(u32_le(bytes, at + 8).map_err(none)?) == len {
            return Ok(at + 16);
        }
        if u64_le(bytes, at + 8).map_err(none)? == len {
            return Ok(at + 24);
        }
        from = at + 1;
    }
}

/// The length of packed data in the extra field of ZIP64, where it follows that of the data.
fn packed64(bytes: &mut Bytes<'_>, mut at: u64, end: u64) -> Result<u64, Stop> {
    while at + 4 <= end {
        let (id, len) = (u16_le(bytes, at)?, u64::from(u16_le(bytes, at + 2)?));
        if id == 1 && len >= 16 {
            return u64_le(bytes, at + 12);
        }
        at += 4 + len;
    }
    Err(Stop::Wrong)
}

/// The offset of the local header that a central header names, and where the central header ends.
fn skip_central(bytes: &mut Bytes<'_>, at: u64) -> Result<(u32, u64), Stop> {
    if bytes.array(at)? != CENTRAL {
        return Err(Stop::Wrong);
    }
    let mut len = CENTRAL_LEN;
    for field in [28, 30, 32] {
        len += u64::from(u16_le(bytes, at + field)?);
    }
    Ok((u32_le(bytes, at + 42)?, at + len))
}

/// Checks the end of a directory at `at`, and the directory. Returns the length of the file.
fn check_end(bytes: &mut Bytes<'_>, at: u64) -> Result<u64, Stop> {
    if bytes.array(at)? != END {
        return Err(Stop::Wrong);
    }
    let comment_len = u64::from(u16_le(bytes, at + 20)?);
    let end = at + END_LEN + comment_len;
    let directory = directory(bytes, at)?;
    let directory_end = directory.offset.checked_add(directory.len).ok_or(Stop::Wrong)?;
    if end > bytes.len() || directory_end > at || directory.entries == 0 {
        return Err(Stop::Wrong);
    }
    // Otherwise it is the end of another archive, which follows one that was cut.
    if directory_end < at && bytes.array(directory_end)? != END64 {
        return Err(Stop::Wrong);
    }
    let mut next = directory.offset;
    for _ in 0..directory.entries {
        let (local, end) = skip_central(bytes, next)?;
        if end > directory_end || (local != u32::MAX && bytes.array(u64::from(local))? != LOCAL) {
            return Err(Stop::Wrong);
        }
        next = end;
    }
    if next == directory_end { Ok(end) } else { Err(Stop::Wrong) }
}

/// Where the directory is that ends at `at`.
fn directory(bytes: &mut Bytes<'_>, at: u64) -> Result<Directory, Stop> {
    let entries = u64::from(u16_le(bytes, at + 10)?);
    let len = u64::from(u32_le(bytes, at + 12)?);
    let offset = u64::from(u32_le(bytes, at + 16)?);
    let max = u64::from(u32::MAX);
    let locator = at.checked_sub(LOCATOR64_LEN);
    let Some(locator) = locator.filter(|_| offset == max || len == max || entries == 0xffff) else {
        return Ok(Directory { offset, len, entries });
    };
    if bytes.array(locator)? != LOCATOR64 {
        return Ok(Directory { offset, len, entries });
    }
    let end64 = u64_le(bytes, locator + 8)?;
    if bytes.array(end64)? != END64 || end64 >= locator {
        return Err(Stop::Wrong);
    }
    Ok(Directory {
        entries: u64_le(bytes, end64 + 32)?,
        len: u64_le(bytes, end64 + 40)?,
        offset: u64_le(bytes, end64 + 48)?,
    })
}

fn u16_le(bytes: &mut Bytes<'_>, at: u64) -> Result<u16, Stop> {
    bytes.array(at).map(u16::from_le_bytes)
}

fn u32_le(bytes: &mut Bytes<'_>, at: u64) -> Result<u32, Stop> {
    bytes.array(at).map(u32::from_le_bytes)
}

fn u64_le(bytes: &mut Bytes<'_>, at: u64) -> Result<u64, Stop> {
    bytes.array(at).map(u64::from_le_bytes)
}
