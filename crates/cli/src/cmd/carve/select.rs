//! The flags that choose files, for all verbs that read a database.

use super::database::OpenDatabase;
use super::scan::watch::validate_files;
use crate::number;
use crate::run::interrupt;
use crate::warning;
use clap::{Args, ValueEnum};
use fyke_carve::Validity;
use fyke_carve::database::VALIDATED;
use fyke_carve::filter::Filter;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Which files.
#[derive(Args, Debug)]
#[command(next_help_heading = "Which files")]
pub(super) struct SelectArgs {
    /// Files of this extension; `none` stands for rules without one; repeatable
    #[arg(long = "type", value_name = "EXT", value_delimiter = ',')]
    types: Vec<String>,

    /// Files of the rule of this number, from 0; repeatable
    #[arg(long = "rule", value_name = "N", value_delimiter = ',')]
    rules: Vec<usize>,

    /// Files with these numbers, such as 1-5,9
    #[arg(long, value_name = "RANGES", value_delimiter = ',', value_parser = numbers)]
    id: Vec<RangeInclusive<u64>>,

    /// Files of at least this length
    #[arg(long, value_name = "SIZE", default_value = "0", hide_default_value = true, value_parser = number::size)]
    min_size: u64,

    /// Files of at most this length
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    max_size: Option<u64>,

    /// Files that begin at this offset of the image or after it
    #[arg(long, value_name = "OFFSET", default_value = "0", hide_default_value = true, value_parser = number::size)]
    start: u64,

    /// Files that begin before this offset
    #[arg(long, value_name = "OFFSET", value_parser = number::size)]
    end: Option<u64>,

    /// Files of which a validator says this
    #[arg(long, value_enum)]
    valid: Option<ValidArg>,

    /// Leave out the files that begin inside another one that is valid, such as the members of an
    /// archive; they are counted, and stay in the database. Validates the files if the scan did not
    #[arg(long)]
    no_embedded: bool,

    /// At most this number of files: the first ones
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Validate the files: JPEG, PNG, GIF, PDF and ZIP
    #[arg(long)]
    validate: bool,

    /// The image, if it was moved since the scan
    #[arg(long, value_name = "PATH")]
    pub(super) image: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ValidArg {
    Yes,
    No,
    Unknown,
}

impl SelectArgs {
    /// Validates the files if that is asked for, and returns the indexes of those that are chosen.
    pub(super) fn select(&self, open: &mut OpenDatabase) -> anyhow::Result<Vec<usize>> {
        if self.validate || (self.no_embedded && !open.run.options.contains_key(VALIDATED)) {
            let image = open.open_image(self.image.as_deref())?;
            if !validate_files(&*image, &mut open.files) {
                interrupt::die();
            }
        }
        let filter = self.filter();
        let chosen = filter.select(&open.rules, &open.files);
        if self.no_embedded {
            let all = Filter { no_embedded: false, limit: None, ..filter.clone() };
            let top = Filter { limit: None, ..filter };
            let [all, top] = [all, top].map(|f| f.select(&open.rules, &open.files).len());
            let (left_out, s) = (all - top, if all - top == 1 { "" } else { "s" });
            warning::print(format_args!("--no-embedded leaves out {left_out} file{s} of {all}"));
        }
        Ok(chosen)
    }

    /// Whether any condition is set.
    pub(super) fn is_any(&self) -> bool {
        self.filter() != Filter::default()
    }

    fn filter(&self) -> Filter {
        Filter {
            extensions: self.types.clone(),
            rules: self.rules.clone(),
            numbers: self.id.clone(),
            len: self.min_size..=self.max_size.unwrap_or(u64::MAX),
            start: self.start..self.end.unwrap_or(u64::MAX),
            valid: self.valid.map(|valid| match valid {
                ValidArg::Yes => Validity::Yes,
                ValidArg::No => Validity::No,
                ValidArg::Unknown => Validity::Unknown,
            }),
            no_embedded: self.no_embedded,
            limit: self.limit,
        }
    }

    /// Whether the files are validated.
    pub(super) fn validates(&self) -> bool {
        self.validate
    }
}

/// Parses a number or a range, `7` or `1-5`.
fn numbers(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err("give numbers and ranges, such as 1-5,9".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_numbers() {
        assert_eq!(numbers("7"), Ok(7..=7));
        assert_eq!(numbers("0-18446744073709551615"), Ok(0..=u64::MAX));
        for text in ["", "-", "5-1", "1-", "-2", "x", "1-2-3", "18446744073709551616"] {
            assert!(numbers(text).unwrap_err().contains("1-5,9"), "{text}");
        }
    }
}
