//! Samples in turn, in rounds: A, B, C, then B, A, C ...
//!
//! Load from other programs then slows every contender of a cell alike. Each round has a random
//! order, because a contender finds in the caches what the one before it left: large tables have
//! displaced the haystack, small ones have not.

use std::time::{Duration, Instant};

use super::clock::{Span, time};
use crate::data::generate::Random;

/// How long samples are taken.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Time for the samples of all contenders of a cell together.
    pub cell: Duration,
    /// The least time of one sample: passes are repeated until it is reached.
    pub sample: Duration,
    /// The least number of rounds, even beyond that time.
    pub min_rounds: usize,
    /// The greatest number of rounds.
    pub max_rounds: usize,
}

/// One contender's work: scans the haystack once.
pub type Pass<'a> = Box<dyn FnMut() + 'a>;

/// Times passes in turn. Gives the time of one pass in every sample of each contender.
///
/// Before the first round each pass runs as often as it takes to fill a sample; this warms up and
/// is not recorded.
pub fn sample(passes: &mut [Pass<'_>], budget: &Budget) -> Vec<Vec<Span>> {
    let repeats: Vec<u64> = passes.iter_mut().map(|p| repeats(p, budget.sample)).collect();
    let mut samples = vec![Vec::new(); passes.len()];
    let mut order: Vec<usize> = (0..passes.len()).collect();
    let mut random = Random::new(1);
    let start = Instant::now();
    for round in 0..budget.max_rounds {
        if round >= budget.min_rounds && start.elapsed() >= budget.cell {
            break;
        }
        for &i in &order {
            samples[i].push(timed(&mut passes[i], repeats[i]));
        }
        shuffle(&mut order, &mut random);
    }
    samples
}

fn shuffle(order: &mut [usize], random: &mut Random) {
    for rest in (2..=order.len()).rev() {
        order.swap(rest - 1, random.below(rest));
    }
}

/// How many passes make a sample long enough.
fn repeats(pass: &mut Pass<'_>, least: Duration) -> u64 {
    let mut repeats = 1;
    loop {
        let span = timed(pass, repeats);
        let total = span.wall * repeats as f64;
        if total >= least.as_nanos() as f64 / 2.0 {
            let wanted = least.as_nanos() as f64 / span.wall;
            return wanted.ceil().max(1.0) as u64;
        }
        repeats *= 2;
    }
}

fn timed(pass: &mut Pass<'_>, repeats: u64) -> Span {
    time(|| (0..repeats).for_each(|_| pass())).1.per(repeats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn rounds_interleave_in_changing_order() {
        let order = RefCell::new(String::new());
        let wait = || std::thread::sleep(Duration::from_micros(200));
        let pass = |name| -> Pass<'_> {
            let order = &order;
            Box::new(move || {
                wait();
                order.borrow_mut().push(name);
            })
        };
        let budget = Budget {
            cell: Duration::ZERO,
            sample: Duration::from_micros(100),
            min_rounds: 20,
            max_rounds: 99,
        };
        let samples = sample(&mut [pass('a'), pass('b'), pass('c')], &budget);
        assert_eq!(samples.iter().map(Vec::len).collect::<Vec<_>>(), [20; 3]);
        let order = order.borrow();
        let rounds: Vec<&str> = (3..order.len()).step_by(3).map(|at| &order[at..at + 3]).collect();
        for round in &rounds {
            assert!("abc".chars().all(|name| round.contains(name)), "{round}");
        }
        for after_a in ["ab", "ac"] {
            assert!(rounds.iter().any(|round| round.contains(after_a)), "{rounds:?}");
        }
    }
}
