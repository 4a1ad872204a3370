//! Things that take long to make and that threads give back: lanes, and pinned memory.
//!
//! A thread that scans opens a queue, buffers on the device and pinned memory beside it, which takes milliseconds. A
//! matcher keeps what its threads leave behind, so that the next file finds them.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Most things that wait in a pool: 16 threads scan with one device at a time, and to scan in order takes three buffers for
/// each.
const MOST: usize = 48;

/// What nobody uses now.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// One that pleases, or a new one.
    pub(crate) fn borrow<E>(
        self: &Arc<Self>,
        pleases: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Borrowed<T>, E> {
        let found = {
            let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            idle.iter().position(pleases).map(|i| idle.swap_remove(i))
        };
        let item = found.map_or_else(make, Ok)?;
        Ok(Borrowed { item: Some(item), home: Arc::clone(self) })
    }
}

/// A thing that goes back to its pool when it is dropped.
pub(crate) struct Borrowed<T> {
    item: Option<T>,
    home: Arc<Pool<T>>,
}

impl<T> Borrowed<T> {
    /// Drops it for good: something is wrong with it.
    pub(crate) fn discard(mut self) {
        self.item = None;
    }
}

impl<T> Deref for Borrowed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.item.as_ref().expect("there until it is discarded")
    }
}

impl<T> DerefMut for Borrowed<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.item.as_mut().expect("there until it is discarded")
    }
}

impl<T> Drop for Borrowed<T> {
    fn drop(&mut self) {
        let Some(item) = self.item.take() else { return };
        let mut idle = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST {
            idle.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_found_again_unless_it_was_discarded() {
        let pool = Arc::new(Pool::default());
        let make = |n: u32| move || Ok::<_, ()>(n);
        let first = pool.borrow(|_| true, make(1)).unwrap();
        let second = pool.borrow(|_| true, make(2)).unwrap();
        assert_eq!((*first, *second), (1, 2));
        drop(first);
        assert_eq!(*pool.borrow(|n| *n > 1, make(3)).unwrap(), 3);
        assert_eq!(*pool.borrow(|n| *n == 1, make(4)).unwrap(), 1);
        second.discard();
        assert_eq!(*pool.borrow(|n| *n == 2, make(5)).unwrap(), 5);
        assert_eq!(pool.borrow(|n| *n > 9, || Err(())).err(), Some(()));
    }

    #[test]
    fn a_pool_keeps_no_more_than_are_of_use() {
        let pool = Arc::new(Pool::default());
        let many: Vec<_> =
            (0..3 * MOST).map(|n| pool.borrow(|_| false, || Ok::<_, ()>(n)).unwrap()).collect();
        drop(many);
        assert_eq!(pool.0.lock().unwrap().len(), MOST);
    }
}
