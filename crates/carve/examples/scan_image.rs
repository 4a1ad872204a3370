//! Scans an image for the rules of a configuration, and prints the time and the number of hits.
//!
//! ```text
//! cargo run --release -p fyke-carve --example scan_image -- CONF IMAGE [STRATEGY [THREADS [BUFFER]]]
//! ```

use fyke_carve::pipeline::{ScanOptions, Strategy, scan};
use fyke_carve::{conf, finder::Finder, image};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [conf, image, rest @ ..] = &args[..] else {
        return Err("give CONF IMAGE [STRATEGY [THREADS [BUFFER]]]".into());
    };
    let rules = conf::parse(&std::fs::read(conf)?, conf, conf::Options::default())?;
    let image = image::open(Path::new(image))?;
    let mut options = ScanOptions::default();
    if let Some(name) = rest.first() {
        options.strategy = Strategy::named(name).ok_or("no such strategy")?;
    }
    if let Some(threads) = rest.get(1) {
        options.threads = threads.parse()?;
    }
    options.buffer = rest.get(2).map(|bytes| bytes.parse()).transpose()?;
    println!("{}", Finder::new(&rules)?.describe().unwrap_or_default());
    let start = Instant::now();
    let scanned = scan(&*image, &rules, &options, &())?;
    let seconds = start.elapsed().as_secs_f64();
    let hits: usize = scanned.hits.needles.iter().map(|needle| needle.starts.len()).sum();
    let rate = image.len() as f64 / 1e9 / seconds;
    println!(
        "{} rules, {} needles, {hits} hits, {seconds:.3} s, {rate:.2} GB/s",
        rules.rules.len(),
        rules.needles.len()
    );
    Ok(())
}
