//! Escapes bytes, so that the output cannot control a terminal.

/// Appends `bytes` with escapes: control characters except tab, and bytes that are not valid
/// UTF-8, are written as `\xNN`.
///
/// ```
/// let mut out = Vec::new();
/// fyke_io::sink::push_escaped(&mut out, "naïve\0\x1b[1m\t".as_bytes());
/// fyke_io::sink::push_escaped(&mut out, b"\xff");
/// assert_eq!(out, "naïve\\x00\\x1b[1m\t\\xff".as_bytes());
/// ```
pub fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().all(|b| matches!(b, b' '..=b'~')) {
        out.extend_from_slice(bytes);
        return;
    }
    let (mut printed, mut len, mut at) = ([0; 256], 0, 0);
    while at < bytes.len() {
        let one = Printed::first_of(&bytes[at..]);
        // Copies four bytes each time and lets the next copy overwrite the excess: a branch on the
        // length is mispredicted where text and control bytes alternate.
        printed[len..len + 4].copy_from_slice(&one.bytes);
        len += one.len;
        at += one.input;
        if len > printed.len() - 4 {
            out.extend_from_slice(&printed[..len]);
            len = 0;
        }
    }
    out.extend_from_slice(&printed[..len]);
}

/// A printed byte or character.
#[derive(Clone, Copy)]
struct Printed {
    bytes: [u8; 4],
    /// Number of valid bytes in `bytes`.
    len: usize,
    /// Number of input bytes that it represents.
    input: usize,
}

impl Printed {
    /// Each byte on its own: unchanged if it is printable ASCII or a tab, otherwise escaped.
    const BYTE: [Printed; 256] = {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut table = [Printed { bytes: *b"\\x__", len: 4, input: 1 }; 256];
        let mut b = 0;
        while b < 256 {
            if matches!(b as u8, b' '..=b'~' | b'\t') {
                table[b] = Printed { bytes: [b as u8, 0, 0, 0], len: 1, input: 1 };
            } else {
                table[b].bytes[2] = DIGITS[b >> 4];
                table[b].bytes[3] = DIGITS[b & 15];
            }
            b += 1;
        }
        table
    };

    /// The first character of `bytes` if it is printable, otherwise the first byte.
    #[inline]
    fn first_of(bytes: &[u8]) -> Self {
        static BYTE: [Printed; 256] = Printed::BYTE;
        if let [0xc2..=0xf4, 0x80..=0xbf, ..] = bytes
            && let Some(character) = Self::character(bytes)
        {
            return character;
        }
        BYTE[usize::from(bytes[0])]
    }

    #[cold]
    fn character(bytes: &[u8]) -> Option<Self> {
        let len = match bytes[0] {
            ..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0.. => 4,
        };
        let utf8 = bytes.get(..len)?;
        let c = std::str::from_utf8(utf8).ok()?.chars().next()?;
        let mut bytes = [0; 4];
        bytes[..len].copy_from_slice(utf8);
        (!c.is_control()).then_some(Printed { bytes, len, input: len })
    }
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
