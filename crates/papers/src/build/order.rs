//! An order of states in which those that report come last, so one comparison tells whether a
//! state reports.

use fyke_automata::Trie;

/// Where the row of each state stands.
#[derive(Debug)]
pub struct RowOrder {
    /// The row of each state. That of the root is 0.
    pub row: Vec<u32>,
    /// The first row of a state that reports. All rows from here on report.
    pub first_reporting: u32,
}

impl RowOrder {
    /// Bytes for each state.
    pub const BYTES_PER_STATE: u64 = 4;

    /// Orders the states of a trie. Within the two groups rows keep the order of the states.
    pub fn new(trie: &Trie) -> RowOrder {
        let states = 0..trie.len() as u32;
        let first_reporting = states.clone().filter(|&s| !trie.is_output(s)).count() as u32;
        let mut next = [0, first_reporting];
        let mut place = |state| {
            let next = &mut next[usize::from(trie.is_output(state))];
            *next += 1;
            *next - 1
        };
        RowOrder { row: states.map(&mut place).collect(), first_reporting }
    }

    /// Picks the values of the reporting states, in order of their rows.
    pub fn of_reporting<T: Copy + Default>(&self, of_states: &[T]) -> Vec<T> {
        let first = self.first_reporting;
        let mut chosen = vec![T::default(); self.row.len() - first as usize];
        for (&row, &value) in self.row.iter().zip(of_states).filter(|(row, _)| **row >= first) {
            chosen[(row - first) as usize] = value;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::PatternSet;

    #[test]
    fn reporting_states_come_last_and_the_root_first() {
        let trie = Trie::new(&PatternSet::new(["a", "cba"]).unwrap()).unwrap();
        let order = RowOrder::new(&trie);
        // States are the root, a, c, cb, cba.
        assert_eq!((order.row.as_slice(), order.first_reporting), ([0, 3, 1, 2, 4].as_slice(), 3));
        assert_eq!(order.of_reporting(&[10, 11, 12, 13, 14]), [11, 14]);
    }
}
