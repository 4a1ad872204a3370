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
pub fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().all(|b| matches!(b, b' '..=b'~' | b'\t')) {
        out.extend_from_slice(bytes);
        return;
    }
    for chunk in bytes.utf8_chunks() {
        push_valid(out, chunk.valid());
        push_hex(out, chunk.invalid());
    }
}

fn push_valid(out: &mut Vec<u8>, text: &str) {
    let mut plain = 0;
    for (i, c) in text.char_indices().filter(|(_, c)| c.is_control() && *c != '\t') {
        let end = i + c.len_utf8();
        out.extend_from_slice(&text.as_bytes()[plain..i]);
        push_hex(out, &text.as_bytes()[i..end]);
        plain = end;
    }
    out.extend_from_slice(&text.as_bytes()[plain..]);
}

fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &b in bytes {
        let (high, low) = (usize::from(b >> 4), usize::from(b & 15));
        out.extend_from_slice(&[b'\\', b'x', DIGITS[high], DIGITS[low]]);
    }
}
