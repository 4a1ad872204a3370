//! Positions in characters: Python counts the characters of a `str`, engines count bytes.

/// Bytes of a block, whose characters are counted in advance.
const BLOCK: usize = 256;

/// Finds the character at a byte position, in constant time.
pub struct CharIndex<'t> {
    bytes: &'t [u8],
    /// The number of characters that start before each block.
    before: Vec<usize>,
}

/// The number of characters that start in these bytes.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| is_start(byte)).count()
}

/// Whether a character starts with this byte of UTF-8.
fn is_start(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

impl<'t> CharIndex<'t> {
    /// The index of a text. `None` if it is ASCII: then both positions are the same.
    pub fn new(text: &'t [u8]) -> Option<Self> {
        if text.is_ascii() {
            return None;
        }
        let mut count = 0;
        let counted = text.chunks(BLOCK).map(|block| {
            let before = count;
            count += starts(block);
            before
        });
        let mut before: Vec<usize> = counted.collect();
        before.push(count);
        Some(Self { bytes: text, before })
    }

    /// The number of characters that start before a byte position.
    fn starts_before(&self, byte: usize) -> usize {
        let block = byte / BLOCK;
        self.before[block] + starts(&self.bytes[block * BLOCK..byte])
    }

    /// The position of the character that the byte belongs to.
    pub fn start(&self, byte: usize) -> usize {
        let within = self.bytes.get(byte).is_some_and(|&byte| !is_start(byte));
        self.starts_before(byte) - usize::from(within)
    }

    /// The position after the character that the byte before this position belongs to.
    pub fn end(&self, byte: usize) -> usize {
        self.starts_before(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_characters() {
        let text = "aé漢😀".repeat(300);
        let index = CharIndex::new(text.as_bytes()).unwrap();
        for (number, (at, char)) in text.char_indices().enumerate() {
            assert_eq!(index.start(at), number);
            assert_eq!(index.end(at + char.len_utf8()), number + 1);
            // Within a character.
            for byte in at + 1..at + char.len_utf8() {
                assert_eq!((index.start(byte), index.end(byte)), (number, number + 1));
            }
        }
        assert_eq!(index.end(text.len()), 1200);
        assert_eq!(index.start(text.len()), 1200);
    }

    #[test]
    fn ascii_needs_no_index() {
        assert!(CharIndex::new(b"").is_none());
        assert!(CharIndex::new(&[b'a'; 1000]).is_none());
    }

    #[test]
    fn a_text_may_end_with_a_block() {
        let text = "é".repeat(BLOCK);
        let index = CharIndex::new(text.as_bytes()).unwrap();
        assert_eq!(index.end(text.len()), BLOCK);
    }
}
