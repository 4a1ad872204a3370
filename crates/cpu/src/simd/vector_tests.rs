//! Every operation of every instance equals plain Rust, on random values and on edges.

use super::{Vector, Work};
use crate::simd::{Dispatch, Isa, Scalar};
use crate::testing::print_once;
use fyke_testkit::random::SplitMix;
use std::array::from_fn;

/// What an operation gets.
struct Input {
    a: [u8; 64],
    b: [u8; 64],
    mask: u64,
}

impl Input {
    fn new(random: &mut SplitMix) -> Input {
        // Single bits, letters and what is beside them, and the edges of signed numbers.
        const EDGES: &[u8] = b"\0\x01\x02\x08\x0f\x10\x7f\x80\xf0\xff`az{AZ";
        let mut bytes = || -> [u8; 64] {
            let edges = random.below(3);
            from_fn(|_| match edges {
                0 => random.below(256) as u8,
                1 => EDGES[random.below(EDGES.len() as u64) as usize],
                _ => {
                    if random.below(8) == 0 {
                        EDGES[random.below(9) as usize]
                    } else {
                        0
                    }
                }
            })
        };
        let (a, mut b) = (bytes(), bytes());
        let mask = match random.below(4) {
            0 => random.bits() & random.bits() & random.bits(),
            1 => 0,
            2 => u64::MAX,
            _ => random.bits(),
        };
        // Some equal elements.
        (0..64).filter(|i| mask >> i & 1 == 1).for_each(|i| b[i] = a[i]);
        Input { a, b, mask }
    }

    fn low(&self) -> u16 {
        self.mask as u16
    }
}

/// Checks that a loop yields the same on all instances that this CPU has.
fn check<W: Work<Output: PartialEq + std::fmt::Debug>>(name: &str, work: impl Fn() -> W) {
    let expected = Scalar.run(work());
    for isa in Isa::ALL {
        match isa.dispatch().map(|dispatch| dispatch.run(work())) {
            Ok(Ok(found)) => assert_eq!(found, expected, "{name} {isa:?}"),
            Ok(Err(_)) => assert_eq!(isa, Isa::Scalar),
            Err(why) => {
                print_once(format!("vector operations, {}: NOT checked: {why}", isa.name()))
            }
        }
    }
}

/// A test of an operation.
macro_rules! operations {
    ($($name:ident: |$v:ident, $input:ident, $a:ident, $b:ident| -> $result:ty $work:block)*) => {$(
        #[test]
        fn $name() {
            struct Operation<'a>(&'a Input);

            impl Work for Operation<'_> {
                type Output = $result;

                #[inline(always)]
                fn run<V: Vector>(self, $v: V) -> $result {
                    let ($a, $b) = ($v.load(&self.0.a), $v.load(&self.0.b));
                    let $input = self.0;
                    $work
                }
            }

            let mut random = SplitMix::new(1);
            for _ in 0..if cfg!(miri) { 10 } else { 2_000 } {
                let input = Input::new(&mut random);
                check(stringify!($name), || Operation(&input));
            }
        }
    )*};
}

type Words = [u32; 16];

