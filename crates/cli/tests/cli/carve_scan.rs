//! `fyke carve scan`: the same result for any threads, buffers and interruptions; bad input.

use super::common::Folder;
use std::fs;
#[cfg(unix)]
use std::time::Duration;

const RULES: &[u8] =
    b"gif y 5000 GIF8?a \\x00\\x3b\njpg y 9000 \\xff\\xd8\\xff \\xff\\xd9 REVERSE\n\
    htm n 700 <html </html>\nzip y 100 PK\\x03\\x04\nreg y 50 /RI[A-F]+/\n";

/// An image with many headers and footers, some across multiples of 4096.
fn image(len: usize) -> Vec<u8> {
    let parts: [&[u8]; 8] = [
        b"GIF87a",
        b"\0\x3b",
        b"\xff\xd8\xff",
        b"\xff\xd9",
        b"<HTML",
        b"</html>",
        b"PK\x03\x04",
        b"RIFF",
    ];
    let mut state = 7_u64;
    let mut image = Vec::with_capacity(len + 16);
    while image.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = (state >> 33) as usize;
        image.extend_from_slice(parts[random % 8]);
        image.resize(image.len() + (random >> 3) % 40, b'.');
    }
    image.truncate(len);
    image
}

fn folder(len: usize) -> Folder {
    Folder::new(&[("rules", RULES), ("disk.raw", &image(len))])
}

#[test]
fn the_result_is_the_same_for_all_threads_buffers_and_strategies() {
    let f = folder(600_000);
    let first = f.run("carve scan -c rules -o out disk.raw");
    assert_eq!(first.code, Some(0), "{}", first.err);
    let database = fs::read(f.path().join("out/carve.db")).unwrap();
    let list = fs::read(f.path().join("out/carve.csv")).unwrap();
    assert!(list.len() > 10_000);
    assert_eq!(fs::read_dir(f.path().join("out")).unwrap().count(), 2, "nothing else is written");
    let strategies = ["overlapped", "sync", "async", "srms", "srss", "mars1", "mars2"];
    let runs = strategies.iter().flat_map(|s| [1, 2, 7].map(|j| (s, j, [4096, 65_536][j % 2])));
    for (strategy, threads, buffer) in runs {
        let how = format!("--strategy {strategy} -j{threads} --buffer {buffer} --force");
        let run = f.run(&format!("carve scan -c rules -o out {how} disk.raw"));
        assert_eq!(run.code, Some(0), "{how}: {}", run.err);
        assert_eq!(fs::read(f.path().join("out/carve.db")).unwrap(), database, "{how}");
        assert_eq!(fs::read(f.path().join("out/carve.csv")).unwrap(), list, "{how}");
    }
}

#[test]
fn the_files_of_a_second_image_go_on_behind_those_of_the_first() {
    let f = folder(600_000);
    f.write("second.raw", &image(300_000));
    assert_eq!(f.run("carve scan -c rules -o out disk.raw second.raw").code, Some(0));
    let list = fs::read_to_string(f.path().join("out/carve-2.csv")).unwrap();
    assert!(list.contains("gif-0-3/") && !list.contains("gif-0-0/"), "{}", &list[..200]);
    f.run("carve export out/carve-2.db --format csv").expect(0, &list);
    let run = f.run("carve list out --limit 1");
    assert!(run.err.contains("out/carve-2.db"), "{}", run.err);
}

#[test]
fn a_split_image_is_the_whole_image() {
    let f = folder(50_000);
    let image = image(50_000);
    f.write("s/disk.raw", b"");
    for (name, part) in
        [("disk.001", 0..20_000), ("disk.002", 20_000..20_001), ("disk.003", 20_001..50_000)]
    {
        f.write(name, &image[part]);
    }
    assert_eq!(f.run("carve scan -c rules -o a disk.raw").code, Some(0));
    assert_eq!(f.run("carve scan -c rules -o b disk.001").code, Some(0));
    let list = |folder: &str| {
        let text = fs::read_to_string(f.path().join(folder).join("carve.csv")).unwrap();
        text.replace("disk.001", "disk.raw")
    };
    assert_eq!(list("a"), list("b"));
    fs::remove_file(f.path().join("disk.002")).unwrap();
    f.run("carve scan -c rules -o c disk.001").expect_error(&["no part", "disk.002"]);
    assert!(!f.path().join("c").exists(), "nothing is written");
}

