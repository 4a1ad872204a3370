//! Prints the best instruction set that engines find on this CPU: `scalar`, `simd128`, `neon`,
//! `avx2` or `avx512`.

use fyke_cpu::simd::Isa;

fn main() {
    let best = Isa::ALL.into_iter().rfind(|isa| isa.available());
    println!("{}", best.map_or("none", Isa::name));
}
