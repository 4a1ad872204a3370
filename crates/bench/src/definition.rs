//! Definitions: what is measured, as data. `benchmarks/definitions/*.toml`, one file per axis.
//!
//! ```toml
//! about = "English words in documents"
//! axis = "pattern count"
//!
//! [[cell]]
//! name = "words/{count}"
//! patterns.source.lines = "words-american-english"
//! patterns.count = "{count}"
//! haystack.corpus = "documents"
//! haystack.size = "100 MiB"
//! haystack.quick = "4 MiB"
//! sweep.count = [20, 1000]
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use fyke_rivals::{Output, Question, Work};
use serde::{Deserialize, de};

use crate::size::Size;
use crate::sweep;

/// One set of patterns on one haystack: a line of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The file it comes from, without its extension.
    #[serde(skip)]
    pub group: String,
    /// Its name, unique over all files.
    pub name: String,
    /// The patterns.
    pub patterns: Patterns,
    /// The haystack.
    pub haystack: Haystack,
    /// Threads; 0 is one per core.
    #[serde(default = "one")]
    pub threads: usize,
    /// What is done with each match.
    #[serde(default)]
    pub work: WorkName,
    /// Measures programs as processes with this output, instead of libraries.
    #[serde(default)]
    pub process: Option<OutputName>,
    /// Asks a question with a call for each of `haystack.pieces`.
    #[serde(default)]
    pub question: Option<QuestionName>,
    /// Replays calls with many sets, instead of a scan with one.
    #[serde(default)]
    pub replay: Option<Replay>,
    /// Measures the cost of a call without that of its bytes: the haystack is also scanned whole.
    #[serde(default)]
    pub call_cost: bool,
    /// Hands over the pieces of `haystack.call` in one call; contenders that have no such call take
    /// them one by one.
    #[serde(default)]
    pub batch: bool,
    /// Too slow for `--quick` and `--verify-only` runs.
    #[serde(default)]
    pub slow: bool,
    /// Only with `--huge`: it takes gigabytes of memory.
    #[serde(default)]
    pub huge: bool,
}

/// A set of patterns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patterns {
    /// Where they come from.
    pub source: Source,
    /// How many to take, chosen at random by `seed`; all by default.
    pub count: Option<usize>,
    /// Leaves out shorter ones; the least length of generated ones.
    #[serde(default = "one")]
    pub min_len: usize,
    /// Leaves out longer ones; the greatest length of generated ones.
    pub max_len: Option<usize>,
    /// Seed of the choice, or of generated patterns.
    #[serde(default)]
    pub seed: u64,
    /// Ignores the case of all patterns. Rules have their own flags.
    #[serde(default)]
    pub nocase: bool,
    /// Takes all distinct substrings of the source's patterns that have `min_len` to `max_len`
    /// bytes. They match their case unless `nocase` is set. `count` chooses among them.
    #[serde(default)]
    pub cut: bool,
    /// More patterns for the same set.
    #[serde(default)]
    pub also: Option<Box<Patterns>>,
}

/// Where patterns come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A list that golden rows are about: `golden/<name>.hex`, or one of `pattern-hexlists.tar.xz`.
    Golden(String),
    /// The lines of a corpus.
    Lines(String),
    /// Words of a corpus of text, at equal ratios of their ranks by frequency: both rare and
    /// frequent ones.
    Words(String),
    /// The `content` strings of rules, with their flags: a corpus of lines `sid TAB flags TAB hex`.
    Rules(String),
    /// The `content` strings of a corpus of Snort or Suricata rules, with their flags.
    Snort(String),
    /// Uniform random strings over an alphabet of this many bytes.
    Random(u16),
    /// Substrings of a corpus at random positions, with at least three different bytes, or as many
    /// as they have bytes.
    Sample(String),
}

/// A haystack.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Haystack {
    /// Its corpus, unless it is `planted` or `hostile`.
    pub corpus: Option<String>,
    /// Random bytes of which this percentage belongs to planted patterns.
    pub planted: Option<u8>,
    /// Made from the patterns to be expensive to scan.
    pub hostile: Option<Hostile>,
    /// Alphabet of the random bytes around planted patterns.
    #[serde(default = "all_bytes")]
    pub alphabet: u16,
    /// Bytes to take from the front; a shorter corpus is repeated. All of it by default.
    pub size: Option<Size>,
    /// The same in `--quick` runs, and in `--verify-only` runs unless the cell has a golden row.
    pub quick: Option<Size>,
    /// Bytes that each call scans; all of them by default.
    pub call: Option<Size>,
    /// Haystacks of `call` bytes that begin at equal distances in the whole corpus and may overlap,
    /// for a cell with a question.
    pub pieces: Option<usize>,
    /// The same in `--quick` and `--verify-only` runs.
    pub quick_pieces: Option<usize>,
}