operations! {
    splat8_copies_a_byte: |v, input, _a, _b| -> Words { v.words(v.splat8(input.a[0])) }
    splat32_copies_a_number: |v, input, _a, _b| -> Words { v.words(v.splat32(input.mask as u32)) }
    splat64_copies_a_number: |v, input, _a, _b| -> Words { v.words(v.splat64(input.mask)) }
    repeat_copies_a_table: |v, input, _a, _b| -> Words {
        v.words(v.repeat(input.a.first_chunk().unwrap()))
    }
    load_reads_all_bytes: |v, _input, a, _b| -> Words { v.words(a) }
    store_writes_all_bytes: |v, input, a, _b| -> [u8; 64] {
        let mut to = [0; 64];
        v.store(a, &mut to);
        assert_eq!(to, input.a);
        to
    }
    load32_reads_numbers: |v, input, _a, _b| -> Words {
        v.words(v.load32(&from_fn(|i| (i as u32).wrapping_mul(input.mask as u32))))
    }
    load64_reads_numbers: |v, input, _a, _b| -> Words {
        v.words(v.load64(&from_fn(|i| input.mask.rotate_left(i as u32))))
    }
    load_some_reads_as_many_bytes: |v, input, _a, _b| -> Words {
        v.words(v.load_some(&input.a[input.mask as usize % 65..]))
    }
    load_short_reads_the_rest: |v, input, _a, _b| -> Words {
        let [len, ahead] = [input.mask as usize % 65, (input.mask >> 8) as usize % 7];
        v.words(v.load_short(&input.a[..len], ahead))
    }
    load_four64_reads_numbers: |v, input, _a, _b| -> Words {
        v.words(v.load_four64(from_fn(|i| input.mask.rotate_left(i as u32))))
    }
    and_equals_scalar: |v, _input, a, b| -> Words { v.words(v.and(a, b)) }
    or_equals_scalar: |v, _input, a, b| -> Words { v.words(v.or(a, b)) }
    xor_equals_scalar: |v, _input, a, b| -> Words { v.words(v.xor(a, b)) }
    min8_is_unsigned: |v, _input, a, b| -> Words { v.words(v.min8(a, b)) }
    add8_wraps: |v, _input, a, b| -> Words { v.words(v.add8(a, b)) }
    add32_wraps: |v, _input, a, b| -> Words { v.words(v.add32(a, b)) }
    add64_wraps: |v, _input, a, b| -> Words { v.words(v.add64(a, b)) }
    multiply_low_takes_lower_halves: |v, _input, a, b| -> Words { v.words(v.multiply_low(a, b)) }
    multiply_add_is_signed: |v, _input, a, b| -> Words { v.words(v.multiply_add(a, b)) }
    high_nibbles_are_low_four_bits: |v, _input, a, _b| -> Words { v.words(v.high_nibbles(a)) }
    right32_keeps_neighbors_apart: |v, _input, a, _b| -> Words {
        v.words(v.xor(v.right32(a, 0), v.xor(v.right32(a, 10), v.right32(a, 31))))
    }
    left32_keeps_neighbors_apart: |v, _input, a, _b| -> Words {
        v.words(v.xor(v.left32(a, 0), v.xor(v.left32(a, 8), v.left32(a, 31))))
    }
    min32_is_unsigned: |v, _input, a, b| -> Words { v.words(v.min32(a, b)) }
    half_on_moves_the_lower_half: |v, input, a, _b| -> Words {
        v.words(v.half_on(a, input.mask as u32))
    }
    join_halves_takes_both: |v, _input, a, b| -> Words { v.words(v.join_halves(a, b)) }
    fold_lowers_letters: |v, _input, a, _b| -> Words { v.words(v.fold(a, v.splat8(0x20))) }
    upper_halves_move_down: |v, _input, a, _b| -> Words { v.words(v.upper_halves(a)) }
    lookup_takes_repeated_tables: |v, input, _a, b| -> Words {
        v.words(v.shuffle(v.repeat(input.a.first_chunk().unwrap()), b))
    }
    shuffle_ascii_takes_low_four_bits: |v, input, _a, b| -> Words {
        let ascii = v.and(b, v.splat8(0x7f));
        v.words(v.shuffle_ascii(v.repeat(input.a.first_chunk().unwrap()), ascii))
    }
    equal8_is_a_mask: |v, _input, a, b| -> u64 { v.equal8(a, b) }
    nonzero8_is_a_mask: |v, _input, a, _b| -> u64 { v.nonzero8(a) }
    nonzero64_is_a_mask: |v, _input, a, _b| -> u8 { v.nonzero64(a) }
    add_bytes_sums_eight: |v, _input, a, b| -> Words { v.words(v.add_bytes(a, b)) }
    sum64_sums_all: |v, _input, a, _b| -> u64 { v.sum64(a) }
    mask_of_two_is_in_its_order: |v, _input, a, b| -> [u8; 32] {
        let mask = v.mask_of_two([v.clear32(a, b), v.clear32(b, b)]);
        let mut answers = [2; 32];
        for (bit, element) in V::BIT_ORDER.into_iter().enumerate() {
            answers[usize::from(element)] = (mask >> bit & 1) as u8;
        }
        answers
    }
    clear_mask32_is_in_order: |v, _input, a, b| -> [u16; 3] {
        [v.clear_mask32::<0xffff>(a, b), v.clear_mask32::<0x7fff>(a, b), v.clear_mask32::<0x8001>(a, b)]
    }
    choose_takes_bits_1_to_3: |v, _input, a, b| -> Words {
        v.words(v.choose(v.lower_halves(a), v.and(b, v.splat32(0xffff_fffe))))
    }
    choose_takes_15_if_the_last_is_0: |v, input, a, b| -> [Words; 2] {
        let low = v.and(b, v.splat32(15));
        // Index 15 or an even one.
        let all = v.words(low).map(|i| if i == 15 { 15 } else { i & 14 });
        let index = v.load32(&all);
        let a = v.and(a, v.load64(&[u64::MAX, 1, u64::MAX, 7, 0xffff, u64::MAX, 3, 0]));
        let seven = v.seven_copies(input.mask as u32);
        [v.choose(v.lower_halves(a), index), v.choose(seven, index)].map(|a| v.words(a))
    }
    differ_is_a_mask: |v, input, _a, _b| -> [u32; 3] {
        let (text, pattern) = (input.a.as_ptr(), input.b.as_ptr());
        // SAFETY: both arrays have 64 bytes.
        let exact = unsafe { v.differ::<false>(text, pattern, 0x20) };
        // SAFETY: the same.
        let unfolded = unsafe { v.differ::<true>(text, pattern, 0) };
        // SAFETY: the same.
        [exact, unfolded, unsafe { v.differ::<true>(text, pattern, 0x20) }]
    }
    words_of_halves_are_masked: |v, input, _a, _b| -> Words {
        v.words(v.words_of_halves(input.a.first_chunk().unwrap(), input.low()))
    }
    gathers_read_at_byte_offsets: |v, input, a, _b| -> [Words; 2] {
        let offsets = v.and(a, v.splat32(60));
        // SAFETY: an offset is at most 60, and the array has 64 bytes.
        let gathered = unsafe { v.gather(input.b.as_ptr().cast(), offsets) };
        // SAFETY: the same.
        [gathered, unsafe { v.gather_by_loads(input.b.as_ptr().cast(), &v.words(offsets)) }].map(|a| v.words(a))
    }
    append_places_writes_those_of_set_bits: |v, input, _a, _b| -> Vec<u16> {
        let mut to = vec![0xabcd; 64 + 1];
        // SAFETY: 64 elements can be written.
        let len = unsafe { v.append_places(&input.a, input.mask, u16::from(input.b[0]) << 8, to.as_mut_ptr()) };
        assert_eq!((len, to.pop()), (input.mask.count_ones() as usize, Some(0xabcd)));
        to.truncate(len);
        to
    }
    append_fields_writes_those_of_set_bits: |v, input, a, _b| -> Vec<u32> {
        let mut to = vec![0xabcd; 16 + 1];
        // SAFETY: 16 elements can be written.
        let len = unsafe { v.append_fields::<4, 0xff>(a, input.low(), to.as_mut_ptr()) };
        assert_eq!((len, to.pop()), (input.low().count_ones() as usize, Some(0xabcd)));
        to.truncate(len);
        to
    }
    fill32_writes_copies: |v, input, _a, _b| -> Vec<u32> {
        let (mut to, count) = (vec![0xabcd; 16 + 1], input.mask as usize % 17);
        // SAFETY: 16 elements can be written.
        unsafe { v.fill32(input.a[0].into(), count, to.as_mut_ptr()) };
        assert_eq!(to.pop(), Some(0xabcd));
        to.truncate(count);
        to
    }
    load_reads_at_any_address: |v, input, _a, _b| -> Words {
        let twice = [input.a, input.b].concat();
        // SAFETY: 64 bytes from an offset of at most 63 are among the 128.
        v.words(unsafe { v.load_at(twice.as_ptr().wrapping_add(input.mask as usize % 64)) })
    }
}

