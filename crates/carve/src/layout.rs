//! Layout: the names and folders of carved files.
//!
//! A file is `<number>.<extension>` in the folder `<extension>-<rule>-<n>`, where `n` grows after
//! every 1,000 files of the rule.

use crate::compat::Compat;
use crate::file::CarvedFile;
use crate::rule::RuleSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// The maximum number of files of a folder.
pub const FILES_PER_FOLDER: u64 = 1000;

/// What names and folders look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutOptions {
    /// All files go to one folder (`-O`).
    pub flat: bool,
    /// Names have no extension (`-n`).
    pub no_extension: bool,
    /// Whose names to write: folders of rules without extension differ.
    pub compat: Compat,
}

/// Names carved files, one after the other, over several images.
#[derive(Clone, Debug)]
pub struct Layout {
    options: LayoutOptions,
    /// The extension of each rule, fit for a file name.
    extensions: Vec<Option<String>>,
    /// How many files each rule has so far.
    counts: Vec<u64>,
}

impl Layout {
    /// A layout for the files of these rules.
    #[must_use]
    pub fn new(rules: &RuleSet, options: LayoutOptions) -> Self {
        // An extension must not lead out of the folder.
        let safe = |extension: &String| extension.replace(['/', '\\'], "_");
        let extensions = rules.rules.iter().map(|r| r.extension.as_ref().map(safe)).collect();
        Self { options, extensions, counts: vec![0; rules.rules.len()] }
    }

    /// Goes on after the files of earlier images, given how many each rule has there. The counts
    /// are ignored if there are more or fewer of them than rules.
    #[must_use]
    pub fn behind(mut self, earlier: Vec<u64>) -> Self {
        if earlier.len() == self.counts.len() {
            self.counts = earlier;
        }
        self
    }

    /// How many files each rule has so far.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The path of the next file, relative to the output folder. Files must come in the order of
    /// their numbers, each once: the folder depends on how many files of the rule came before.
    ///
    /// # Panics
    ///
    /// If the file's rule is of another rule set.
    pub fn path(&mut self, file: &CarvedFile) -> PathBuf {
        let count = &mut self.counts[file.rule];
        let folder = *count / FILES_PER_FOLDER;
        *count += 1;
        let mut path = PathBuf::new();
        if !self.options.flat {
            let mut name = self.folder_word(file.rule);
            name.push(format!("-{}-{folder}", file.rule));
            path.push(name);
        }
        path.push(self.name(file));
        path
    }

    /// The name of a file, without its folder.
    ///
    /// # Panics
    ///
    /// If the file's rule is of another rule set.
    #[must_use]
    pub fn name(&self, file: &CarvedFile) -> String {
        match &self.extensions[file.rule] {
            Some(extension) if !self.options.no_extension => {
                format!("{:08}.{extension}", file.number)
            }
            _ => format!("{:08}", file.number),
        }
    }

    fn folder_word(&self, rule: usize) -> OsString {
        match &self.extensions[rule] {
            Some(extension) => extension.into(),
            None if self.options.compat == Compat::Scalpel160 => no_extension_of_scalpel(),
            None => "NONE".into(),
        }
    }
}

/// Scalpel 1.60 marks a rule without extension by this byte, and writes it into folders' names.
#[cfg(unix)]
fn no_extension_of_scalpel() -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(vec![0xff])
}

#[cfg(not(unix))]
fn no_extension_of_scalpel() -> OsString {
    "\u{ff}".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf;
    use crate::file::Validity;

    fn paths(options: LayoutOptions, rules_of_files: &[usize]) -> Vec<PathBuf> {
        let text = b"jpg y 9 ABC\nNONE y 9 ABC\na/../b y 9 ABC\n";
        let rules = conf::parse(text, "c", conf::Options::default()).unwrap();
        let mut layout = Layout::new(&rules, options);
        let file = |(number, &rule)| CarvedFile {
            number: number as u64,
            rule,
            start: 0,
            len: 1,
            chopped: false,
            valid: Validity::Unknown,
        };
        rules_of_files.iter().enumerate().map(|f| layout.path(&file(f))).collect()
    }

    #[test]
    fn names_and_folders() {
        let plain = LayoutOptions::default();
        let expected = ["jpg-0-0/00000000.jpg", "NONE-1-0/00000001", "a_.._b-2-0/00000002.a_.._b"];
        assert_eq!(paths(plain, &[0, 1, 2]), expected.map(PathBuf::from));
        let flat = LayoutOptions { flat: true, no_extension: true, ..plain };
        assert_eq!(paths(flat, &[0, 1]), ["00000000", "00000001"].map(PathBuf::from));
        let bare = LayoutOptions { no_extension: true, ..plain };
        assert_eq!(paths(bare, &[0]), ["jpg-0-0/00000000"].map(PathBuf::from));
    }

    #[test]
    fn a_folder_has_a_thousand_files_of_a_rule() {
        let rules: Vec<usize> = (0..2002).map(|i| i % 2).collect();
        let all = paths(LayoutOptions::default(), &rules);
        assert_eq!(all[1998], PathBuf::from("jpg-0-0/00001998.jpg"));
        assert_eq!(all[1999], PathBuf::from("NONE-1-0/00001999"));
        assert_eq!(all[2000], PathBuf::from("jpg-0-1/00002000.jpg"));
    }

    #[cfg(unix)]
    #[test]
    fn scalpel_names_a_folder_by_a_byte() {
        use std::os::unix::ffi::OsStrExt;
        let options = LayoutOptions { compat: Compat::Scalpel160, ..LayoutOptions::default() };
        assert_eq!(paths(options, &[1])[0].as_os_str().as_bytes(), b"\xff-1-0/00000000");
    }
}
