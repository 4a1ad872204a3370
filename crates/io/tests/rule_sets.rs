//! Published rule sets: the Snort parser reads exactly the contents of the golden lists.
//!
//! The rules are GPL and not part of the repository. They are read from `$FYKE_DATA`, or from
//! `../shared/data` beside the workspace. Without them the tests are refused: printed, counted, and
//! failures under `FYKE_REQUIRE=data`.

use fyke_io::rules::{self, Format, Options, Rules};
use fyke_testkit::require;
use libtest_mimic::{Arguments, Failed, Trial};
use lzma_rust2::XzReader;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

type Files = Vec<(String, Vec<u8>)>;

/// The rule sets, and for two of them the golden list of active contents without `uricontent`.
const SETS: [(&str, Option<&str>); 4] = [
    ("snort-2.2.0-2004", Some("snort-2.2.0-active-content-1283")),
    ("snort-2.3.3gpl-2005", Some("snort-2.3.3-active-content-1565")),
    ("snort3-community-2026", None),
    ("et-open-2016", None),
];

/// Contents of active rules that the golden list of et-open-2016 lacks: its script skipped the
/// contents after a `pcre` with a bare quote.
const MISSING_IN_GOLDEN: [&[u8]; 2] = [b"shell:", b"vbscript:"];

fn main() {
    let args = Arguments::from_args();
    let data = require::data_with("rules");
    let trials = SETS.map(|(name, active)| match data.clone() {
        Ok(data) => Trial::test(name, move || check(&data, name, active)),
        Err(why) => require::refused_trial(name.to_owned(), &why),
    });
    if let Err(why) = &data {
        eprintln!("{} rule sets refused: {why}", SETS.len());
    }
    libtest_mimic::run(&args, trials.into()).exit();
}

fn check(data: &Path, name: &str, active: Option<&str>) -> Result<(), Failed> {
    let files = unpack(&data.join(format!("rules/{name}.tar.xz")), ".rules")?;
    let all = extract(&files, true)?;
    let mut expected = golden(data, &format!("{name}.all.hex"))?;
    if name == "et-open-2016" {
        expected.extend(MISSING_IN_GOLDEN.map(<[u8]>::to_vec));
    }
    compare(&distinct(&all), &expected)?;
    let Some(list) = active else { return Ok(()) };
    let active = extract(&without_uricontent(files), false)?;
    compare(&distinct(&active), &golden(data, &format!("{list}.hex"))?)
}

/// The files without `uricontent` and the `nocase` after it, which the golden lists leave out.
fn without_uricontent(files: Files) -> Files {
    let hide = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes).replace("uricontent:", "uri:");
        text.replace(" nocase;", "").into_bytes()
    };
    files.into_iter().map(|(name, bytes)| (name, hide(bytes))).collect()
}

fn extract(files: &Files, commented: bool) -> Result<Rules, Failed> {
    let mut patterns = Rules::new();
    for (name, bytes) in files {
        let parsed =
            rules::parse(Format::Snort, name, bytes, &Options { commented, ..Options::default() });
        if let Some(error) = parsed.errors.first() {
            return Err(error.to_string().into());
        }
        // Published rules have no misspelled option that resembles a known one.
        if let Some(warning) = parsed.warnings.first() {
            return Err(format!("a false warning: {warning}").into());
        }
        patterns.extend(parsed.patterns);
    }
    Ok(patterns)
}

fn distinct(patterns: &Rules) -> BTreeSet<Vec<u8>> {
    patterns.iter().map(|p| p.bytes.to_vec()).collect()
}

fn golden(data: &Path, list: &str) -> Result<BTreeSet<Vec<u8>>, Failed> {
    let files = unpack(&data.join("golden/pattern-hexlists.tar.xz"), list)?;
    let (name, bytes) = files.first().ok_or("the archive does not contain the list")?;
    let parsed = rules::parse(Format::Hex, name, bytes, &Options::default());
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    Ok(distinct(&parsed.patterns))
}

fn compare(found: &BTreeSet<Vec<u8>>, expected: &BTreeSet<Vec<u8>>) -> Result<(), Failed> {
    let show = |b: Option<&Vec<u8>>| b.map(|b| b.escape_ascii().to_string());
    let missing = expected.difference(found);
    let extra = found.difference(expected);
    if found == expected {
        return Ok(());
    }
    let counts = (found.len(), expected.len());
    Err(format!("{counts:?}, missing {:?}, extra {:?}", show(missing.last()), show(extra.last()))
        .into())
}

/// The files of an archive whose names end with `suffix`, with their names.
fn unpack(archive: &Path, suffix: &str) -> Result<Files, Failed> {
    let mut archive = tar::Archive::new(XzReader::new(File::open(archive)?, true));
    let mut files = Files::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        if name.ends_with(suffix) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            files.push((name, bytes));
        }
    }
    Ok(files)
}
