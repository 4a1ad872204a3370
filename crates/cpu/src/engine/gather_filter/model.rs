//! How rare a window of bytes is likely to be: a model of data in general, for want of the haystack.
//!
//! The bits that each byte is worth, by its kind, for data that is half text and half binary: letters by their
//! rank in English, NUL and 0xFF as the fillers they are. A byte after its like is worth little, since both
//! kinds of data have runs.

/// Letters by how often English has them, most frequent first.
const BY_RANK: &[u8; 26] = b"etaoinsrhldcumfpgwybvkxjqz";

/// Bits of a byte that repeats the one before it.
const REPEATED: f32 = 2.5;

/// The bits that each byte is worth.
pub(super) struct Model([f32; 256]);

impl Model {
    pub(super) fn new() -> Self {
        let mut bits: [f32; 256] = std::array::from_fn(|byte| kind(byte as u8));
        for (rank, &letter) in BY_RANK.iter().enumerate() {
            bits[usize::from(letter)] = 3.8 + 0.25 * rank as f32;
            bits[usize::from(letter.to_ascii_uppercase())] = 6.5 + 0.15 * rank as f32;
        }
        Self(bits)
    }

    /// The probability that a position of some haystack begins with these bytes.
    pub(super) fn probability(&self, window: &[u8]) -> f32 {
        let mut last = None;
        let bits: f32 = window
            .iter()
            .map(|&byte| {
                let bits = self.0[usize::from(byte)];
                if last.replace(byte) == Some(byte) { bits.min(REPEATED) } else { bits }
            })
            .sum();
        (-bits).exp2()
    }
}

/// Bits of a byte that is no letter.
fn kind(byte: u8) -> f32 {
    match byte {
        0 => 2.0,
        0xff => 4.0,
        b' ' => 3.0,
        b'\n' | b'\r' | b'0' | b'1' => 5.5,
        b'!'..=b'~' => 6.5,
        _ => 7.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_letters_and_changing_bytes_are_worth_more() {
        let model = Model::new();
        let p = |window: &[u8]| model.probability(window);
        assert!(p(b"xylo") < p(b"tion") && p(b"tion") < p(b"eeee"));
        assert!(p(&[0x8b, 0x45, 0xfc, 0x89]) < p(&[0, 0, 0, 1]));
    }
}
