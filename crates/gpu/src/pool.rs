//! Objects that are expensive to make and that threads give back: workspaces, and pinned memory.
//!
//! Opening a queue and allocating its buffers and pinned memory takes milliseconds. A matcher
//! keeps what its threads give back, so that the next file need not do it again.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Most idle objects of a pool: up to 16 threads scan with one device, and in an ordered scan each
/// thread has up to three pieces of memory in flight.
const MOST: usize = 48;

/// Objects that nothing uses now.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// An idle object that `accepts` approves, or a new one.
    pub(crate) fn borrow<E>(
        self: &Arc<Self>,
        accepts: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Borrowed<T>, E> {
        let idle = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().position(accepts).map(|i| all.swap_remove(i))
        };
        let item = idle.map_or_else(make, Ok)?;
        Ok(Borrowed { item: Some(item), home: Arc::clone(self) })
    }
}

/// An object that returns to its pool when it is dropped.
pub(crate) struct Borrowed<T> {
    item: Option<T>,
    home: Arc<Pool<T>>,
}

impl<T> Borrowed<T> {
    /// Drops the object instead of giving it back.
    pub(crate) fn discard(mut self) {
        self.item = None;
    }
}

impl<T> Deref for Borrowed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.item.as_ref().expect("only `discard` and `drop` take it")
    }
}

impl<T> DerefMut for Borrowed<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.item.as_mut().expect("only `discard` and `drop` take it")
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
    fn a_pool_keeps_a_bounded_number_of_objects() {
        let pool = Arc::new(Pool::default());
        let many: Vec<_> =
            (0..3 * MOST).map(|n| pool.borrow(|_| false, || Ok::<_, ()>(n)).unwrap()).collect();
        drop(many);
        assert_eq!(pool.0.lock().unwrap().len(), MOST);
    }
}
