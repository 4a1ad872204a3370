//! Bytes that a terminal can be trusted with.

/// Appends `bytes` with everything that is not printable as `\xNN`: control characters but for the tab,
/// and what is not valid UTF-8.
///
/// ```
/// let mut out = Vec::new();
/// fyke_io::sink::push_escaped(&mut out, "naïve\0\x1b[1m\t".as_bytes());
/// fyke_io::sink::push_escaped(&mut out, b"\xff");
/// assert_eq!(out, "naïve\\x00\\x1b[1m\t\\xff".as_bytes());
/// ```
pub fn push_escaped(out: &mut Vec<u8>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (ascii, rest) = split_at_first(bytes, |b| !b.is_ascii());
        ascii.chunks(CHUNK).for_each(|chunk| push_ascii(out, chunk));
        let (high, rest) = split_at_first(rest, |b| b.is_ascii());
        push_high(out, high);
        bytes = rest;
    }
}

fn split_at_first(bytes: &[u8], stop: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(stop).unwrap_or(bytes.len()))
}

/// Bytes that are escaped at once.
const CHUNK: usize = 64;

/// What an ASCII byte is printed as, filled up to four bytes, and how many of these count.
static PRINTED: [([u8; 4], u8); 128] = {
    let mut table = [([0; 4], 0); 128];
    let mut b = 0;
    while b < 128 {
        let byte = b as u8;
        let printable = matches!(byte, b' '..=b'~' | b'\t');
        table[b] = if printable { ([byte, 0, 0, 0], 1) } else { (hex(byte), 4) };
        b += 1;
    }
    table
};

const fn hex(byte: u8) -> [u8; 4] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [b'\\', b'x', DIGITS[byte as usize >> 4], DIGITS[byte as usize & 15]]
}

/// Four bytes are copied for each, and those beyond its length overwritten by the next: data in which text
/// and control bytes alternate would mispredict a branch for each.
fn push_ascii(out: &mut Vec<u8>, chunk: &[u8]) {
    let (mut printed, mut len) = ([0; 4 * CHUNK], 0);
    for &b in chunk {
        let (bytes, count) = PRINTED[usize::from(b & 0x7f)];
        printed[len..len + 4].copy_from_slice(&bytes);
        len += usize::from(count);
    }
    out.extend_from_slice(&printed[..len]);
}

/// Bytes above ASCII: characters stay, but for control characters, and what is no character does not.
fn push_high(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut utf8 = [0; 4];
            let utf8 = c.encode_utf8(&mut utf8).as_bytes();
            if c.is_control() { push_hex(out, utf8) } else { out.extend_from_slice(utf8) }
        }
        push_hex(out, chunk.invalid());
    }
}

fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    bytes.iter().for_each(|&b| out.extend_from_slice(&hex(b)));
}

#[cfg(test)]
mod tests {
    use super::push_escaped;

    #[test]
    fn every_byte_and_long_texts() {
        let all: Vec<u8> = (0..=255).collect();
        let mut out = Vec::new();
        push_escaped(&mut out, &all);
        let printable = (b' '..=b'~').chain([b'\t']).count();
        assert_eq!(out.len(), printable + 4 * (256 - printable));
        let text = "a\u{85}é\u{202e}\u{10ffff}".repeat(99);
        out.clear();
        push_escaped(&mut out, text.as_bytes());
        assert_eq!(out, text.replace('\u{85}', "\\xc2\\x85").as_bytes());
    }
}
