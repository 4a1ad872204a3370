//! Regular expressions of rules: one definition of their syntax for all that compile them.
//!
//! They match bytes, not characters: `.` matches any byte, and letters ignore ASCII case only.
//! Look-around (`^`, `$`, `\b`) is refused, because whether it holds would depend on where an image
//! is cut; so is an expression that matches the empty string.

use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

/// The syntax of a rule's expressions, for the builders of regex-automata.
#[must_use]
pub fn config(nocase: bool) -> syntax::Config {
    syntax::Config::new()
        .case_insensitive(nocase)
        .dot_matches_new_line(true)
        .unicode(false)
        .utf8(false)
        .octal(false)
}

/// Parses an expression.
///
/// # Errors
///
/// What is wrong with it, in words that follow "the regular expression ...".
pub fn parse(pattern: &str, nocase: bool) -> Result<Hir, String> {
    let hir = syntax::parse_with(pattern, &config(nocase)).map_err(|e| reason(&e))?;
    let properties = hir.properties();
    if !properties.look_set().is_empty() {
        return Err("has an anchor or a word boundary, which an image does not have; \
                    write the bytes before or after instead"
            .into());
    }
    match properties.minimum_len() {
        None => Err("matches nothing".into()),
        Some(0) => Err("matches the empty string; make it match at least one byte".into()),
        Some(min) if min > crate::Needle::MAX_REGEX_LEN => Err(format!(
            "matches only {min} bytes or more; the limit is {}",
            crate::Needle::MAX_REGEX_LEN
        )),
        Some(_) => Ok(hir),
    }
}

/// The last line of the parser's message: the others draw the pattern.
fn reason(error: &regex_syntax::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    format!("cannot be read: {}", last.trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_the_surroundings_is_refused() {
        for bad in ["^a", "a$", r"\ba", r"a\B", "(?m)^a", r"\A", "a*", "", "a|"] {
            assert!(parse(bad, false).is_err(), "{bad}");
        }
        for good in ["a", r"\xFF\xD8\xFF[\xE0\xE1]", "a.b", "GIF8[79]a", "[[:alpha:]]+", "(?s-u:.)"]
        {
            assert!(parse(good, false).is_ok(), "{good}");
        }
    }

    #[test]
    fn messages_say_what_is_wrong() {
        assert_eq!(parse("(a", false).unwrap_err(), "cannot be read: unclosed group");
        assert!(parse("a{5000}", false).unwrap_err().starts_with("matches only 5000 bytes"));
    }
}
