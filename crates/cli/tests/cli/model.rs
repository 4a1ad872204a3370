//! `fyke model`.

use crate::common::Folder;
use serde_json::Value;

/// The times of the paper, in which strategy B is 0.86 ms later with one channel.
const PAPER: &str = "model --segments 90 --write 1.87ms --process 2.73ms --read 3.63ms";

const TABLE: &str = "\
segments: 90, each 1.870 ms to write, 2.730 ms to process, 3.630 ms to read back

             one channel         two channels
lower bound  495.0 ms            331.3 ms
strategy A   495.0 ms            331.3 ms
strategy B   495.9 ms   1.0017x  331.3 ms   1.0000x
ring of 3    495.0 ms   1.0000x  331.3 ms   1.0000x
take         A                   B

one channel
  A  Tw + Tr: the channel never rests (theorem 6.2, case 1b)
  B  860.0 us later: its channel rests in the first round or the last

two channels
  A  tw + tp + Tr: reads never rest once the first segment is written and processed (theorem 6.6, case 3)
  B  as early: processing covers the transfers made meanwhile

The second channel takes 33.1 % off strategy A.
Room in the device, in segments with their results: 90 for A, 2 for B.
";

#[test]
fn strategies_are_compared_with_reasons() {
    let f = Folder::new(&[]);
    f.run(&format!("{PAPER} --ring 3")).expect(0, TABLE);
    let one = f.run("model --segments 1 --write 3 --process 1us --read 0");
    assert!(one.out.contains("as early: its buffers hold all segments"), "{}", one.out);
}

#[test]
fn json_has_the_same_in_seconds() {
    let f = Folder::new(&[]);
    let record: Value = serde_json::from_str(&f.run(&format!("{PAPER} --json")).out).unwrap();
    let seconds = |channels: &str, what: &str| record[channels][what].as_f64().unwrap();
    let later = seconds("one_channel", "strategy_b") - seconds("one_channel", "strategy_a");
    assert!((later - 0.86e-3).abs() < 1e-9);
    assert_eq!(record["one_channel"]["case"], "1b");
    assert_eq!(
        (&record["one_channel"]["take"], &record["two_channels"]["take"]),
        (&"A".into(), &"B".into())
    );
    assert!(record["one_channel"]["ring"].is_null());
}

/// A segment of 2^30 bytes at 2^30 bytes a second takes one second.
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
        ("--segments 0 --write 1 --process 1 --read 1", &["--segments", "0 is not in 1.."]),
        ("--segments 2 --write 1 --process -1 --read 1", &["--process", "is not a time: write"]),
        ("--segments 2 --write 1h --process 1 --read 1", &["--write", "s, ms, us or ns"]),
        ("--segments 2 --bytes 1 --read-rate 0", &["--read-rate", "is not a rate: write"]),
        ("--segments 2 --bytes 1 --write 1", &["cannot be used with"]),
        (
            "--segments 900000 --write 1 --process 1 --read 1 --ring 2",
            &["--ring", "at most 100000"],
        ),
    ] {
        let run = f.run(&format!("model {args}"));
        assert_eq!(run.code, Some(2), "{args}");
        assert!(parts.iter().all(|part| run.err.contains(part)), "{args}: {}", run.err);
    }
}

/// Where there is a device every strategy runs on it and is verified; elsewhere the refusal says where to look.
#[test]
fn strategies_are_measured_beside_what_is_predicted() {
    let f = Folder::new(&[("text", b"she sells seashells. "), ("empty", b"")]);
    let args = "model --segments 3 --ring 2 --repeat 40000 -e sea -e hells --measure";
    let run = f.run(&format!("{args} text"));
    if f.run("engines").out.lines().any(|l| l.starts_with("gpu-ac3") && l.contains("no device")) {
        assert!(run.err.contains("`fyke devices` says what there is"), "{}", run.err);
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
    assert!(wrong.err.contains("empty is empty"), "{}", wrong.err);
    let wrong = f.run(&format!("{args} text --engine gpu-pfac"));
    assert!(wrong.err.contains("gpu-pfac does not write a state"), "{}", wrong.err);
}
