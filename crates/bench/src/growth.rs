//! Peak memory while building.
//!
//! A separate process reads the set, builds it once, and prints how far it grew. In the benchmark's
//! own process the figure would depend on earlier contenders, because allocators keep memory. The
//! figure includes C libraries, which a counting allocator would not see.

use std::env;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fyke_core::{PatternId, PatternSet};
use fyke_rivals::{Job, RIVALS};

use crate::contender::choose::{Contender, Selection, choose};
use crate::timing::memory::Peak;

/// Bytes by which a process grows at the peak of building. `None` if it cannot be measured.
pub fn measure(contender: &Contender, set: &PatternSet, memory_limit: u64) -> Option<u64> {
    let mut child = Command::new(env::current_exe().ok()?)
        .args(["bench", "cpu", "--build-growth", &contender.name])
        .args(["--memory-limit", &memory_limit.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let sent = send(set, &mut child.stdin.take()?);
    let output = child.wait_with_output().ok()?;
    sent.ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// The separate process: reads a set, builds it, and prints by how much this process grew.
///
/// # Errors
/// There is no such contender, it refuses the set, or the system does not report peak memory.
pub fn answer(
    name: &str,
    memory_limit: u64,
    input: &mut dyn Read,
    out: &mut dyn Write,
) -> Result<()> {
    let contender = named(name)?;
    let set = receive(input)?;
    let job = Job { set: &set, sample: &[], threads: 1, expected_call: None, memory_limit };
    let peak = Peak::start().context("this system does not report the peak memory of a process")?;
    let built = contender.rival.build(&job)?;
    let grown = peak.grown();
    drop(built);
    writeln!(out, "{grown}")?;
    Ok(())
}

fn named(name: &str) -> Result<Contender> {
    let rival = RIVALS.iter().any(|r| r.name() == name);
    let (engine, rivals) = if rival { ("auto", vec![name.into()]) } else { (name, Vec::new()) };
    let engines = vec![engine.into()];
    let selection = Selection { engines, rivals: Some(rivals), ..Selection::default() };
    let found = choose(&selection)?.into_iter().find(|c| c.name == name);
    found.with_context(|| format!("no contender {name}"))
}

/// Each pattern: whether it ignores case, its length in four bytes, its bytes.
fn send(set: &PatternSet, to: &mut dyn Write) -> io::Result<()> {
    let mut to = io::BufWriter::new(to);
    for p in set.iter() {
        to.write_all(&[u8::from(p.nocase)])?;
        to.write_all(&(p.bytes.len() as u32).to_le_bytes())?;
        to.write_all(p.bytes)?;
    }
    to.flush()
}

fn receive(from: &mut dyn Read) -> Result<PatternSet> {
    let mut text = Vec::new();
    from.read_to_end(&mut text)?;
    let mut rest = &text[..];
    let mut builder = PatternSet::builder();
    let mut id = 0;
    while let [nocase, a, b, c, d, after @ ..] = rest {
        let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let Some(bytes) = after.get(..len) else { bail!("pattern {id} is cut short") };
        builder.push_with(PatternId(id), bytes, *nocase != 0)?;
        rest = &after[len..];
        id += 1;
    }
    Ok(builder.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_goes_over_a_pipe_and_growth_comes_back() {
        let mut builder = PatternSet::builder();
        builder.push_with(PatternId(0), "ab", true).unwrap();
        builder.push_with(PatternId(1), "cde", false).unwrap();
        let mut pipe = Vec::new();
        send(&builder.build(), &mut pipe).unwrap();
        let set = receive(&mut &pipe[..]).unwrap();
        assert_eq!((set.len(), set.nocase_count(), set.max_len()), (2, 1, 3));
        assert!(receive(&mut &pipe[..pipe.len() - 1]).is_err());

        let mut out = Vec::new();
        for name in ["ac-dfa", "daachorse"] {
            // Not every system reports peak memory.
            let told = answer(name, 1 << 30, &mut &pipe[..], &mut out);
            assert!(told.is_ok() || Peak::start().is_none());
        }
        assert!(answer("no-such", 1 << 30, &mut &pipe[..], &mut out).is_err());
    }
}
