//! The names of segments: `.E01` to `.E99`, then `.EAA` to `.ZZZ`.

use std::path::{Path, PathBuf};

/// The path of a segment, counted from 1, beside the first one. None if there is no such name.
pub(super) fn segment_path(first: &Path, number: u16) -> Option<PathBuf> {
    let extension = first.extension()?.to_str()?;
    let letter = *extension.as_bytes().first().filter(|b| b.is_ascii_alphabetic())?;
    let suffix = suffix(letter.to_ascii_uppercase(), number)?;
    let is_lower = letter.is_ascii_lowercase();
    Some(first.with_extension(if is_lower { suffix.to_ascii_lowercase() } else { suffix }))
}

fn suffix(letter: u8, number: u16) -> Option<String> {
    if number <= 99 {
        return Some(format!("{}{number:02}", char::from(letter)));
    }
    let index = number - 100;
    let first = u16::from(letter) + index / (26 * 26);
    let first = u8::try_from(first).ok().filter(u8::is_ascii_uppercase)?;
    let digit = |n: u16| char::from(b'A' + (n % 26) as u8);
    Some([char::from(first), digit(index / 26), digit(index)].iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_numbered_by_digits_then_letters() {
        let name = |first: &str, number| {
            segment_path(Path::new(first), number).map(|path| path.display().to_string())
        };
        for (number, expected) in
            [(1, "E01"), (99, "E99"), (100, "EAA"), (125, "EAZ"), (126, "EBA"), (776, "FAA")]
        {
            assert_eq!(name("d/a.b.E01", number), Some(format!("d/a.b.{expected}")));
            let lower = expected.to_ascii_lowercase();
            assert_eq!(name("d/a.b.e01", number), Some(format!("d/a.b.{lower}")));
        }
        assert_eq!(name("a.E01", 100 + 22 * 676 - 1).as_deref(), Some("a.ZZZ"));
        assert_eq!(name("a.E01", 100 + 22 * 676), None);
        assert_eq!(name("a", 2), None);
        assert_eq!(name("a.001", 2), None);
    }
}
