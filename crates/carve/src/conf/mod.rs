//! Configurations: scalpel.conf of Scalpel 1.60, with `min:max` and `/regular expressions/` of 2.x.
//!
//! ```text
//! # extension  case  size      header            footer    mode
//! jpg          y     20000000  \xff\xd8\xff\xe0  \xff\xd9
//! wildcard ?
//! ```
//!
//! A line is a rule, a wildcard, or a comment. Words are separated by blanks; there is no quoting.
//! The wildcard holds for the whole file. [`lint`] lists likely mistakes.
//!
//! Under [`Compat::Scalpel160`] a text is read as Scalpel 1.60 reads it: an escaped wildcard is a
//! wildcard (B5), extensions are cut (B7), and what 2.x added has no meaning.

mod diagnostic;
mod escape;
mod lint;
mod needle;
mod rule;
mod token;

pub use diagnostic::{ConfError, Diagnostic, Warning};

use crate::compat::Compat;
use crate::rule::{Interner, Rule, RuleSet};
use diagnostic::Remark;
use needle::NeedleSyntax;
use rule::RuleTokens;
use token::Token;

const DEFAULT_WILDCARD: u8 = b'?';

/// How to read a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whose reading to follow.
    pub compat: Compat,
}

/// Reads a configuration. `path` is for messages.
///
/// # Errors
///
/// The first error of the text; or that it has no rule.
pub fn parse(text: &[u8], path: &str, options: Options) -> Result<RuleSet, ConfError> {
    let (rules, errors) = read(text, path, options);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None if rules.rules.is_empty() => Err(no_rule(path)),
        None => Ok(rules),
    }
}

/// All errors of a configuration, in the order of its lines.
#[must_use]
pub fn errors(text: &[u8], path: &str, options: Options) -> Vec<ConfError> {
    let (rules, mut errors) = read(text, path, options);
    if errors.is_empty() && rules.rules.is_empty() {
        errors.push(no_rule(path));
    }
    errors
}

/// Likely mistakes, in the order of the lines. Lines with errors are left out.
#[must_use]
pub fn lint(text: &[u8], path: &str, options: Options) -> Vec<Warning> {
    lint::lint(&Lines::new(text, options), path)
}

fn no_rule(path: &str) -> ConfError {
    let help = "remove the # before the rules that you want: in Scalpel's own file it is before \
                all of them";
    Remark::new(1, "there is no rule", help).at(path, 1)
}

/// The rules that can be read, and the errors of the lines that cannot.
fn read(text: &[u8], path: &str, options: Options) -> (RuleSet, Vec<ConfError>) {
    let lines = Lines::new(text, options);
    let mut needles = Interner::default();
    let mut rules: Vec<Rule> = Vec::new();
    let mut errors = lines.errors;
    for (line, tokens) in &lines.rules {
        match tokens.read(*line, lines.syntax, &mut needles) {
            Ok(rule) => rules.push(rule),
            Err(remark) => errors.push((*line, remark)),
        }
    }
    errors.sort_by_key(|(line, _)| *line);
    let errors = errors.into_iter().map(|(line, remark)| remark.at(path, line)).collect();
    (RuleSet { rules, needles: needles.into_needles() }, errors)
}

/// A configuration cut to lines and words.
struct Lines<'a> {
    rules: Vec<(usize, RuleTokens<'a>)>,
    /// Each wildcard line: its number, its keyword, the words after it.
    wildcards: Vec<(usize, Token<'a>, Vec<Token<'a>>)>,
    errors: Vec<(usize, Remark)>,
    syntax: NeedleSyntax,
    options: Options,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8], options: Options) -> Self {
        let syntax = NeedleSyntax { wildcard: DEFAULT_WILDCARD, compat: options.compat };
        let mut lines = Lines { rules: vec![], wildcards: vec![], errors: vec![], syntax, options };
        let as_scalpel = options.compat == Compat::Scalpel160;
        // Editors of Windows begin a text with a byte order mark.
        let bom = if as_scalpel { None } else { text.strip_prefix(b"\xef\xbb\xbf") };
        for (number, line) in token::lines(bom.unwrap_or(text), as_scalpel) {
            if let Err(remark) = lines.add(number, line) {
                lines.errors.push((number, remark));
            }
        }
        lines
    }

    fn add(&mut self, number: usize, line: &'a [u8]) -> Result<(), Remark> {
        let tokens = token::tokens(line)?;
        match tokens.split_first() {
            None => {}
            Some((keyword, words)) if keyword.is("wildcard") => {
                // The last one holds. One without a word is ignored, with a warning.
                if let Some(word) = words.first() {
                    let decoded = escape::decode(word.bytes).0;
                    self.syntax.wildcard = decoded[0].byte;
                }
                self.wildcards.push((number, *keyword, words.to_vec()));
            }
            Some(_) => self.rules.push((number, RuleTokens::new(&tokens)?)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