#[test]
fn standard_input_is_the_same_image() {
    let f = folder(50_000);
    assert_eq!(f.run("carve scan -c rules -o a disk.raw").code, Some(0));
    let run = f.run_with_input("carve scan -c rules -o b -", &image(50_000));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let list = |folder: &str| {
        let text = fs::read_to_string(f.path().join(folder).join("carve.csv")).unwrap();
        text.replace(",disk.raw", ",-")
    };
    assert_eq!(list("a"), list("b"));
    f.run("carve scan -c rules -o b --resume -").expect_error(&["standard input", "resume"]);
    f.run("carve scan -c rules -o b --validate -").expect_error(&["standard input", "--image"]);
}

#[test]
fn bad_input_is_told_and_nothing_is_written() {
    let f = folder(5000);
    f.run("carve scan -c rules -o out none.raw").expect_error(&["none.raw"]);
    let error = f.run("carve scan -c rules -o out none.raw").err;
    assert_eq!(error.matches("os error").count(), 1, "the cause is told once: {error}");
    f.run("carve scan -c rules -o out .").expect_error(&["is a folder"]);
    f.run("carve scan -c none -o out disk.raw").expect_error(&["cannot read the rules none"]);
    f.write("bad", b"gif y\n");
    f.run("carve scan -c bad -o out disk.raw").expect_error(&["bad", "1"]);
    f.run("carve scan -c rules -o out --start 6000 disk.raw").expect_error(&["--start", "5000"]);
    assert!(!f.path().join("out").exists());
    f.write("out/x", b"mine");
    f.run("carve scan -c rules -o out disk.raw").expect_error(&["not empty", "--force"]);
    assert_eq!(f.run("carve scan -c rules -o out --force disk.raw").code, Some(0));
    assert_eq!(fs::read(f.path().join("out/x")).unwrap(), b"mine");
    f.write("empty", b"");
    let run = f.run("carve scan -c rules -o e empty");
    assert_eq!(run.code, Some(1), "{}", run.err);
}

/// Starts a scan that takes a while, ends it by `end`, and resumes until it is done.
#[cfg(unix)]
fn end_and_resume(f: &Folder, signal: &str, message: Option<&str>) -> usize {
    use std::process::{Command, Stdio};
    // No signal ends the last one, however slow the machine is.
    let pauses = [Some(4), Some(9), Some(14), Some(21), Some(33), Some(50), Some(80), None];
    for (ends, pause) in pauses.into_iter().enumerate() {
        let mode = if ends == 0 { "--force" } else { "--resume" };
        // A small buffer makes the scan slow.
        let line = [
            "carve", "scan", "-c", "rules", "-o", "out", mode, "-j1", "--buffer", "4096",
            "disk.raw",
        ];
        let mut command = Command::new("env");
        command.arg("--default-signal=INT").arg(env!("CARGO_BIN_EXE_fyke")).args(line);
        command
            .current_dir(f.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        if let Some(pause) = pause {
            std::thread::sleep(Duration::from_millis(pause));
            let id = child.id().to_string();
            // It may have ended before.
            let _ = Command::new("kill").args([signal, &id]).stderr(Stdio::null()).status();
        }
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            assert!(!f.path().join("out/carve.journal").exists());
            return ends;
        }
        let error = String::from_utf8_lossy(&output.stderr);
        if let Some(message) = message.filter(|_| !error.is_empty()) {
            assert!(error.contains(message), "{error}");
        }
    }
    panic!("the scan never ended");
}

#[cfg(unix)]
#[test]
fn a_scan_that_was_killed_is_resumed_to_the_same_result() {
    let f = folder(24 << 20);
    assert_eq!(f.run("carve scan -c rules -o whole disk.raw").code, Some(0));
    let whole = fs::read(f.path().join("whole/carve.db")).unwrap();
    let killed = end_and_resume(&f, "-KILL", None);
    assert!(fs::read(f.path().join("out/carve.db")).unwrap() == whole);
    let interrupted = end_and_resume(&f, "-INT", Some("carve scan --resume"));
    assert!(fs::read(f.path().join("out/carve.db")).unwrap() == whole);
    assert!(killed + interrupted > 0, "every scan ended before its signal");
}
