//! Compares what carvers find in an image with what is in it: fyke, and Scalpel, foremost and
//! PhotoRec where they are installed.
//!
//! ```text
//! cargo run --release -p fyke-carve --example carve_compare -- IMAGE MANIFEST CONF
//! ```
//!
//! The example `carve_image` makes IMAGE and MANIFEST. CONF is for Scalpel, and for fyke beside it.
//! A file is *located* if a row begins where it begins, and *exact* if the row has its length too.
//! Precision is the share of the rows that are exact.

use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::pipeline::{ScanOptions, scan};
use fyke_carve::validate::validate_all;
use fyke_carve::{CarvedFile, RuleSet, Validity, conf, default_rules, image};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Offset and length.
type Row = (u64, u64);

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [image, manifest, conf] = &args[..] else {
        return Err("give IMAGE MANIFEST CONF".into());
    };
    let truth = truth(&fs::read_to_string(manifest)?)?;
    println!("{} files in the image", truth.len());
    println!(
        "| carver | wall s | rows | located | exact | precision |\n|---|---:|---:|---:|---:|---:|"
    );
    let rules = conf::parse(&fs::read(conf)?, conf, conf::Options::default())?;
    let print = |name: &str, found: Outcome<(f64, Vec<Row>)>| match found {
        Ok((seconds, rows)) => println!("| {name} | {seconds:.2} | {} |", score(&truth, rows)),
        Err(why) => println!("| {name} | refused: {why} | | | | |"),
    };
    print("fyke, CONF", fyke(image, &rules, |_| true));
    print("Scalpel, CONF", scalpel(image, conf));
    print("fyke, default rules", fyke(image, &default_rules(), |_| true));
    let valid = |file: &CarvedFile| file.valid == Validity::Yes;
    print("fyke, default rules, valid files", fyke(image, &default_rules(), valid));
    print("foremost", foremost(image));
    print("PhotoRec", photorec(image));
    Ok(())
}

fn truth(manifest: &str) -> Outcome<BTreeMap<u64, u64>> {
    let row = |line: &str| {
        let mut fields = line.split('\t').map(str::parse);
        match (fields.next(), fields.next()) {
            (Some(Ok(offset)), Some(Ok(len))) => Ok((offset, len)),
            _ => Err(format!("no line of a manifest: {line}").into()),
        }
    };
    manifest.lines().map(row).collect()
}

/// The columns after the time.
fn score(truth: &BTreeMap<u64, u64>, rows: Vec<Row>) -> String {
    let rows: BTreeSet<Row> = rows.into_iter().collect();
    let starts: BTreeSet<u64> = rows.iter().map(|row| row.0).collect();
    let located = starts.iter().filter(|start| truth.contains_key(start)).count();
    let exact = rows.iter().filter(|(start, len)| truth.get(start) == Some(len)).count();
    let precision = 100.0 * exact as f64 / rows.len().max(1) as f64;
    format!("{} | {located} | {exact} | {precision:.1} %", rows.len())
}

fn fyke(
    path: &str,
    rules: &RuleSet,
    wanted: impl Fn(&CarvedFile) -> bool,
) -> Outcome<(f64, Vec<Row>)> {
    let start = Instant::now();
    let image = image::open(Path::new(path))?;
    let options = ScanOptions::default();
    let scanned = scan(&*image, rules, &options, &())?;
    let mut files = pair(rules, &scanned.hits, &PairOptions::default(), 0);
    validate_all(&*image, &mut files, options.threads);
    let seconds = start.elapsed().as_secs_f64();
    Ok((seconds, files.iter().filter(|f| wanted(f)).map(|f| (f.start, f.len)).collect()))
}

/// Runs a program, which writes to a folder of its own. Exit codes say little about carvers.
fn run(program: &str, args: &[&str]) -> Outcome<f64> {
    let start = Instant::now();
    let quiet =
        Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.map_err(|why| format!("{program}: {why}"))?;
    Ok(start.elapsed().as_secs_f64())
}

fn scalpel(image: &str, conf: &str) -> Outcome<(f64, Vec<Row>)> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let seconds = run("scalpel", &["-p", "-c", conf, "-o", text(&out)?, image])?;
    let audit = String::from_utf8_lossy(&fs::read(out.join("audit.txt"))?).into_owned();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_row = fields.len() == 5 && matches!(fields[2], "YES" | "NO");
        is_row.then(|| Some((fields[1].parse().ok()?, fields[3].parse().ok()?))).flatten()
    };
    Ok((seconds, audit.lines().filter_map(row).collect()))
}

fn foremost(image: &str) -> Outcome<(f64, Vec<Row>)> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let seconds = run("foremost", &["-Q", "-t", "all", "-i", image, "-o", text(&out)?])?;
    let audit = String::from_utf8_lossy(&fs::read(out.join("audit.txt"))?).into_owned();
    // NUMBER: NAME SIZE UNIT OFFSET; the size is rounded, so the file has the length.
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [number, name, _, _, offset, ..] = fields[..] else { return None };
        number.strip_suffix(':')?.parse::<u64>().ok()?;
        let folder = name.rsplit('.').next()?;
        let len = fs::metadata(out.join(folder).join(name)).ok()?.len();
        Some((offset.parse().ok()?, len))
    };
    Ok((seconds, audit.lines().filter_map(row).collect()))
}

fn photorec(image: &str) -> Outcome<(f64, Vec<Row>)> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let steps = "partition_none,options,mode_ext2,fileopt,everything,enable,search";
    let seconds = run("photorec", &["/d", text(&out)?, "/cmd", image, steps])?;
    let report = fs::read_to_string(folder.path().join("out.1/report.xml"))?;
    let value = |part: &str, name: &str| -> Option<u64> {
        part.split_once(&format!("{name}='"))?.1.split('\'').next()?.parse().ok()
    };
    let row = |file: &str| {
        let size = file.split_once("<filesize>")?.1.split('<').next()?.parse().ok()?;
        Some((value(file, "img_offset")?, size))
    };
    Ok((seconds, report.split("<fileobject>").skip(1).filter_map(row).collect()))
}

fn text(path: &Path) -> Outcome<&str> {
    Ok(path.to_str().ok_or("the folder of temporary files has a name that is not UTF-8")?)
}
