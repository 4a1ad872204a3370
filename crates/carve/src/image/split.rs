//! A split raw image: parts `.001 .002 ...` or `.aa .ab ...`, read as one.

use super::raw::RawImage;
use super::{Image, ImageError};
use std::io;
use std::path::{Path, PathBuf};

/// Parts, one after the other.
#[derive(Debug)]
pub(super) struct SplitImage {
    name: String,
    /// Where each part begins, and the part. None is empty.
    parts: Vec<(u64, RawImage)>,
    len: u64,
}

/// How parts are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    /// Decimal digits, the first part having this number: 0 or 1.
    Digits(u64),
    /// Letters, from `aa` on.
    Letters,
}

impl SplitImage {
    /// The paths of all parts, if `path` is the first part of a split image of several parts.
    pub(super) fn parts(path: &Path) -> Result<Option<Vec<PathBuf>>, ImageError> {
        let Some((stem, extension)) = split_name(path) else { return Ok(None) };
        let Some(numbering) = numbering(extension) else { return Ok(None) };
        let width = extension.len();
        let part = |index: u64| suffix(numbering, width, index).map(|s| sibling(path, stem, &s));
        let present = |index: u64| part(index).is_some_and(|p| p.is_file());
        let count = (0..).take_while(|&index| present(index)).count() as u64;
        let last = last_present(path, stem, numbering, width);
        match last {
            Some(last) if last >= count => Err(ImageError::MissingPart {
                first: path.to_owned(),
                missing: part(count).unwrap_or_default(),
            }),
            _ if count < 2 => Ok(None),
            _ => Ok(Some((0..count).filter_map(part).collect())),
        }
    }

    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, ImageError> {
        let name = paths[0].display().to_string();
        let (mut parts, mut len) = (Vec::new(), 0_u64);
        for path in paths {
            let part = RawImage::open(path).map_err(|e| ImageError::open(path, e))?;
            let at = len;
            len += part.len();
            if !part.is_empty() {
                parts.push((at, part));
            }
        }
        Ok(Self { name, parts, len })
    }

    /// The part with the byte at an offset, and the offset there.
    fn part_of(&self, offset: u64) -> Option<(&RawImage, u64)> {
        let index = self.parts.partition_point(|(at, _)| *at <= offset).checked_sub(1)?;
        let (at, part) = &self.parts[index];
        Some((part, offset - at))
    }
}

impl Image for SplitImage {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Some((part, at)) = self.part_of(offset).filter(|_| offset < self.len) else {
            return Ok(0);
        };
        let rest = usize::try_from(part.len() - at).unwrap_or(usize::MAX);
        let take = buf.len().min(rest);
        part.read_at(at, &mut buf[..take])
    }

    fn prefetch(&self, offset: u64, len: usize) {
        if let Some((part, at)) = self.part_of(offset) {
            part.prefetch(at, len);
        }
    }
}

/// The name without the extension, and the extension.
fn split_name(path: &Path) -> Option<(&str, &str)> {
    path.file_name()?.to_str()?.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
}

/// The numbering whose first part has this extension.
fn numbering(extension: &str) -> Option<Numbering> {
    let digits = extension.len() >= 2 && extension.bytes().all(|b| b.is_ascii_digit());
    match extension.parse() {
        Ok(first @ (0 | 1)) if digits => Some(Numbering::Digits(first)),
        _ if extension.len() >= 2 && extension.bytes().all(|b| b == b'a') => {
            Some(Numbering::Letters)
        }
        _ => None,
    }
}

/// The extension of part `index`, counted from 0. None if its width does not suffice.
fn suffix(numbering: Numbering, width: usize, index: u64) -> Option<String> {
    match numbering {
        Numbering::Digits(first) => {
            let text = format!("{:0width$}", index + first);
            (text.len() == width).then_some(text)
        }
        Numbering::Letters => {
            let mut letters = vec![b'a'; width];
            let mut rest = index;
            for letter in letters.iter_mut().rev() {
                *letter += (rest % 26) as u8;
                rest /= 26;
            }
            (rest == 0).then(|| letters.into_iter().map(char::from).collect())
        }
    }
}

/// The index of the part with this extension.
fn index(numbering: Numbering, width: usize, extension: &str) -> Option<u64> {
    if extension.len() != width {
        return None;
    }
    match numbering {
        Numbering::Digits(first) if extension.bytes().all(|b| b.is_ascii_digit()) => {
            extension.parse::<u64>().ok()?.checked_sub(first)
        }
        Numbering::Letters if extension.bytes().all(|b| b.is_ascii_lowercase()) => extension
            .bytes()
            .try_fold(0_u64, |n, b| n.checked_mul(26)?.checked_add(u64::from(b - b'a'))),
        _ => None,
    }
}

/// The highest index of a part in the folder. If it comes after a gap, parts are missing.
fn last_present(path: &Path, stem: &str, numbering: Numbering, width: usize) -> Option<u64> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names =
        folder.read_dir().ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| {
            let (other, extension) = name.rsplit_once('.')?;
            (other == stem).then(|| index(numbering, width, extension))?
        })
        .max()
}

fn sibling(path: &Path, stem: &str, suffix: &str) -> PathBuf {
    path.with_file_name(format!("{stem}.{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_by_digits_and_letters() {
        let digits = numbering("001").unwrap();
        assert_eq!((digits, numbering("000")), (Numbering::Digits(1), Some(Numbering::Digits(0))));
        assert_eq!(suffix(digits, 3, 9).as_deref(), Some("010"));
        assert_eq!(suffix(digits, 3, 999), None);
        assert_eq!(index(digits, 3, "010"), Some(9));
        let letters = numbering("aa").unwrap();
        assert_eq!(suffix(letters, 2, 27).as_deref(), Some("bb"));
        assert_eq!(suffix(letters, 2, 26 * 26), None);
        assert_eq!(index(letters, 2, "bb"), Some(27));
        for other in ["raw", "1", "a", "002", "ab", "dd", ""] {
            assert_eq!(numbering(other), None, "{other}");
        }
    }
}