/// Many sets and short calls in mixed order, as in intrusion detection. Each call scans a piece of
/// the corpus with one of the sets and finds all occurrences.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The number of patterns of each set, chosen from those of the cell; every second one ignores
    /// case. Sets of the same number are the same in all cells with these patterns.
    pub sets: Vec<usize>,
    /// The number of calls. Set, position and length of each are random.
    pub calls: usize,
    /// Bytes of the shortest call.
    pub min: Size,
    /// Bytes of the longest call.
    pub max: Size,
}

/// How a hostile haystack is made: randomly chosen patterns, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hostile {
    /// Whole patterns: as many matches as possible.
    Full,
    /// All but the last byte of each: automata reach their deepest states and fall back.
    Pre,
    /// All but the first byte of each: false positives for filters that look at ends of patterns.
    Suf,
    /// A prefix of random length of each.
    Mid,
    /// Runs of 512 bytes that each repeat the first byte of a pattern.
    Run,
}

/// [`Work`] in definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkName {
    /// Count the matches.
    #[default]
    Count,
    /// Read where each match ends and which pattern it is.
    Touch,
}

/// [`Output`] in definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputName {
    /// `-c`.
    CountLines,
    /// `-o`.
    OnlyMatching,
}

/// [`Question`] in definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionName(pub Question);

impl<'de> Deserialize<'de> for QuestionName {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let names = || Question::ALL.map(Question::name).join(", ");
        let unknown = || de::Error::custom(format!("question {name:?} is none of {}", names()));
        Question::named(&name).map(Self).ok_or_else(unknown)
    }
}

fn one() -> usize {
    1
}

fn all_bytes() -> u16 {
    256
}

impl Hostile {
    /// The name in definitions and records.
    pub fn name(self) -> &'static str {
        match self {
            Hostile::Full => "full",
            Hostile::Pre => "pre",
            Hostile::Suf => "suf",
            Hostile::Mid => "mid",
            Hostile::Run => "run",
        }
    }
}

impl WorkName {
    /// What scans do.
    pub fn work(self) -> Work {
        match self {
            WorkName::Count => Work::Count,
            WorkName::Touch => Work::Touch,
        }
    }

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            WorkName::Count => "count",
            WorkName::Touch => "touch",
        }
    }
}

impl OutputName {
    /// What the programs print.
    pub fn output(self) -> Output {
        match self {
            OutputName::CountLines => Output::CountLines,
            OutputName::OnlyMatching => Output::OnlyMatching,
        }
    }

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            OutputName::CountLines => "process -c",
            OutputName::OnlyMatching => "process -o",
        }
    }
}

/// A definitions file.
#[derive(Clone, Debug)]
pub struct Group {
    /// The file's name without its extension.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// What varies from cell to cell.
    pub axis: String,
    /// Its cells, with sweeps expanded.
    pub cells: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefinitionFile {
    about: String,
    axis: String,
    cell: Vec<toml::Table>,
}

/// Reads every definitions file of a folder, in the order of their names.
///
/// # Errors
/// A file cannot be read or is not well formed, or two cells have the same name.
pub fn load(folder: &Path) -> Result<Vec<Group>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("cannot read the definitions folder {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let groups = files.iter().map(|f| load_file(f)).collect::<Result<Vec<_>>>()?;
    check_names(&groups)?;
    Ok(groups)
}

fn load_file(file: &Path) -> Result<Group> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    parse(&name, &text).with_context(|| file.display().to_string())
}

fn parse(group: &str, text: &str) -> Result<Group> {
    let written: DefinitionFile = toml::from_str(text)?;
    let mut cells = Vec::new();
    for table in written.cell {
        let label = table.get("name").map_or("a cell without a name".into(), ToString::to_string);
        for table in sweep::expand(table).with_context(|| label.clone())? {
            let mut cell: Cell = table.try_into().with_context(|| label.clone())?;
            cell.group = group.to_string();
            check(&cell).with_context(|| format!("cell {}", cell.name))?;
            cells.push(cell);
        }
    }
    Ok(Group { name: group.into(), about: written.about, axis: written.axis, cells })
}

fn check(cell: &Cell) -> Result<()> {
    let haystack = &cell.haystack;
    let made = [haystack.planted.is_some(), haystack.hostile.is_some()];
    let ways = made.iter().filter(|m| **m).count() + usize::from(haystack.corpus.is_some());
    ensure!(ways == 1, "the haystack needs either a corpus or planted or hostile");
    ensure!(
        haystack.corpus.is_some() || haystack.size.is_some(),
        "a planted or hostile haystack needs a size"
    );
    ensure!(
        haystack.call.is_none_or(|c| c.0 > 0),
        "haystack.call is 0; a call scans at least 1 byte"
    );
    ensure!(!cell.call_cost || haystack.call.is_some(), "call_cost needs haystack.call");
    ensure!(!cell.batch || haystack.call.is_some(), "batch needs haystack.call");
    check_patterns(&cell.patterns)?;
    cell.replay.as_ref().map_or(Ok(()), |replay| check_replay(cell, replay))?;
    check_question(cell)
}

