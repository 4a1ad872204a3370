//! Byte classes: bytes that no pattern tells apart share a column of a transition table.

/// A map from bytes to classes. If some byte is in no pattern, class 0 holds all of these.
#[derive(Clone, Debug)]
pub struct ByteClasses {
    map: [u8; 256],
    len: usize,
}

impl ByteClasses {
    /// Gives every used byte a class of its own.
    pub fn new(used: &[bool; 256]) -> Self {
        let mut map = [0; 256];
        let mut len = usize::from(used.contains(&false));
        for (byte, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            map[byte] = len as u8;
            len += 1;
        }
        Self { map, len }
    }

    /// Puts each ASCII upper-case letter in the class of its lower-case form.
    pub fn fold_case(mut self) -> Self {
        for upper in b'A'..=b'Z' {
            self.map[usize::from(upper)] = self.map[usize::from(upper.to_ascii_lowercase())];
        }
        self
    }

    /// The number of classes: 1 to 256.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always false: every byte is in a class.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The class of a byte.
    #[inline(always)]
    pub fn get(&self, byte: u8) -> u8 {
        self.map[usize::from(byte)]
    }

    /// The class of every byte.
    pub fn map(&self) -> &[u8; 256] {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_bytes_share_class_zero() {
        let mut used = [false; 256];
        used[usize::from(b'a')] = true;
        used[usize::from(b'b')] = true;
        let c = ByteClasses::new(&used).fold_case();
        assert_eq!((c.len(), c.get(b'a'), c.get(b'B'), c.get(0), c.get(b'z')), (3, 1, 2, 0, 0));
    }

    #[test]
    fn all_bytes_used_need_no_class_zero() {
        let c = ByteClasses::new(&[true; 256]);
        assert_eq!((c.len(), c.get(0), c.get(255)), (256, 0, 255));
    }
}
