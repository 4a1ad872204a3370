//! Digital Forensics XML, which other forensic tools read: one `fileobject` per file.
//!
//! Elements and their order are those of the schema, version 1.1.0 (dfxml.xsd of the DFXML working
//! group). It has no elements for chopped files and validity.

use super::{Entry, Listing};
use std::fmt;
use std::io::{self, Write};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<dfxml xmlns=\"http://www.forensicswiki.org/wiki/Category:Digital_Forensics_XML\" \
xmlns:dc=\"http://purl.org/dc/elements/1.1/\" version=\"1.1.0\">
  <metadata>
    <dc:type>Carve Report</dc:type>
  </metadata>
";

/// Writes the list as DFXML.
///
/// # Errors
///
/// If `out` cannot be written.
///
/// # Panics
///
/// If a file has no name or no rule.
pub fn write(out: &mut dyn Write, listing: &Listing<'_>) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    let (program, version) =
        listing.run.program.split_once(' ').unwrap_or((&listing.run.program, ""));
    write!(
        out,
        "  <creator>\n    <program>{}</program>\n    <version>{}</version>\n  </creator>\n",
        Escaped(program),
        Escaped(version)
    )?;
    let image = Escaped(&listing.run.image);
    write!(out, "  <source>\n    <image_filename>{image}</image_filename>\n  </source>\n")?;
    listing.entries().try_for_each(|entry| write_file(out, &entry))?;
    out.write_all(b"</dfxml>\n")
}

fn write_file(out: &mut dyn Write, entry: &Entry<'_>) -> io::Result<()> {
    let Entry { file, name, sha256, .. } = entry;
    let (number, start, len) = (file.number, file.start, file.len);
    write!(
        out,
        "  <fileobject>
    <filename>{}</filename>
    <id>{number}</id>
    <name_type>r</name_type>
    <filesize>{len}</filesize>
    <byte_runs>
      <byte_run file_offset=\"0\" img_offset=\"{start}\" len=\"{len}\"/>
    </byte_runs>
",
        Escaped(name)
    )?;
    if let Some(digest) = sha256 {
        writeln!(out, "    <hashdigest type=\"sha256\">{digest}</hashdigest>")?;
    }
    out.write_all(b"  </fileobject>\n")
}

/// Text between tags. Characters that XML 1.0 cannot have become U+FFFD.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '\r' => f.write_str("&#13;"),
            '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => f.write_char(c),
            _ => f.write_char('\u{fffd}'),
        })
    }
}
