//! The options of pairing among those of a run.

use super::Run;
use crate::Compat;
use crate::pair::PairOptions;

const EARLIER_FILES: &str = "earlier-files";
const MISSING_FOOTER: &str = "missing-footer";
const CLUSTER: &str = "cluster";
const NO_OVERLAP: &str = "no-overlap";
const SKIP: &str = "skip";
const ALL_FOOTERS: &str = "all-footers";
const COMPAT: &str = "compat";

impl Run {
    /// Notes how the hits were paired. Options that have their defaults are left out.
    pub fn set_pair_options(&mut self, options: &PairOptions) {
        let flag = |is_set: bool| is_set.then(|| "yes".to_owned());
        let compat = options.compat == Compat::Scalpel160;
        for (name, value) in [
            (MISSING_FOOTER, flag(options.missing_footer)),
            (CLUSTER, options.cluster.map(|n| n.to_string())),
            (NO_OVERLAP, flag(options.no_overlap)),
            (SKIP, (options.skip > 0).then(|| options.skip.to_string())),
            (ALL_FOOTERS, flag(options.all_footers)),
            (COMPAT, compat.then(|| "1.60".to_owned())),
        ] {
            match value {
                Some(value) => self.options.insert(name.to_owned(), value),
                None => self.options.remove(name),
            };
        }
    }

    /// Notes how many files each rule has in the images before this one, for
    /// [`Layout::behind`](crate::layout::Layout::behind). Left out if there are none.
    pub fn set_earlier_files(&mut self, counts: &[u64]) {
        if counts.iter().all(|&count| count == 0) {
            self.options.remove(EARLIER_FILES);
            return;
        }
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        self.options.insert(EARLIER_FILES.to_owned(), counts.join(","));
    }

    /// How many files each rule has in the images before this one. Empty for the first image.
    #[must_use]
    pub fn earlier_files(&self) -> Vec<u64> {
        let counts = self.options.get(EARLIER_FILES).map_or("", String::as_str);
        counts.split(',').map_while(|count| count.parse().ok()).collect()
    }

    /// How the hits were paired.
    #[must_use]
    pub fn pair_options(&self) -> PairOptions {
        let value = |name: &str| self.options.get(name);
        let number = |name: &str| value(name).and_then(|value| value.parse().ok());
        let is_scalpel = value(COMPAT).is_some_and(|version| version == "1.60");
        PairOptions {
            missing_footer: value(MISSING_FOOTER).is_some(),
            cluster: number(CLUSTER),
            no_overlap: value(NO_OVERLAP).is_some(),
            skip: number(SKIP).unwrap_or(0),
            all_footers: value(ALL_FOOTERS).is_some(),
            compat: if is_scalpel { Compat::Scalpel160 } else { Compat::None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_back() {
        let all = PairOptions {
            missing_footer: true,
            cluster: Some(512),
            no_overlap: true,
            skip: 7,
            all_footers: true,
            compat: Compat::Scalpel160,
        };
        let mut run = Run::default();
        run.options.insert("other".to_owned(), "kept".to_owned());
        for options in [all, PairOptions { cluster: None, ..all }, PairOptions::default()] {
            run.set_pair_options(&options);
            assert_eq!(run.pair_options(), options);
        }
        assert_eq!(run.options.len(), 1);
    }
}
