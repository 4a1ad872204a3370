//! Records: one CSV file a run, one row for each contender of each cell.
//!
//! Lines that begin with `#` come first: facts about the run (`# cpu: ...`) and about the groups of
//! cells (`# group words: pattern count: English words ...`). A contender that was refused has a row
//! too, with the reason; so has a cell whose data is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::machine::Facts;
use crate::summary::JUDGED;

/// What became of a contender in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Verified and timed.
    Timed,
    /// Verified only.
    Verified,
    /// Took no part: see the reason.
    #[default]
    Refused,
    /// Found other matches than expected, and was not timed.
    Wrong,
}

/// A contender in a cell. Times are in nanoseconds for scanning the haystack once, in one call or
/// in as many as `call_bytes` makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The definitions file.
    pub group: String,
    /// The cell.
    pub cell: String,
    /// Distinct patterns.
    pub patterns: usize,
    /// Bytes of all distinct patterns.
    pub pattern_bytes: usize,
    /// Shortest pattern.
    pub min_len: usize,
    /// Longest pattern.
    pub max_len: usize,
    /// Patterns that ignore case.
    pub nocase: usize,
    /// The corpus, or how the haystack was made.
    pub haystack: String,
    /// Bytes scanned.
    pub haystack_bytes: usize,
    /// Sum of the bytes scanned.
    pub haystack_sha256: String,
    /// Bytes scanned by one call.
    pub call_bytes: usize,
    /// Threads.
    pub threads: usize,
    /// What is done with each match: `count`, `touch`; or what a process prints.
    pub work: String,
    /// The contender; `-` if the whole cell was refused.
    pub contender: String,
    /// `engine`, `rival` or `program`.
    pub side: String,
    /// Its version.
    pub version: String,
    /// What became of it.
    pub status: Status,
    /// Why it was refused, or what was wrong.
    pub reason: String,
    /// Matches found.
    pub matches: u64,
    /// Their fingerprint, in hexadecimal digits.
    pub fingerprint: String,
    /// Whether a golden row vouches for count and fingerprint.
    pub golden: bool,
    /// Number of samples.
    pub samples: usize,
    /// Least wall time.
    pub wall_min: f64,
    /// Median wall time.
    pub wall_median: f64,
    /// Greatest wall time.
    pub wall_max: f64,
    /// Median distance of wall times from their median.
    pub wall_mad: f64,
    /// Samples so far off that something else must have run.
    pub outliers: usize,
    /// Least processor time; 0 for processes.
    pub cpu_min: f64,
    /// Median processor time; 0 for processes.
    pub cpu_median: f64,
    /// Median distance of processor times from their median.
    pub cpu_mad: f64,
    /// Cost of a call beside that of its bytes, from the ratio's clock; 0 if it was not measured.
    pub call_ns: f64,
    /// Median time of building, on the wall.
    pub build_median: f64,
    /// Times it was built.
    pub builds: usize,
    /// Bytes of the compiled set.
    pub memory_bytes: u64,
    /// Who says so.
    pub memory_from: String,
    /// Bytes by which a process of its own grew while it was built, at its peak: VmHWM less VmRSS. 0 if
    /// that was not measured.
    pub build_peak_bytes: u64,
    /// The engine that a planner took; empty for all others.
    pub taken: String,
    /// The instruction set an engine was held to; empty if it chose.
    pub isa: String,
    /// Time per byte on the clock that ratios are taken of.
    pub ns_per_byte: f64,
    /// The best rival's time over this one's: above 1 is faster than every rival. 0 if there is none.
    pub ratio: f64,
    /// Bytes per nanosecond over the read rate of the memory.
    pub read_share: f64,
}

impl Row {
    /// The median on the ratio's clock.
    pub fn median(&self) -> f64 {
        self.ns_per_byte * self.haystack_bytes as f64
    }

    /// Whether a time was taken.
    pub fn is_timed(&self) -> bool {
        self.status == Status::Timed
    }
}

