//! `fyke model`.

use crate::common::Folder;
use serde_json::Value;

/// The times of the paper, with which strategy B is 0.86 ms slower than A with one channel.
const PAPER: &str = "model --segments 90 --write 1.87ms --process 2.73ms --read 3.63ms";

const TABLE: &str = "\
segments: 90, each 1.870 ms to write, 2.730 ms to process, 3.630 ms to read back

             one channel         two channels
lower bound  495.0 ms            331.3 ms
strategy A   495.0 ms            331.3 ms
strategy B   495.9 ms   1.0017x  331.3 ms   1.0000x
ring of 3    495.0 ms   1.0000x  331.3 ms   1.0000x
choice       A                   B

one channel
  A  Tw + Tr: the channel is never idle (theorem 6.2, case 1b)
  B  860.0 us slower than A: the channel is idle in the first or last round

two channels
  A  tw + tp + Tr: reads run without a pause once the first segment is written and processed (theorem 6.6, case 3)
  B  as fast as A: processing hides the transfers

A second channel reduces the time of strategy A by 33.1 %.
Device memory: A holds 90 segments with their results, B holds 2.
";

#[test]
fn strategies_are_compared_with_reasons() {
    let f = Folder::new(&[]);
    f.run(&format!("{PAPER} --ring 3")).expect(0, TABLE);
    let one = f.run("model --segments 1 --write 3 --process 1us --read 0");
    assert!(one.out.contains("as fast as A: its buffers hold all segments"), "{}", one.out);
}

#[test]
fn json_has_the_same_times_in_seconds() {
    let f = Folder::new(&[]);
    let record: Value = serde_json::from_str(&f.run(&format!("{PAPER} --json")).out).unwrap();
    let seconds = |channels: &str, what: &str| record[channels][what].as_f64().unwrap();
    let later = seconds("one_channel", "strategy_b") - seconds("one_channel", "strategy_a");
    assert!((later - 0.86e-3).abs() < 1e-9);
    assert_eq!(record["one_channel"]["case"], "1b");
    assert_eq!(
        (&record["one_channel"]["choice"], &record["two_channels"]["choice"]),
        (&"A".into(), &"B".into())
    );
    assert!(record["one_channel"]["ring"].is_null());
}

/// A segment of 2^30 bytes takes one second at 2^30 bytes per second.
#[test]
fn sizes_and_rates_are_times_of_a_segment() {
    let f = Folder::new(&[]);
    let rates = "--write-rate 1.073741824 --process-rate 2.147483648 --read-rate 1.073741824";
    let run = f.run(&format!("model --segments 4 --bytes 4G --results 2G {rates} --json"));
    let record: Value = serde_json::from_str(&run.out).unwrap();
    for (what, seconds) in [("write", 1.0), ("process", 0.5), ("read", 0.5)] {
        assert_eq!(record[what], seconds, "{what}");
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let f = Folder::new(&[]);
    for (args, parts) in [
        ("", &["--segments"][..]),
        ("--segments 2", &["--write", "--process", "--read"]),
        (
            "--segments 2 --bytes 1G",
            &["--results", "--write-rate", "--process-rate", "--read-rate"],
        ),
        (
            "--segments 0 --write 1 --process 1 --read 1",
            &["--segments", "give a number from 1 to 1000000000"],
        ),
        (
            "--segments 2 --write 1 --process -1 --read 1",
            &["--process", "give a number from 0 to 1000000000 seconds"],
        ),
        ("--segments 2 --write 1h --process 1 --read 1", &["--write", "s, ms, us or ns"]),
        (
            "--segments 2 --bytes 1 --read-rate 0",
            &["--read-rate", "give a number from 1e-9 to 1000000000"],
        ),
        ("--segments 2 --write 1 --process 1e300 --read 1", &["from 0 to 1000000000 seconds"]),
        (
            "--segments -1 --write 1 --process 1 --read 1",
            &["--segments", "give a number from 1 to 1000000000"],
        ),
        (
            "--segments 2 --ring 0 --write 1 --process 1 --read 1",
            &["--ring", "give a number from 1 to 1000000000"],
        ),
        ("--segments 2 --bytes 1 --write 1", &["cannot be used with"]),
        (
            "--segments 900000 --write 1 --process 1 --read 1 --ring 2",
            &["--segments 900000", "--ring", "the limit is 100000"],
        ),
    ] {
        let run = f.run(&format!("model {args}"));
        assert_eq!(run.code, Some(2), "{args}");
        assert!(parts.iter().all(|part| run.err.contains(part)), "{args}: {}", run.err);
    }
}

/// Every strategy is verified on the device. Without one, the refusal names `fyke devices`.
#[test]
fn strategies_are_measured_and_compared_with_the_prediction() {
    let f = Folder::new(&[("text", b"she sells seashells. "), ("empty", b"")]);
    let args = "model --segments 3 --ring 2 --repeat 40000 -e sea -e hells --measure";
    let run = f.run(&format!("{args} text"));
    if f.run("engines").out.lines().any(|l| l.starts_with("gpu-ac3") && l.contains("no device")) {
        assert!(run.err.contains("`fyke devices` lists the devices"), "{}", run.err);
        return;
    }
    for name in ["strategy A", "strategy B", "ring of 2", "zero-copy"] {
        let rows = run.out.lines().filter(|l| l.starts_with(name)).count();
        assert!(rows >= 1, "{name}: {}", run.out);
    }
    assert!(run.out.contains("measured with gpu-ac3 on "), "{}", run.out);
    let record: Value = serde_json::from_str(&f.run(&format!("{args} text --json")).out).unwrap();
    assert_eq!(record["measured"]["matches"], 3809);
    assert!(record["measured"]["strategy_b"].as_f64().unwrap() > 0.0);
    let wrong = f.run(&format!("{args} empty"));
    assert!(wrong.err.contains("--measure empty: the file is empty"), "{}", wrong.err);
    let wrong = f.run(&format!("{args} text --engine gpu-pfac"));
    assert!(wrong.err.contains("gpu-pfac does not write a state"), "{}", wrong.err);
}
