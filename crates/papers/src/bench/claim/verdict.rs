//! The verdict on a claim, from the comparisons that test it.

/// Whether a claim holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does, with figures.
    Holds(String),
    /// It does not, with figures.
    Fails(String),
    /// Figures are missing.
    Untold(String),
}

/// Comparisons of one claim.
#[derive(Default)]
pub(super) struct Comparisons {
    right: Vec<String>,
    wrong: Vec<String>,
    pub(super) missing: usize,
}

/// Figures that are printed for a claim that holds, and for one that does not.
const NAMED: [usize; 2] = [2, 4];

impl Comparisons {
    pub(super) fn add(&mut self, holds: bool, figures: String) {
        if holds { self.right.push(figures) } else { self.wrong.push(figures) }
    }

    pub(super) fn verdict(self, share: f64) -> Verdict {
        let made = self.right.len() + self.wrong.len();
        if made == 0 {
            return Verdict::Untold("figures are missing".into());
        }
        let gaps = match self.missing {
            0 => String::new(),
            n => format!("; {n} more without figures"),
        };
        if self.right.len() as f64 >= share * made as f64 {
            let of = if self.wrong.is_empty() {
                String::new()
            } else {
                format!("in {} of {made}: ", self.right.len())
            };
            return Verdict::Holds(format!("{of}{}{gaps}", some(&self.right, NAMED[0])));
        }
        let wrong = self.wrong.len();
        Verdict::Fails(format!("not in {wrong} of {made}: {}{gaps}", some(&self.wrong, NAMED[1])))
    }
}

fn some(figures: &[String], named: usize) -> String {
    let shown = figures[..figures.len().min(named)].join(", ");
    match figures.len().saturating_sub(named) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}