#[test]
fn shuffle64_takes_64_entries_where_there_are_as_many() {
    struct Lookup(SplitMix);

    impl Work for Lookup {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(mut self, v: V) {
            for _ in 0..100 * usize::from(V::ENTRIES == 64) {
                let input = Input::new(&mut self.0);
                let found = v.words(v.shuffle64(v.load(&input.a), v.load(&input.b)));
                let expected = Scalar.shuffle64(input.a, input.b);
                assert_eq!(found, Scalar.words(expected));
            }
        }
    }

    Scalar.run(Lookup(SplitMix::new(2)));
    let available = Isa::ALL.into_iter().filter_map(|isa| isa.dispatch().ok());
    available.for_each(|dispatch: Dispatch| drop(dispatch.run(Lookup(SplitMix::new(2)))));
}

/// The reference is right where a reader can see it.
#[test]
fn scalar_operations_are_what_their_documents_say() {
    let v = Scalar;
    let ascending: [u8; 64] = from_fn(|i| i as u8);
    assert_eq!(v.words(ascending)[1], 0x0706_0504);
    assert_eq!(v.nonzero8(ascending), !1);
    assert_eq!(v.equal8(ascending, v.splat8(5)), 1 << 5);
    assert_eq!(v.nonzero64(v.load64(&[0, 1, 0, 0, 1 << 63, 0, 0, 0])), 0b1_0010);
    assert_eq!(v.sum64(v.add_bytes(v.splat8(0), ascending)), 63 * 64 / 2);
    assert_eq!(v.words(v.multiply_add(v.splat32(0xffff_0002), v.splat32(0x0003_0005)))[7], 7);
    assert_eq!(
        v.words(v.multiply_low(v.splat64(7 << 32 | 3), v.splat64(5 << 32 | 2)))[..2],
        [6, 0]
    );
    let folded = v.fold(v.load(&from_fn(|i| b"AZaz09 \0@["[i % 10])), v.splat8(0x20));
    assert_eq!(folded[..10], *b"azaz09 \0`{");
    assert_eq!(v.high_nibbles(v.splat8(0xa5))[3] & 15, 0xa);
    assert_eq!(v.shuffle(v.repeat(&from_fn(|i| i as u8 * 3)), ascending)[17], 3);
    assert_eq!(v.clear_mask32::<0x0f>(ascending, v.splat32(0x10)), 0x0f);
    assert_eq!(v.choose(v.seven_copies(9), v.splat32(12))[0], 9);
    assert_eq!(v.choose(v.seven_copies(9), v.splat32(14))[0], 0);
}
