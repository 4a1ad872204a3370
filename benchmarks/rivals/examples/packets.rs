//! Small haystacks: nanoseconds a packet of `Searcher::count_batch`, of a call for each packet, and of
//! Hyperscan, which takes a call for each packet.
//!
//! ```text
//! cargo run --release -p fyke-rivals --example packets -- RULES.hex TRAFFIC [ENGINE ...]
//! ```
//!
//! The rules are lines of hexadecimal digits; of them 100, 1,000 and 5,000 are taken, spread evenly. The
//! traffic is cut into packets of 16, 64, 256 and 1,500 bytes. All counts of a cell have to be equal.

use fyke::{Block, PatternSet, Searcher};
use fyke_rivals::{Built, Job, Rival, Work, hyperscan};
use std::error::Error;
use std::time::{Duration, Instant};

/// Bytes of traffic that are scanned.
const BYTES: usize = 4 << 20;

/// Each way is timed so often, in turns with the others; the least counts.
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [rules, traffic, engines @ ..] = &args[..] else { Err("RULES.hex TRAFFIC [ENGINE ...]")? };
    let rules = std::fs::read_to_string(rules)?;
    let rules: Vec<Vec<u8>> = rules.lines().map(decode).collect::<Result<_, _>>()?;
    let mut traffic = std::fs::read(traffic)?;
    traffic.truncate(BYTES);
    println!(
        "rules packet engine  hyperscan a-call batch in-place  (ns a packet)  hyperscan/batch matches"
    );
    for count in [100, 1000, 5000] {
        let set = PatternSet::new((0..count).map(|i| &rules[i * rules.len() / count]))?;
        let job = Job { set: &set, sample: &[], memory_limit: u64::MAX };
        let rival = hyperscan::RIVAL.build(&job)?;
        for engine in engines.iter().map(String::as_str).chain(engines.is_empty().then_some("auto"))
        {
            let searcher = Searcher::builder().engine(engine).build(&set)?;
            for size in [16, 64, 256, 1500] {
                cell(&*rival, &searcher, engine, &traffic, size)?;
            }
        }
    }
    Ok(())
}

fn decode(line: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = |i| line.get(i..i + 2).ok_or("an odd number of digits");
    (0..line.len()).step_by(2).map(|i| Ok(u8::from_str_radix(digits(i)?, 16)?)).collect()
}

fn cell(
    rival: &dyn Built,
    searcher: &Searcher,
    engine: &str,
    traffic: &[u8],
    size: usize,
) -> Result<(), Box<dyn Error>> {
    let packets: Vec<&[u8]> = traffic.chunks_exact(size).collect();
    let ends: Vec<usize> = (1..=packets.len()).map(|i| i * size).collect();
    let mut scanner = rival.scanner()?;
    let mut counts = Vec::new();
    let mut least = [Duration::MAX; 4];
    let mut found = [0; 4];
    for _ in 0..ROUNDS {
        for way in 0..4 {
            let since = Instant::now();
            found[way] = match way {
                0 => {
                    let each = |p: &&[u8]| scanner.scan(Block::whole(p), Work::Count);
                    packets.iter().map(each).try_fold(0, |n, t| t.map(|t| n + t.count))?
                }
                1 => packets.iter().map(|p| searcher.count(p)).sum(),
                2 => {
                    searcher.count_batch(&packets, &mut counts);
                    counts.iter().sum()
                }
                _ => {
                    searcher.count_packed(traffic, &ends, &mut counts);
                    counts.iter().sum()
                }
            };
            least[way] = least[way].min(since.elapsed());
        }
    }
    if found.iter().any(|&n| n != found[0]) {
        Err(format!("the counts differ: {found:?}"))?;
    }
    let ns = least.map(|d| d.as_nanos() as f64 / packets.len() as f64);
    println!(
        "{:>5} {size:>6} {engine}  {:.1} {:.1} {:.1} {:.1}  {:.2} {}",
        searcher.set().len(),
        ns[0],
        ns[1],
        ns[2],
        ns[3],
        ns[0] / ns[2],
        found[0]
    );
    Ok(())
}