/// About a group of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// What varies.
    pub axis: String,
    /// One line about it.
    pub about: String,
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Facts about the run.
    pub facts: Facts,
    /// The groups that took part.
    pub groups: Vec<About>,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Record {
    /// Writes `<machine>/<date>.csv` under a folder; a second run of a day gets its time as well.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<PathBuf> {
        let folder = folder.join(self.facts.machine());
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let file = self.free_name(&folder);
        fs::write(&file, self.to_csv()?).with_context(|| file.display().to_string())?;
        Ok(file)
    }

    fn free_name(&self, folder: &Path) -> PathBuf {
        let date = self.facts.get("date");
        let day = folder.join(format!("{}.csv", date.split('T').next().unwrap_or(date)));
        if day.exists() { folder.join(format!("{}.csv", date.replace(':', ""))) } else { day }
    }

    /// Adds a record of the same kind from the same machine, such as one of other sections. Its cells take the
    /// place of those that have the same name here.
    ///
    /// # Errors
    /// A fact differs that the figures depend on.
    pub fn add(&mut self, other: Record) -> Result<()> {
        for fact in ["cpu", "cores", "fyke", "commit", "profile", "haystacks", "ratios of", JUDGED]
        {
            let (mine, theirs) = (self.facts.get(fact), other.facts.get(fact));
            ensure!(mine == theirs, "records differ in {fact}: {mine:?} and {theirs:?}");
        }
        let cells: BTreeSet<&str> = other.rows.iter().map(|r| &*r.cell).collect();
        self.rows.retain(|r| !cells.contains(&*r.cell));
        for group in other.groups {
            if self.groups.iter().all(|g| g.name != group.name) {
                self.groups.push(group);
            }
        }
        // A corpus may have several notes; of all other facts the first record's stand.
        for (name, value) in other.facts.0 {
            let known = self.facts.0.contains(&(name.clone(), value.clone()));
            if !known && (name.starts_with("corpus ") || self.facts.get(&name).is_empty()) {
                self.facts.add(&name, value);
            }
        }
        self.rows.extend(other.rows);
        Ok(())
    }

    /// The text of the file.
    ///
    /// # Errors
    /// A row cannot be written as CSV.
    pub fn to_csv(&self) -> Result<String> {
        let mut text = String::new();
        for (name, value) in &self.facts.0 {
            text += &format!("# {name}: {value}\n");
        }
        for group in &self.groups {
            text += &format!("# group {}: {}: {}\n", group.name, group.axis, group.about);
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &self.rows {
            writer.serialize(rounded(row))?;
        }
        text += &String::from_utf8(writer.into_inner()?)?;
        Ok(text)
    }

    /// Reads a file that was saved.
    ///
    /// # Errors
    /// It cannot be read or is not a record.
    pub fn load(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        Self::parse(&text).with_context(|| file.display().to_string())
    }

    fn parse(text: &str) -> Result<Self> {
        let mut record = Self::default();
        let comments = text.lines().map_while(|l| l.strip_prefix("# "));
        comments.for_each(|line| record.read_comment(line));
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        record.rows = reader.deserialize().collect::<Result<_, _>>()?;
        Ok(record)
    }

    fn read_comment(&mut self, line: &str) {
        let Some((name, value)) = line.split_once(": ") else { return };
        match (name.strip_prefix("group "), value.split_once(": ")) {
            (Some(group), Some((axis, about))) => {
                self.groups.push(About {
                    name: group.into(),
                    axis: axis.into(),
                    about: about.into(),
                });
            }
            _ => self.facts.add(name, value),
        }
    }
}

/// Times to a tenth of a nanosecond and rates to six digits: more is noise.
fn rounded(row: &Row) -> Row {
    let mut row = row.clone();
    let times = [
        &mut row.wall_min,
        &mut row.wall_median,
        &mut row.wall_max,
        &mut row.wall_mad,
        &mut row.cpu_min,
        &mut row.cpu_median,
        &mut row.cpu_mad,
        &mut row.call_ns,
        &mut row.build_median,
    ];
    times.into_iter().for_each(|t| *t = (*t * 10.0).round() / 10.0);
    for rate in [&mut row.ns_per_byte, &mut row.ratio, &mut row.read_share] {
        *rate = (*rate * 1e6).round() / 1e6;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_one_run_in_parts_are_put_together() {
        let part = |group: &str, cell: &str, ns: f64| {
            let mut facts = Facts::default();
            facts.add("cpu", "c");
            facts.add("date", cell);
            let about = About { name: group.into(), ..About::default() };
            let row = Row { cell: cell.into(), ns_per_byte: ns, ..Row::default() };
            Record { facts, groups: vec![about], rows: vec![row] }
        };
        let mut record = part("g", "g/1", 1.0);
        record.add(part("h", "h/1", 2.0)).unwrap();
        record.add(part("g", "g/1", 3.0)).unwrap();
        assert_eq!((record.groups.len(), record.rows.len()), (2, 2));
        assert_eq!((record.facts.get("date"), record.rows[1].ns_per_byte), ("g/1", 3.0));
        let mut other = part("g", "g/1", 1.0);
        other.facts.0[0].1 = "d".into();
        assert!(record.add(other).unwrap_err().to_string().contains("cpu"));
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut facts = Facts::default();
        facts.add("cpu", "Some CPU: fast");
        facts.add("cores", "2");
        facts.add("date", "2026-01-02T03:04:05Z");
        let row = Row {
            group: "g".into(),
            cell: "g/1".into(),
            reason: "a, \"b\"".into(),
            ns_per_byte: 0.125,
            status: Status::Wrong,
            ..Row::default()
        };
        let about = About { name: "g".into(), axis: "count".into(), about: "a: b".into() };
        let record = Record { facts, groups: vec![about], rows: vec![row] };
        assert_eq!(Record::parse(&record.to_csv().unwrap()).unwrap(), record);
        let folder = tempfile::tempdir().unwrap();
        let first = record.save(folder.path()).unwrap();
        assert!(first.ends_with("some-cpu-fast-2-cores/2026-01-02.csv"), "{first:?}");
        assert_ne!(record.save(folder.path()).unwrap(), first);
        assert_eq!(Record::load(&first).unwrap(), record);
    }
}
