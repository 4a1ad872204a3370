//! Bounded channels of the standard library, with a receiver that several threads share.

use std::sync::mpsc::{self, RecvError};
use std::sync::{Mutex, PoisonError};

pub(crate) use std::sync::mpsc::SyncSender as Sender;

/// Gets each value on one of the threads that ask for it.
pub(crate) struct Receiver<T>(Mutex<mpsc::Receiver<T>>);

/// A channel that holds up to `capacity` values.
pub(crate) fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (to, from) = mpsc::sync_channel(capacity);
    (to, Receiver(Mutex::new(from)))
}

impl<T> Receiver<T> {
    /// Waits for a value. One thread waits at the channel, the others at the lock.
    ///
    /// # Errors
    /// The channel is empty and has no sender.
    pub(crate) fn recv(&self) -> Result<T, RecvError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).recv()
    }
}

#[cfg(test)]
mod tests {
    use super::bounded;

    #[test]
    fn threads_share_a_receiver_and_end_with_the_senders() {
        let (to, from) = bounded(2);
        let take = || std::iter::from_fn(|| from.recv().ok()).sum::<u64>();
        let sum: u64 = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..3).map(|_| scope.spawn(take)).collect();
            (1..=1000).for_each(|n| to.send(n).unwrap());
            drop(to);
            takers.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(sum, 500_500);
    }

    #[test]
    fn a_full_channel_refuses_and_a_value_wakes_one_of_several_waiting_threads() {
        let (to, from) = bounded(1);
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..2).map(|_| scope.spawn(|| from.recv())).collect();
            for _ in 0..2 {
                while to.try_send(()).is_err() {
                    std::thread::yield_now();
                }
            }
            waiting.into_iter().for_each(|t| t.join().unwrap().unwrap());
        });
        assert!(to.try_send(()).is_ok() && to.try_send(()).is_err());
    }
}