/// Patterns that are cut have a greatest length.
fn check_patterns(patterns: &Patterns) -> Result<()> {
    ensure!(!patterns.cut || patterns.max_len.is_some(), "patterns.cut needs patterns.max_len");
    patterns.also.as_ref().map_or(Ok(()), |also| check_patterns(also).context("patterns.also"))
}

fn check_replay(cell: &Cell, replay: &Replay) -> Result<()> {
    let haystack = &cell.haystack;
    let other = cell.process.is_some() || cell.question.is_some() || cell.threads != 1;
    ensure!(!other, "a replay excludes process, question and threads");
    let whole = haystack.size.is_none() && haystack.quick.is_none() && haystack.call.is_none();
    ensure!(whole && haystack.corpus.is_some(), "a replay is of a whole corpus");
    ensure!(!cell.patterns.nocase, "half of the patterns of a replay ignore case");
    ensure!(!replay.sets.is_empty() && replay.sets.iter().all(|&n| n > 0), "replay.sets are empty");
    ensure!(replay.calls > 0, "replay.calls is 0");
    ensure!(
        replay.min.0 > 0 && replay.min.0 <= replay.max.0,
        "replay.min is 0 or above replay.max"
    );
    Ok(())
}

fn check_question(cell: &Cell) -> Result<()> {
    let haystack = &cell.haystack;
    let pieces = haystack.pieces.is_some();
    ensure!(pieces == cell.question.is_some(), "a question and haystack.pieces need each other");
    if pieces {
        let other = cell.process.is_some() || cell.batch || cell.call_cost || cell.threads != 1;
        ensure!(!other, "a question excludes process, batch, call_cost and threads");
        let whole = haystack.size.is_none() && haystack.quick.is_none();
        ensure!(whole, "haystack.pieces are cut out of a whole corpus, so it has no size");
        let known = haystack.corpus.is_some() && haystack.call.is_some();
        ensure!(known, "a question needs haystack.corpus and haystack.call");
        ensure!(!cell.patterns.nocase, "a question needs patterns that do not ignore case");
    }
    Ok(())
}

fn check_names(groups: &[Group]) -> Result<()> {
    let mut names: Vec<&str> = groups.iter().flat_map(|g| &g.cells).map(|c| &*c.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => anyhow::bail!("two cells are named {}", twice[0]),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        about = "a"
        axis = "b"
        [[cell]]
        name = "w/{count}"
        patterns.source.lines = "words"
        patterns.count = "{count}"
        haystack.corpus = "kjv"
        haystack.quick = "1 MiB"
        sweep.count = [20, 1000]
    "#;

    #[test]
    fn a_file_becomes_cells() {
        let group = parse("g", TEXT).unwrap();
        let counts: Vec<_> = group.cells.iter().map(|c| c.patterns.count.unwrap()).collect();
        assert_eq!(counts, [20, 1000]);
        assert_eq!((group.cells[1].name.as_str(), group.cells[1].threads), ("w/1000", 1));
        assert_eq!(group.cells[0].haystack.quick, Some(Size(1 << 20)));
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = TEXT.replace("patterns.count", "patterns.cuont");
        assert!(format!("{:#}", parse("g", &unknown).unwrap_err()).contains("cuont"));
        let both = TEXT.replace("haystack.quick = \"1 MiB\"", "haystack.planted = 3");
        assert!(format!("{:#}", parse("g", &both).unwrap_err()).contains("either"));
        let bare = format!("{TEXT}\nquestion = \"find\"");
        let error = format!("{:#}", parse("g", &bare).unwrap_err());
        assert!(error.contains("need each other"), "{error}");
        let replay = "replay = { sets = [0], calls = 1, min = '1 B', max = '2 B' }";
        let replay = TEXT.replace("haystack.quick = \"1 MiB\"", replay);
        let error = format!("{:#}", parse("g", &replay).unwrap_err());
        assert!(error.contains("replay.sets are empty"), "{error}");
        let uncut = TEXT.replace("patterns.count =", "patterns.cut = true\npatterns.count =");
        let error = format!("{:#}", parse("g", &uncut).unwrap_err());
        assert!(error.contains("cut needs patterns.max_len"), "{error}");
        let unknown = format!("{TEXT}\nquestion = \"found\"");
        let error = format!("{:#}", parse("g", &unknown).unwrap_err());
        assert!(error.contains("none of is-match, find"), "{error}");
    }
}
