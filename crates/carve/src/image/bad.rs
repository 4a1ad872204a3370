//! Reads past bad sectors.
//!
//! A read that fails is repeated for its halves, down to single sectors. A sector that still fails
//! is skipped: its bytes are unknown, and no hit contains one. Everything around it is read.
//! Reads are cut at multiples of [`SECTOR`], so what is skipped does not depend on the buffers.

use super::Image;
use std::io;
use std::ops::Range;

/// The smallest unit that is read or skipped.
pub const SECTOR: u64 = 512;

/// Fills `buf` with the bytes from `offset` on, which are all within the image, and returns the
/// ranges of the image that could not be read. Their bytes in `buf` are zero.
///
/// # Errors
/// The image ends before the buffer is full, or the error is not that of a sector: the device is
/// gone, or reading is not permitted.
pub fn read_readable(
    image: &dyn Image,
    offset: u64,
    buf: &mut [u8],
) -> io::Result<Vec<Range<u64>>> {
    let mut bad = Vec::new();
    let filled = read_available(image, offset, buf, &mut bad)?;
    match filled == buf.len() {
        true => Ok(bad),
        false => Err(shrunk(image, offset + filled as u64)),
    }
}

/// The same for a buffer that the image may end in: returns how many bytes there are, and adds the
/// ranges that could not be read to `bad`.
pub(crate) fn read_available(
    image: &dyn Image,
    offset: u64,
    buf: &mut [u8],
    bad: &mut Vec<Range<u64>>,
) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        let at = offset + done as u64;
        match image.read_at(at, &mut buf[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_fatal(&error) => return Err(error),
            Err(_) => return Ok(done + read_halves(image, at, &mut buf[done..], bad)?),
        }
    }
    Ok(done)
}

/// Reads the halves of a range that failed. A single sector that fails is skipped.
fn read_halves(
    image: &dyn Image,
    offset: u64,
    buf: &mut [u8],
    bad: &mut Vec<Range<u64>>,
) -> io::Result<usize> {
    let end = offset + buf.len() as u64;
    let middle = (offset + buf.len() as u64 / 2).next_multiple_of(SECTOR);
    // A range of up to a sector, or of parts of two, has at most one boundary to cut at.
    let first_boundary = (offset + 1).next_multiple_of(SECTOR);
    let cut = if middle < end { middle } else { first_boundary };
    if cut >= end {
        // A failed read may have written some of it.
        buf.fill(0);
        add(bad, offset..end);
        return Ok(buf.len());
    }
    let (left, right) = buf.split_at_mut((cut - offset) as usize);
    let filled = read_available(image, offset, left, bad)?;
    if filled < left.len() {
        return Ok(filled);
    }
    Ok(filled + read_available(image, cut, right, bad)?)
}

/// Adds a range after the others, and joins it with the last one if they touch.
fn add(bad: &mut Vec<Range<u64>>, range: Range<u64>) {
    match bad.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => bad.push(range),
    }
}

/// Whether an error says nothing about a sector, so that reading on is of no use.
fn is_fatal(error: &io::Error) -> bool {
    #[cfg(unix)]
    let gone = {
        use rustix::io::Errno;
        let codes =
            [Errno::NODEV, Errno::NXIO, Errno::BADF, Errno::NOMEM, Errno::INVAL, Errno::STALE];
        error.raw_os_error().is_some_and(|code| codes.iter().any(|e| e.raw_os_error() == code))
    };
    #[cfg(not(unix))]
    let gone = false;
    gone || matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound
    )
}

fn shrunk(image: &dyn Image, at: u64) -> io::Error {
    let message = format!(
        "it ended at {at} of {} bytes: it shrank while it was read, or its length is wrong",
        image.len()
    );
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeImage;
    use super::*;

    #[test]
    fn bad_sectors_are_skipped_and_the_rest_is_read() {
        let bytes: Vec<u8> = (0..20_000_u32).map(|n| (n % 251) as u8 + 1).collect();
        let image = FakeImage::new(bytes.clone()).failing([1000..1001, 5120..7000, 19_999..20_000]);
        let mut buf = vec![9; 20_000];
        let bad = read_readable(&image, 0, &mut buf).unwrap();
        assert_eq!(bad, [512..1024, 5120..7168, 19_968..20_000]);
        let is_bad = |at: usize| bad.iter().any(|range| range.contains(&(at as u64)));
        for (at, byte) in buf.iter().enumerate() {
            assert_eq!(*byte, if is_bad(at) { 0 } else { bytes[at] }, "{at}");
        }
    }

    #[test]
    fn what_is_skipped_does_not_depend_on_the_reads() {
        let image =
            FakeImage::new(vec![1; 50_000]).failing([3000..3100, 8000..20_000, 30_720..30_721]);
        let whole = read_readable(&image, 0, &mut vec![0; 50_000]).unwrap();
        for size in [512, 1024, 4096, 10_240] {
            let mut parts = Vec::new();
            for at in (0..50_000_u64).step_by(size) {
                let mut buf = vec![0; size.min((50_000 - at) as usize)];
                for range in read_readable(&image, at, &mut buf).unwrap() {
                    add(&mut parts, range);
                }
            }
            assert_eq!(parts, whole, "reads of {size}");
        }
    }

    #[test]
    fn an_image_that_shrinks_is_an_error() {
        let image = FakeImage::new(vec![1; 1000]).that_says(2000);
        let error = read_readable(&image, 0, &mut vec![0; 2000]).unwrap_err();
        assert!(error.to_string().contains("1000 of 2000"), "{error}");
    }
}
