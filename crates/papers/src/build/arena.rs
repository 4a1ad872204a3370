//! An arena: nodes of several layouts and sizes in one run of bytes, addressed by offset.
//!
//! Fields are little-endian and not aligned, so a node takes exactly the bytes that its layout
//! names.

/// One run of bytes that holds nodes.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    bytes: Vec<u8>,
}

impl Arena {
    /// An arena of `len` zero bytes.
    pub fn zeroed(len: usize) -> Arena {
        Arena { bytes: vec![0; len] }
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds `len` zero bytes and returns the offset of the first.
    pub fn grow(&mut self, len: usize) -> usize {
        let at = self.bytes.len();
        self.bytes.resize(at + len, 0);
        at
    }

    /// Adds bytes and returns the offset of the first.
    pub fn append(&mut self, bytes: &[u8]) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        at
    }

    /// The `len` bytes at an offset.
    #[inline(always)]
    pub fn slice(&self, at: usize, len: usize) -> &[u8] {
        &self.bytes[at..at + len]
    }

    /// All bytes from an offset on.
    #[inline(always)]
    pub fn tail(&self, at: usize) -> &[u8] {
        &self.bytes[at..]
    }

    /// The byte at an offset.
    #[inline(always)]
    pub fn u8(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    /// The 16-bit number at an offset.
    #[inline(always)]
    pub fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    /// The 32-bit number at an offset.
    #[inline(always)]
    pub fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    /// The 64-bit number at an offset.
    #[inline(always)]
    pub fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    /// Writes bytes at an offset.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Sets a bit of a bitmap that begins at an offset.
    pub fn set_bit(&mut self, at: usize, bit: usize) {
        self.bytes[at + bit / 8] |= 1 << (bit % 8);
    }

    /// Whether a bit of a bitmap that begins at an offset is set.
    #[inline(always)]
    pub fn bit(&self, at: usize, bit: usize) -> bool {
        self.bytes[at + bit / 8] >> (bit % 8) & 1 == 1
    }

    #[inline(always)]
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes[at..at + N].try_into().expect("as long as asked for")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_need_no_alignment() {
        let mut a = Arena::zeroed(3);
        let node = a.grow(16);
        a.put(node, &0x0102_0304_u32.to_le_bytes());
        a.put(node + 5, &7_u64.to_le_bytes());
        a.set_bit(node + 14, 9);
        assert_eq!((node, a.u32(3), a.u16(4), a.u8(3), a.u64(8)), (3, 0x0102_0304, 0x0203, 4, 7));
        assert!(a.bit(17, 9) && !a.bit(17, 8) && a.slice(17, 2) == [0, 2]);
    }
}
