//! How a line starts: with the action of a rule, with a directive, or as a comment.

/// Actions that start a rule.
const ACTIONS: [&str; 14] = [
    "alert",
    "drop",
    "pass",
    "log",
    "reject",
    "activate",
    "dynamic",
    "sdrop",
    "rewrite",
    "block",
    "react",
    "rejectsrc",
    "rejectdst",
    "rejectboth",
];

/// Directives of configuration files. Rule files may contain them; they have no contents.
const DIRECTIVES: [&str; 17] = [
    "var",
    "ipvar",
    "portvar",
    "include",
    "config",
    "preprocessor",
    "output",
    "ruletype",
    "threshold",
    "event_filter",
    "rate_limit",
    "suppress",
    "file",
    "dynamicpreprocessor",
    "dynamicengine",
    "dynamicdetection",
    "attribute_table",
];

/// Whether a line starts with the action of a rule.
pub(in super::super) fn is_rule(text: &[u8]) -> bool {
    ACTIONS.iter().any(|a| first_word(text) == a.as_bytes())
}

/// Whether a line includes another file.
pub(super) fn is_include(text: &[u8]) -> bool {
    first_word(text) == b"include"
}

/// Whether a line starts with a directive.
pub(super) fn is_directive(text: &[u8]) -> bool {
    DIRECTIVES.iter().any(|d| first_word(text) == d.as_bytes())
}

/// The text after the comment signs; `None` if the line is not a comment.
pub(super) fn comment(text: &[u8]) -> Option<&[u8]> {
    let signs = text.iter().take_while(|&&b| b == b'#').count();
    (signs > 0).then(|| text[signs..].trim_ascii_start())
}

/// The first word of a line, or its first byte if no word starts there.
pub(super) fn first_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'));
    match end {
        Some(0) => &text[..1],
        Some(end) => &text[..end],
        None => text,
    }
}
