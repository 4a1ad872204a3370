//! Numbers with three significant digits.

/// Three significant digits, and all digits before the point.
pub fn rounded(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    match size {
        _ if size >= 1000.0 => thousands(value.round() as i64),
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// The same; whole numbers below 1,000 without a point.
pub fn plain(value: f64) -> String {
    let small_and_whole = value.abs() < 1000.0 && value.fract() == 0.0;
    if small_and_whole { format!("{value:.0}") } else { rounded(value) }
}

fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_few_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.127_9, "0.128"),
            (0.000_42, "4.2e-4"),
            (1.289, "1.29"),
            (24.48, "24.5"),
            (243.47, "243"),
            (157_549.0, "157,549"),
            (-1_234_567.0, "-1,234,567"),
        ] {
            assert_eq!(rounded(value), text);
        }
        assert_eq!((plain(3.0), plain(3.5)), ("3".into(), "3.50".into()));
    }
}
