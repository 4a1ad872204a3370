//! The line around a match, cut if it is long.

use memchr::{memchr, memrchr};

/// Maximum width of a context in columns, which bounds the memory for a long line.
pub const MAX_COLUMNS: usize = 64 << 10;

/// A match and the line around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// The line before the match.
    pub before: &'a [u8],
    /// The match, which may span several lines.
    pub hit: &'a [u8],
    /// The rest of the line in which the match ends.
    pub after: &'a [u8],
    /// Whether the line starts before `before`.
    pub cut_before: bool,
    /// Whether the line continues after `after`, or the match after `hit`.
    pub cut_after: bool,
}

impl<'a> Context<'a> {
    /// Finds the context of the match `start..end` in `bytes`, about `columns` wide.
    ///
    /// `bytes` should contain `columns` bytes on each side of the match.
    ///
    /// ```
    /// use fyke_io::sink::Context;
    /// let text = b"one\nsome long line\n";
    /// let c = Context::of(text, 9..13, 80);
    /// assert_eq!((c.before, c.hit, c.after), (&b"some "[..], &b"long"[..], &b" line"[..]));
    /// let c = Context::of(text, 9..13, 6);
    /// assert_eq!((c.before, c.hit, c.after), (&b" "[..], &b"long"[..], &b" "[..]));
    /// assert!(c.cut_before && c.cut_after);
    /// ```
    pub fn of(bytes: &'a [u8], range: std::ops::Range<usize>, columns: usize) -> Self {
        let (start, end) = (range.start, range.end);
        let near = &bytes[start.saturating_sub(columns)..start];
        let line_before = &near[memrchr(b'\n', near).map_or(0, |at| at + 1)..];
        let line_after = rest_of_line(bytes, end, columns);
        let hit = Fit::front(&bytes[start..end], columns);
        let room = columns - hit.width;
        let (before, after) = share(line_before, line_after, room);
        let hit_is_cut = hit.bytes.len() < end - start;
        let after = if hit_is_cut { &[] } else { after.bytes };
        let line_start = start - before.bytes.len();
        Context {
            before: before.bytes,
            hit: hit.bytes,
            after,
            cut_before: line_start > 0 && bytes[line_start - 1] != b'\n',
            cut_after: after.len() < line_after.len() || hit_is_cut,
        }
    }
}

/// Shares `room` columns: each side gets half, plus what the other side does not use.
fn share<'a>(before: &'a [u8], after: &'a [u8], room: usize) -> (Fit<'a>, Fit<'a>) {
    let (left, right) = (Fit::back(before, room), Fit::front(after, room));
    let half = room / 2;
    if left.width + right.width <= room {
        (left, right)
    } else if left.width <= half {
        (left, Fit::front(after, room - left.width))
    } else if right.width <= half {
        (Fit::back(before, room - right.width), right)
    } else {
        (Fit::back(before, half), Fit::front(after, room - half))
    }
}

/// The bytes from `at` to LF or CRLF; none if the line ends before `at`.
fn rest_of_line(bytes: &[u8], at: usize, columns: usize) -> &[u8] {
    if bytes[..at].last() == Some(&b'\n') {
        return &[];
    }
    let far = bytes.len().min(at + columns + 1);
    let line = &bytes[at..far];
    let line = &line[..memchr(b'\n', line).unwrap_or(line.len())];
    if at + line.len() < far { line.strip_suffix(b"\r").unwrap_or(line) } else { line }
}

/// Columns that a printed byte takes: one, or four as `\xNN`.
const WIDTH: [u8; 256] = {
    let mut width = [1; 256];
    let mut b = 0;
    while b < 256 {
        if b < 0x20 && b != 9 || b == 0x7f {
            width[b] = 4;
        }
        b += 1;
    }
    width
};

/// Bytes that fit into a number of columns, and their width. Characters are not split.
#[derive(Clone, Copy)]
struct Fit<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl<'a> Fit<'a> {
    /// The longest prefix that fits.
    fn front(bytes: &'a [u8], columns: usize) -> Self {
        let (mut len, width) = fitting(bytes.iter(), columns);
        let most = len;
        while len > 0 && len < bytes.len() && most - len < 3 && is_continuation(bytes[len]) {
            len -= 1;
        }
        Fit { bytes: &bytes[..len], width: width - (most - len) }
    }

    /// The longest suffix that fits.
    fn back(bytes: &'a [u8], columns: usize) -> Self {
        let (len, width) = fitting(bytes.iter().rev(), columns);
        let tail = &bytes[bytes.len() - len..];
        let part = if len < bytes.len() { 3 } else { 0 };
        let skip = tail.iter().take(part).take_while(|&&b| is_continuation(b)).count();
        Fit { bytes: &tail[skip..], width: width - skip }
    }
}

/// The number of bytes that fit, and their width.
fn fitting<'b>(bytes: impl Iterator<Item = &'b u8>, columns: usize) -> (usize, usize) {
    let (mut count, mut width) = (0, 0);
    for &b in bytes {
        let next = width + usize::from(WIDTH[usize::from(b)]);
        if next > columns {
            break;
        }
        (count, width) = (count + 1, next);
    }
    (count, width)
}

/// Whether a byte continues a UTF-8 character.
fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8], range: std::ops::Range<usize>, columns: usize) -> String {
        let c = Context::of(text, range, columns);
        let s = |b| String::from_utf8_lossy(b).into_owned();
        let cut = |yes| if yes { "..." } else { "" };
        format!(
            "{}{}[{}]{}{}",
            cut(c.cut_before),
            s(c.before),
            s(c.hit),
            s(c.after),
            cut(c.cut_after)
        )
    }

    #[test]
    fn whole_lines() {
        assert_eq!(shown(b"ab\ncde\nf", 4..5, 9), "c[d]e");
        assert_eq!(shown(b"ab\r\ncd\r\n", 4..5, 9), "[c]d");
        assert_eq!(shown(b"abc", 0..3, 9), "[abc]");
        assert_eq!(shown(b"\n\n", 1..2, 9), "[\n]");
        assert_eq!(shown(b"ab\ncd\nef", 1..4, 9), "a[b\nc]d");
        assert_eq!(shown(b"ab\r\n", 1..2, 9), "a[b]");
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = b"0123456789M0123456789";
        assert_eq!(shown(line, 10..11, 7), "...789[M]012...");
        assert_eq!(shown(line, 0..1, 7), "[0]123456...");
        assert_eq!(shown(line, 20..21, 7), "...345678[9]");
        assert_eq!(shown(line, 3..15, 5), "...[34567]...");
        assert_eq!(shown(line, 10..11, 21), "0123456789[M]0123456789");
    }

    #[test]
    fn bytes_that_are_escaped_are_wide_and_characters_stay_whole() {
        assert_eq!(shown(b"\0\0\0M\0\0\0", 3..4, 9), "...\0[M]\0...");
        let text = "ééMéé".as_bytes();
        assert_eq!(shown(text, 4..5, 4), "...[M]é...");
        assert_eq!(shown(text, 4..5, 5), "...é[M]é...");
    }
}
