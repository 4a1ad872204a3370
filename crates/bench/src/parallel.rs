//! Work on all cores at once, where nothing is timed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::machine::cores;

/// Maps the items on all cores. The results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else { return mine };
            mine.push((i, work(item)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let running: Vec<_> = (0..cores()).map(|_| scope.spawn(some)).collect();
        running.into_iter().flat_map(|r| r.join().expect("the work does not panic")).collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let doubled: Vec<u64> = items.iter().map(|i| 2 * i).collect();
        assert_eq!(map(&items, |i| 2 * i), doubled);
        assert!(map(&[], |i: &u64| 2 * i).is_empty());
    }
}
