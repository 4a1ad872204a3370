//! Sizes in bytes: `64 B`, `16 KiB`, `25 MiB`, `1 GiB`, or a plain number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub usize);

const UNITS: &[(&str, usize)] = &[("B", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30)];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a size: write a number and B, KiB, MiB or GiB");
        let text = text.trim();
        let cut = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(cut);
        let number: usize = number.parse().map_err(|_| bad())?;
        let unit = if unit.trim().is_empty() { "B" } else { unit.trim() };
        let shift = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?.1;
        number.checked_mul(1 << shift).map(Size).ok_or_else(bad)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |&&(_, shift): &&(&str, usize)| self.0 >= 1 << shift;
        let (unit, shift) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
        let whole = self.0.is_multiple_of(1 << shift);
        let digits = if whole { 0 } else { 1 };
        write!(f, "{:.digits$} {unit}", self.0 as f64 / (1u64 << shift) as f64)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(usize),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(n) => Ok(Size(n)),
            Written::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        assert_eq!("64 B".parse(), Ok(Size(64)));
        assert_eq!("64".parse(), Ok(Size(64)));
        assert_eq!("16KiB".parse(), Ok(Size(16 << 10)));
        assert_eq!(Size(3 << 20).to_string(), "3 MiB");
        assert_eq!(Size(1536).to_string(), "1.5 KiB");
        assert_eq!(Size(0).to_string(), "0 B");
        assert!("1 MB".parse::<Size>().is_err());
        assert!("9999999999999 GiB".parse::<Size>().is_err());
    }
}
