//! Opens images, and says why one cannot be opened.

use super::Image;
use super::format::{Format, format};
use super::raw::RawImage;
use super::split::SplitImage;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an image cannot be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImageError {
    /// The system refuses, or there is no such file.
    Open {
        /// The image.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The path is a folder.
    Folder(PathBuf),
    /// A part of a split image is missing, and a later one is there.
    MissingPart {
        /// The first part.
        first: PathBuf,
        /// The missing part.
        missing: PathBuf,
    },
    /// A segment of an E01 image is missing.
    MissingSegment {
        /// The first segment.
        first: PathBuf,
        /// The missing segment.
        missing: PathBuf,
    },
    /// A segment of an E01 image is cut, corrupt or not the right one.
    Damaged {
        /// The segment.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The image is packed in a format that is not read.
    Format {
        /// The image.
        path: PathBuf,
        /// The format, and what to do.
        why: String,
    },
}

impl ImageError {
    pub(super) fn open(path: &Path, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::IsADirectory {
            return Self::Folder(path.to_owned());
        }
        Self::Open { path: path.to_owned(), error }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { path, error } => {
                write!(f, "cannot open the image {}: {error}", path.display())
            }
            Self::Folder(path) => write!(
                f,
                "{} is a folder: give an image, the first part of a split image, or a device",
                path.display()
            ),
            Self::MissingPart { first, missing } => write!(
                f,
                "the split image {} has no part {}, but later parts exist: add it, or move them away",
                first.display(),
                missing.display()
            ),
            Self::MissingSegment { first, missing } => write!(
                f,
                "the E01 image {} continues in {}, which is missing",
                first.display(),
                missing.display()
            ),
            Self::Damaged { path, why } => {
                write!(f, "cannot read the E01 image segment {}: {why}", path.display())
            }
            Self::Format { path, why } => write!(f, "cannot read {}: {why}", path.display()),
        }
    }
}

/// Messages are whole: they contain that of the cause, so there is no source.
impl std::error::Error for ImageError {}

/// Opens a raw image, a block device, a split raw image by its first part, or an E01 image by its
/// first segment.
///
/// A file `disk.001` or `disk.aa` is the first part if `disk.002` or `disk.ab` is beside it. A
/// later part is an image of its own.
///
/// # Errors
/// There is no such file, it is a folder or cannot be read, a part in the middle is missing, an E01
/// image is damaged, or the format is not read: E01 needs the feature `e01`.
pub fn open(path: &Path) -> Result<Box<dyn Image>, ImageError> {
    let image = RawImage::open(path).map_err(|e| ImageError::open(path, e))?;
    match format(path).map_err(|e| ImageError::open(path, e))? {
        Format::Raw if is_named_e01(path) => {
            let why = "it does not begin as an E01 image: it is damaged, or its name is wrong";
            return Err(ImageError::Damaged { path: path.to_owned(), why: why.into() });
        }
        Format::Raw => {}
        Format::Ewf => return open_ewf(path),
        Format::Other(name) => {
            let why = format!(
                "it is an {name}, which fyke does not read: convert it to a raw image first"
            );
            return Err(ImageError::Format { path: path.to_owned(), why });
        }
    }
    match SplitImage::parts(path)? {
        Some(parts) => Ok(Box::new(SplitImage::open(&parts)?)),
        None => Ok(Box::new(image)),
    }
}

fn is_named_e01(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("E01"))
}

#[cfg(feature = "e01")]
fn open_ewf(path: &Path) -> Result<Box<dyn Image>, ImageError> {
    Ok(Box::new(super::ewf::EwfImage::open(path)?))
}

#[cfg(not(feature = "e01"))]
fn open_ewf(path: &Path) -> Result<Box<dyn Image>, ImageError> {
    let why = "it is an E01 image, and this build cannot read E01: build with `--features e01`, or \
         convert it by `ewfexport -f raw`";
    Err(ImageError::Format { path: path.to_owned(), why: why.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn all(image: &dyn Image, at_once: usize) -> Vec<u8> {
        let (mut bytes, mut buf) = (Vec::new(), vec![0; at_once]);
        while let n @ 1.. = image.read_at(bytes.len() as u64, &mut buf).unwrap() {
            bytes.extend_from_slice(&buf[..n]);
        }
        bytes
    }

    #[test]
    fn a_file_is_an_image() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.raw");
        fs::write(&path, b"0123456789").unwrap();
        let image = open(&path).unwrap();
        assert_eq!((image.len(), all(&*image, 3)), (10, b"0123456789".to_vec()));
        assert_eq!(image.read_at(10, &mut [0; 4]).unwrap(), 0);
    }

    #[test]
    fn parts_are_one_image() {
        let folder = tempfile::tempdir().unwrap();
        for names in
            [["d.001", "d.002", "d.003"], ["e.aa", "e.ab", "e.ac"], ["f.00", "f.01", "f.02"]]
        {
            for (name, bytes) in names.iter().zip(["0123", "", "456789"]) {
                fs::write(folder.path().join(name), bytes).unwrap();
            }
            let image = open(&folder.path().join(names[0])).unwrap();
            for at_once in [1, 3, 4, 5, 100] {
                assert_eq!(all(&*image, at_once), b"0123456789", "{names:?}");
            }
            assert_eq!(image.len(), 10);
            let second = open(&folder.path().join(names[2])).unwrap();
            assert_eq!(second.len(), 6, "a later part is an image of its own");
        }
    }

    #[test]
    fn a_missing_part_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["d.001", "d.002", "d.004"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let error = open(&folder.path().join("d.001")).err().unwrap().to_string();
        assert!(error.contains("no part") && error.contains("d.003"), "{error}");
    }

    #[test]
    fn a_single_part_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("d.001"), "0123").unwrap();
        assert_eq!(open(&folder.path().join("d.001")).unwrap().len(), 4);
    }

    #[test]
    fn what_is_no_image_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("is a folder"), "{error}");
        let error = open(&folder.path().join("none")).err().unwrap().to_string();
        assert!(error.contains("none"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn pipes_and_devices_without_bytes_are_refused() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for (path, word) in [(&*pipe, "pipe"), (Path::new("/dev/null"), "device")] {
            let error = open(path).err().unwrap().to_string();
            assert!(error.contains(word) && error.contains("the name -"), "{error}");
        }
    }

    #[test]
    fn a_packed_format_is_not_carved_as_raw_bytes() {
        let folder = tempfile::tempdir().unwrap();
        for (name, start, word) in [
            ("disk.E01", &b"EVF\x09\x0d\x0a\xff\x00"[..], "E01 image"),
            ("disk.raw", b"EVF\x09\x0d\x0a\xff\x00", "E01 image"),
            ("disk.Ex01", b"EVF2\x0d\x0a\x81\x00", "Ex01"),
            ("files.L01", b"LVF\x09\x0d\x0a\xff\x00", "L01"),
            ("damaged.e01", b"EVX\x09\x0d\x0a\xff\x00", "does not begin as an E01 image"),
            ("empty.e01", b"", "does not begin as an E01 image"),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, [start, &[0; 9]].concat()).unwrap();
            let error = open(&path).err().unwrap().to_string();
            assert!(error.contains(word) && error.contains(name), "{error}");
            #[cfg(not(feature = "e01"))]
            assert_eq!(error.contains("--features e01"), word == "E01 image", "{error}");
        }
    }
}
