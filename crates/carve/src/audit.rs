//! The audit file: what was carved, as text for people, in the shape of Scalpel 1.60's.
//!
//! Rows are in the order of the files' numbers. Scalpel's are in the order in which it closes
//! files, so rows are compared sorted.

use crate::compat::Compat;
use crate::file::CarvedFile;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// The name of the audit file in the output folder.
pub const FILE_NAME: &str = "audit.txt";

/// What the head of an audit file says.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    /// Whose first line to write.
    pub compat: Compat,
    /// When the carve began.
    pub started: SystemTime,
    /// The words of the command line.
    pub command: &'a [String],
    /// The absolute path of the output folder.
    pub output: &'a str,
    /// The path of the configuration.
    pub conf: &'a str,
}

/// Writes an audit file.
#[derive(Debug)]
pub struct Audit<W> {
    out: W,
    has_validity: bool,
}

impl<W: Write> Audit<W> {
    /// Writes the head.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn new(mut out: W, head: &Head<'_>) -> io::Result<Self> {
        match head.compat {
            Compat::None => {
                writeln!(out, "\nfyke version {} audit file", env!("CARGO_PKG_VERSION"))?;
            }
            Compat::Scalpel160 => writeln!(out, "\nScalpel version 1.60 audit file")?,
        }
        writeln!(out, "Started at {}\nCommand line:", ctime(head.started))?;
        for word in head.command {
            write!(out, "{word} ")?;
        }
        write!(out, "\n\nOutput directory: {}\nConfiguration file: {}\n", head.output, head.conf)?;
        Ok(Self { out, has_validity: false })
    }

    /// Writes a head that depends on the carve only: no times, no command line, no folder.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn timeless(mut out: W, program: &str, compat: Compat, conf: &str) -> io::Result<Self> {
        match compat {
            Compat::None => match program.split_once(' ') {
                Some((name, version)) => writeln!(out, "\n{name} version {version} audit file")?,
                None => writeln!(out, "\n{program} audit file")?,
            },
            Compat::Scalpel160 => writeln!(out, "\nScalpel version 1.60 audit file")?,
        }
        writeln!(out, "\nConfiguration file: {conf}")?;
        Ok(Self { out, has_validity: false })
    }

    /// Adds a column that says whether files are valid. To be called before the first image.
    pub fn with_validity(&mut self) {
        self.has_validity = true;
    }

    /// Begins the rows of an image. `path` is its absolute path, `name` what the user called it.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn image(&mut self, path: &str, name: &str, skip: u64) -> io::Result<()> {
        write!(self.out, "\nOpening target \"{path}\"\n\n")?;
        if skip > 0 {
            writeln!(self.out, "Skipped the first {skip} bytes of {name}...")?;
        }
        writeln!(self.out, "The following files were carved:")?;
        let valid = if self.has_validity { "\t\tValid" } else { "" };
        writeln!(self.out, "File\t\t  Start\t\t\tChop\t\tLength\t\tExtracted From{valid}")
    }

    /// Writes a row. `name` is the file's name without folders, `image` the image's.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn row(&mut self, name: &str, file: &CarvedFile, image: &str) -> io::Result<()> {
        let chopped = if file.chopped { "YES   " } else { "NO    " };
        let CarvedFile { start, len, .. } = file;
        write!(self.out, "{name}{start:13}\t\t{chopped}{len:13}\t\t{image}")?;
        if self.has_validity {
            write!(self.out, "\t\t{}", file.valid.word())?;
        }
        writeln!(self.out)
    }

    /// Flushes the writer.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn complete(mut self, now: SystemTime) -> io::Result<()> {
        write!(self.out, "\n\nCompleted at {}\n", ctime(now))?;
        self.out.flush()
    }
}

/// A time as C's `ctime` writes it, in UTC.
fn ctime(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, second) = (since / 86_400, since % 86_400);
    let (year, month, day) = date(days);
    let name = |names: &str, index: u64| names[index as usize * 3..][..3].to_string();
    let weekday = name("ThuFriSatSunMonTueWed", days % 7);
    let month = name("JanFebMarAprMayJunJulAugSepOctNovDec", month);
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60];
    format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
}

/// Year, month from 0 and day of a number of days since 1970.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as u64, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Validity;

    #[test]
    fn a_timeless_file_has_what_the_carve_has() {
        let mut bytes = Vec::new();
        let mut audit = Audit::timeless(&mut bytes, "fyke 9.9", Compat::None, "c").unwrap();
        audit.with_validity();
        audit.image("/i/a.img", "a.img", 0).unwrap();
        let valid = Validity::Yes;
        let file = CarvedFile { number: 0, rule: 0, start: 7, len: 12, chopped: false, valid };
        audit.row("00000000.gif", &file, "a.img").unwrap();
        audit.flush().unwrap();
        let expected = "\nfyke version 9.9 audit file\n\nConfiguration file: c\n\
            \nOpening target \"/i/a.img\"\n\nThe following files were carved:\n\
            File\t\t  Start\t\t\tChop\t\tLength\t\tExtracted From\t\tValid\n\
            00000000.gif            7\t\tNO               12\t\ta.img\t\tyes\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn times() {
        let at = |seconds| ctime(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(at(951_782_399), "Mon Feb 28 23:59:59 2000");
        assert_eq!(at(951_782_400), "Tue Feb 29 00:00:00 2000");
        assert_eq!(at(4_107_542_400), "Mon Mar  1 00:00:00 2100");
        assert_eq!(at(1_767_225_599), "Wed Dec 31 23:59:59 2025");
    }

    #[test]
    fn the_shape_is_scalpels() {
        let command = ["scalpel".to_string(), "a.img".to_string()];
        let head = Head {
            compat: Compat::Scalpel160,
            started: SystemTime::UNIX_EPOCH,
            command: &command,
            output: "/o",
            conf: "c",
        };
        let mut bytes = Vec::new();
        let mut audit = Audit::new(&mut bytes, &head).unwrap();
        audit.image("/i/a.img", "a.img", 5).unwrap();
        let valid = Validity::Unknown;
        let file = CarvedFile { number: 0, rule: 0, start: 7, len: 12, chopped: true, valid };
        audit.row("00000000.gif", &file, "a.img").unwrap();
        audit.complete(SystemTime::UNIX_EPOCH).unwrap();
        let expected = "\nScalpel version 1.60 audit file\nStarted at Thu Jan  1 00:00:00 1970\n\
            Command line:\nscalpel a.img \n\nOutput directory: /o\nConfiguration file: c\n\
            \nOpening target \"/i/a.img\"\n\nSkipped the first 5 bytes of a.img...\n\
            The following files were carved:\nFile\t\t  Start\t\t\tChop\t\tLength\t\tExtracted From\n\
            00000000.gif            7\t\tYES              12\t\ta.img\n\
            \n\nCompleted at Thu Jan  1 00:00:00 1970\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
