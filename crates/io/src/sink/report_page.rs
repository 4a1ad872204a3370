//! The page of a report: one HTML file that needs no other.

use super::escape::push_escaped;
use super::path::path_bytes;
use super::report::{FileHits, PARTS, ScanReport};
use crate::rules::Rules;
use fyke_core::PatternId;
use std::fmt::{self, Write};

/// Patterns that the page lists; the others are only counted.
const MAX_PATTERNS: usize = 1000;

/// Bytes of a pattern that the page shows.
const SHOWN: usize = 80;

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>fyke: where the matches are</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em;
  color: #1c2733; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.25em 0.75em; border-bottom: 1px solid #d9e0e6;
  vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td { overflow-wrap: anywhere; }
code { white-space: pre-wrap; background: #eef2f5; padding: 0.1em 0.2em; border-radius: 0.2em; }
svg { display: block; width: 100%; height: 24px; background: #eef2f5; }
svg.bar { width: min(12em, 18vw); height: 1em; }
rect { fill: #b3261e; }
@media (prefers-color-scheme: dark) {
  body { color: #dbe3ea; background: #12181e; }
  th, td { border-color: #2c3742; }
  svg, code { background: #1e2730; }
  rect { fill: #ff8a80; }
}
</style>
</head>
<body>
";

impl ScanReport {
    /// The page. Patterns are named by `rules`.
    pub fn page(&mut self, rules: &Rules) -> String {
        self.sort();
        let mut page = HEAD.to_owned();
        let written = self.write(&mut page, rules);
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        page
    }

    fn write(&self, page: &mut String, rules: &Rules) -> fmt::Result {
        let patterns = self.patterns();
        let (found, all) = (patterns.len() as u64, rules.len() as u64);
        writeln!(page, "<h1>Matches</h1>")?;
        write!(page, "<p>{} of {}", counted(self.hits, "match"), counted(found, "pattern"))?;
        let (with_hits, scanned) = (counted(self.with_hits, "file"), counted(self.scanned, "file"));
        write!(page, " in {with_hits}. Searched for {}", counted(all, "pattern"))?;
        writeln!(page, " in {scanned}, {}.</p>", counted(self.bytes, "byte"))?;
        self.write_files(page)?;
        write_patterns(page, rules, &patterns)?;
        page.write_str("</body>\n</html>\n")
    }

    fn write_files(&self, page: &mut String) -> fmt::Result {
        page.write_str("<h2>Files</h2>\n<p>The map shows where in the file the matches start; a ")?;
        page.write_str("higher line is more matches.</p>\n<table>\n<tr><th>file</th>")?;
        page.write_str(
            "<th class=\"n\">matches</th><th class=\"n\">bytes</th><th>map</th></tr>\n",
        )?;
        for file in &self.files {
            write!(page, "<tr><td><code>{}</code></td>", html(path_bytes(&file.path)))?;
            write!(
                page,
                "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>",
                grouped(file.hits),
                grouped(file.bytes)
            )?;
            write_map(page, file)?;
            page.write_str("</td></tr>\n")?;
        }
        page.write_str("</table>\n")?;
        write_rest(page, self.with_hits - self.files.len() as u64, "file")
    }
}

/// The map of a file as SVG: a line for each part with hits, with its numbers as a tooltip.
fn write_map(page: &mut String, file: &FileHits) -> fmt::Result {
    let used = file.bytes.div_ceil(file.map.width).clamp(1, PARTS as u64);
    let most = file.map.hits.iter().copied().max().unwrap_or(0).max(1);
    let label = format!("{} in {}", counted(file.hits, "match"), counted(file.bytes, "byte"));
    write!(page, "<svg viewBox=\"0 0 {used} 24\" preserveAspectRatio=\"none\" role=\"img\" ")?;
    write!(page, "aria-label=\"{label}\">")?;
    for (part, &hits) in file.map.hits.iter().enumerate().filter(|&(_, &hits)| hits > 0) {
        // The minimum height keeps one match visible beside a thousand.
        let height = 4.0 + 20.0 * hits as f64 / most as f64;
        let from = part as u64 * file.map.width;
        let to = (from + file.map.width).min(file.bytes.max(from + 1));
        write!(page, "<rect x=\"{part}\" y=\"{:.1}\" width=\"1\" ", 24.0 - height)?;
        let (hits, from, to) = (counted(hits, "match"), grouped(from), grouped(to));
        write!(
            page,
            "height=\"{height:.1}\"><title>{hits} in bytes {from} to {to}</title></rect>"
        )?;
    }
    page.write_str("</svg>")
}

fn write_patterns(page: &mut String, rules: &Rules, patterns: &[(u32, u64)]) -> fmt::Result {
    page.write_str("<h2>Patterns</h2>\n<table>\n<tr><th>pattern</th><th>from</th>")?;
    page.write_str("<th class=\"n\">matches</th><th></th></tr>\n")?;
    let most = patterns.first().map_or(1, |&(_, hits)| hits);
    for &(id, hits) in patterns.iter().take(MAX_PATTERNS) {
        let pattern = rules.get(PatternId(id));
        let bytes = pattern.map_or(&b""[..], |p| p.bytes);
        let cut = if bytes.len() > SHOWN { "..." } else { "" };
        let shown = html(&bytes[..bytes.len().min(SHOWN)]);
        let origin = pattern.map(|p| p.origin.to_string()).unwrap_or_default();
        write!(page, "<tr><td><code>{shown}</code>{cut}</td><td>{}</td>", html(origin.as_bytes()))?;
        let width = 100.0 * hits as f64 / most as f64;
        write!(page, "<td class=\"n\">{}</td><td>", grouped(hits))?;
        write!(page, "<svg class=\"bar\" viewBox=\"0 0 100 1\" ")?;
        write!(
            page,
            "preserveAspectRatio=\"none\"><rect width=\"{width:.2}\" height=\"1\"/></svg>"
        )?;
        page.write_str("</td></tr>\n")?;
    }
    page.write_str("</table>\n")?;
    write_rest(page, patterns.len().saturating_sub(MAX_PATTERNS) as u64, "pattern")
}

fn write_rest(page: &mut String, rest: u64, what: &str) -> fmt::Result {
    if rest == 0 {
        return Ok(());
    }
    writeln!(page, "<p>Not listed, because they have fewer matches: {}.</p>", counted(rest, what))
}

/// A number and what it counts: `1 match`, `2,000 matches`.
fn counted(n: u64, what: &str) -> String {
    let plural = match what {
        _ if n == 1 => "",
        "match" => "es",
        _ => "s",
    };
    format!("{} {what}{plural}", grouped(n))
}

/// A number with a comma after each thousand.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes as text of a page: control characters as `\xNN`, characters of HTML as entities.
fn html(bytes: &[u8]) -> String {
    let mut escaped = Vec::new();
    push_escaped(&mut escaped, bytes);
    let text = String::from_utf8_lossy(&escaped);
    let mut page = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => page += "&amp;",
            '<' => page += "&lt;",
            '>' => page += "&gt;",
            '"' => page += "&quot;",
            c => page.push(c),
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{self, Format};
    use fyke_core::{Batch, PatternSet, Record};
    use std::path::Path;

    #[test]
    fn the_page_names_what_was_found_and_is_safe() {
        let mut rules = Rules::new();
        let lines = b"<script>\nnone\n";
        rules.extend(rules::parse(Format::Lines, "w&w", lines, &Default::default()).patterns);
        let mut builder = PatternSet::builder();
        builder.push_with(PatternId(1), "<script>", false).unwrap();
        let set = builder.build();
        let records = [Record { end: 9, pattern: 0 }, Record { end: 999, pattern: 0 }];
        let mut file = FileHits::default();
        file.begin(Path::new("a<b>\x1b"));
        let set = &set;
        file.add(&Batch { base: 0, records: &records, ordered: true, single: false, set });
        let mut report = ScanReport::default();
        report.add(&file, 1000);
        file.begin(Path::new("empty"));
        report.add(&file, 5);
        let page = report.page(&rules);
        for part in [
            "2 matches of 1 pattern in 1 file. Searched for 2 patterns in 2 files, 1,005 bytes.",
            "<code>a&lt;b&gt;\\x1b</code>",
            "<code>&lt;script&gt;</code>",
            "<td>w&amp;w:1</td>",
            "<title>1 match in bytes 0 to 4</title>",
            "<title>1 match in bytes 988 to 992</title>",
        ] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("<script") && !page.contains("http") && !page.contains("empty"));
    }
}
