//! Numbers on the command line: sizes in bytes, counts and threads, and counts in messages.
//!
//! Every parser checks a range, and its error names that range.

use std::fmt::Display;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::thread;

/// More threads than any machine has cores: a larger number is a typing error.
const MAX_THREADS: usize = 1024;

/// A parser for a number of a range.
pub(crate) fn within<N>(
    range: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static
where
    N: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.trim().parse().ok().filter(|n| range.contains(n));
        number.ok_or_else(|| format!("give a number from {} to {}", range.start(), range.end()))
    }
}

/// Parses the value of `-j`; 0 means one thread per CPU.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match within(0..=MAX_THREADS)(text)? {
        0 => Ok(thread::available_parallelism().map_or(1, NonZero::get)),
        n => Ok(n),
    }
}

/// Parses a size such as `64M`: a number of bytes, with a suffix for a power of 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_suffix("IB").or(upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, shift) = match bare.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(digits) => (digits, 10 * (1 + "KMGT".find(&bare[digits.len()..]).unwrap_or(0))),
        None => (bare, 0),
    };
    let digits = digits.trim_end();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("give a number of bytes, optionally with suffix K, M, G or T".to_owned());
    }
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("the limit is {} bytes: give a smaller size", u64::MAX))
}

/// A number and what it counts: `1 file`, `2 files`.
pub(crate) fn counted(n: impl TryInto<u64>, what: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(1_000_000, "pattern"), "1000000 patterns");
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("12", 12),
            ("12B", 12),
            ("4k", 4096),
            ("1M", 1 << 20),
            ("2GiB", 2 << 30),
            ("1T", 1 << 40),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "1.5G", "-1", "+1", "12X", "1KK", "1BB", "1IIB", "1K1"] {
            assert!(size(text).unwrap_err().contains("number of bytes"), "{text}");
        }
        for text in ["99999999999T", "18446744073709551616"] {
            assert!(size(text).unwrap_err().contains("limit is 18446744073709551615"), "{text}");
        }
    }

    #[test]
    fn numbers_name_their_range() {
        let parse = within(1..=9);
        assert_eq!((parse("1"), parse(" 9 ")), (Ok(1), Ok(9)));
        for text in ["", "0", "10", "-1", "1.0", "18446744073709551616"] {
            assert_eq!(parse(text), Err("give a number from 1 to 9".to_owned()), "{text}");
        }
    }

    #[test]
    fn zero_threads_are_one_per_cpu() {
        assert_eq!(threads("3"), Ok(3));
        assert!(threads("0").unwrap() >= 1);
        assert!(threads("1025").unwrap_err().contains("0 to 1024"));
    }
}
