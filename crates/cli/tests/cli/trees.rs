//! Folders of files on several threads: the output of one thread, in bounded memory.

use super::common::{Folder, Run};
use std::path::Path;

const THREADS: [&str; 3] = ["-j1", "-j2", "-j8"];

/// Files of every kind: empty, small, in one piece, in segments, and divided between threads. The
/// names are sorted as paths are: `a/` before `a.d/`.
fn tree() -> (Folder, Vec<String>) {
    let f = Folder::new(&[]);
    let mut names = Vec::new();
    for (i, folder) in ["a", "a.d", "a.d/e", "b"].iter().enumerate() {
        for j in 0..8 {
            let size = [0, 1, 90, 3_000, 70_000, 10, 1_300_000, 5][(i + j) % 8];
            let size = if (i, j) == (2, 1) { 5_000_000 } else { size };
            let name = format!("t/{folder}/{j}");
            f.write(&name, &text(size, i * 8 + j));
            names.push(name);
        }
    }
    names.sort_by(|a, b| Path::new(a).cmp(Path::new(b)));
    (f, names)
}

/// Text with a needle every few thousand bytes, and none in every third file.
fn text(size: usize, seed: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(size + 40);
    for line in 0.. {
        if text.len() >= size {
            break;
        }
        let hit = !seed.is_multiple_of(3) && (line * 7 + seed) % 97 < 2;
        text.extend_from_slice(if hit {
            b"a needle in needles\n"
        } else {
            b"some hay and straw\n"
        });
    }
    text.truncate(size);
    text
}

/// A run without what names the folder or the time.
fn without_totals(run: &Run) -> String {
    run.out.lines().filter(|l| !l.contains("\"summary\"")).map(|l| format!("{l}\n")).collect()
}

#[test]
fn a_tree_gives_what_its_files_give_in_the_order_of_paths() {
    let (f, names) = tree();
    for mode in [
        "",
        "-n -b",
        "-o -b",
        "-c",
        "-c --lines",
        "--lines -n",
        "-l",
        "--json -n",
        "-o -b --semantics leftmost-longest",
        "-c --semantics once",
    ] {
        let args = format!("scan -H -e needle -e needles -e ine {mode}");
        let of_file = |name| without_totals(&f.run(&format!("{args} -j1 {name}")));
        let expected: String = names.iter().map(of_file).collect();
        assert!(expected.lines().count() > 5, "{mode}");
        for threads in THREADS {
            let run = f.run(&format!("{args} {threads} t"));
            assert_eq!((run.code, &*run.err), (Some(0), ""), "{mode} {threads}");
            assert!(without_totals(&run) == expected, "{mode} {threads}");
        }
    }
}

#[test]
fn files_are_separated_in_the_same_way_on_any_number_of_threads() {
    let (f, names) = tree();
    for mode in ["--heading -n", "-C1", "-A2 -n --heading", "-B1 -v", "-o --heading -0"] {
        let args = format!("scan -H -e needles {mode}");
        let separator = if mode.contains("heading") { "\n" } else { "--\n" };
        let of_files = names.iter().map(|name| f.run(&format!("{args} -j1 {name}")).out);
        let of_files: Vec<_> = of_files.filter(|out| !out.is_empty()).collect();
        let expected = of_files.join(separator);
        assert!(of_files.len() > 5, "{mode}");
        for threads in THREADS {
            let run = f.run(&format!("{args} {threads} t"));
            assert_eq!((run.code, &*run.err), (Some(0), ""), "{mode} {threads}");
            assert!(run.out == expected, "{mode} {threads}");
            let unsorted = f.run(&format!("{args} {threads} --sort none t")).out;
            assert_eq!(unsorted.len(), expected.len(), "{mode} {threads}");
        }
    }
}

#[test]
fn totals_are_the_same_for_any_number_of_threads() {
    let (f, names) = tree();
    for mode in ["-q", "-c", "-c --lines", "-l", "-o", "--json"] {
        let totals = |threads: &str, paths: &str| {
            let run = f.run(&format!("scan --stats {mode} -e needle -e ine {threads} {paths}"));
            assert_eq!(run.code, Some(0), "{}", run.err);
            let summary = run.out.lines().last().filter(|_| mode == "--json").unwrap_or_default();
            let kept = |line: &&str| !line.starts_with("seconds");
            let err: Vec<_> = run.err.lines().filter(kept).map(str::to_owned).collect();
            (err, summary.split(",\"seconds\"").next().map(str::to_owned))
        };
        let expected = totals("-j1", &names.join(" "));
        assert!(expected.0[0].starts_with("matches ") && !expected.0[0].ends_with(" 0"));
        for threads in THREADS {
            assert_eq!(totals(threads, "t"), expected, "{mode} {threads}");
        }
    }
}

/// A thread takes many small files at once. Where large ones follow, it gives them to others.
#[test]
fn large_files_after_many_small_ones() {
    let f = Folder::new(&[]);
    for i in 0..300 {
        f.write(&format!("t/a{i:03}"), b"a needle\n");
    }
    for i in 0..40 {
        f.write(&format!("t/b{i:03}"), &b"needle\n".repeat(100_000));
    }
    f.write("t/c", b"the last\n");
    for mode in ["-n", "-c", "--lines -c", "-o -b --semantics leftmost-first"] {
        let expected = f.run(&format!("scan -e needle -e last {mode} -j1 t"));
        for threads in THREADS {
            let run = f.run(&format!("scan -e needle -e last {mode} {threads} t"));
            assert_eq!((run.code, &*run.err), (Some(0), ""), "{mode} {threads}");
            assert!(run.out == expected.out, "{mode} {threads}");
        }
    }
    for threads in THREADS {
        f.run(&format!("scan -q -e last {threads} t")).expect(0, "");
        f.run(&format!("scan -q -e first {threads} t")).expect(1, "");
    }
}

#[test]
fn without_an_order_whole_files_follow_each_other() {
    let (f, _) = tree();
    let expected = f.run("scan -n -e needle t").out;
    for threads in THREADS {
        let run = f.run(&format!("scan -n -e needle --sort none {threads} t"));
        let mut lines: Vec<_> = run.out.lines().collect();
        let path = |line: &&str| line.split(':').next().unwrap().to_owned();
        let mut paths: Vec<_> = lines.iter().map(path).collect();
        paths.dedup();
        let files = paths.len();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), files, "{threads}: files interleave");
        // The sort is stable, so that the lines of a file keep their order.
        lines.sort_by_key(path);
        let mut sorted: Vec<_> = expected.lines().collect();
        sorted.sort_by_key(path);
        assert!(lines == sorted, "{threads}");
    }
}

#[test]
fn files_that_are_missing_are_reported_in_their_place() {
    let f = Folder::new(&[("a", b"x\n"), ("b", b"x\n"), ("d/c", b"x\n"), ("d/e", b"y\n")]);
    for threads in THREADS {
        let run = f.run(&format!("scan -c -e x a gone1 b gone2 d {threads}"));
        run.expect(2, "a:1\nb:1\nd/c:1\nd/e:0\n");
        let named: Vec<_> = run.err.lines().map(|l| l.split(": ").nth(1).unwrap()).collect();
        assert_eq!(named, ["gone1", "gone2"], "{threads}");
        let summary = f.run(&format!("scan --json -e x a gone1 b d {threads}")).out;
        let last = summary.lines().last().unwrap().to_owned();
        let totals = r#""files":4,"files_with_matches":3,"matches":3,"bytes":8,"errors":1"#;
        assert!(last.contains(totals), "{last}");
    }
}

/// What comes after the first match is not looked at, whatever other threads did meanwhile.
#[test]
fn quiet_stops_at_the_first_match_in_order() {
    let f = Folder::new(&[("a", b"y\n"), ("b", b"x\n"), ("c", b"x\n")]);
    for threads in THREADS {
        for _ in 0..20 {
            let run = f.run(&format!("scan -q -e x gone1 a b gone2 c gone3 {threads}"));
            run.expect(0, "");
            assert!(run.err.starts_with("fyke: gone1: "), "{}", run.err);
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
        let run = f.run(&format!("scan -q -e z gone1 a b gone2 {threads}"));
        assert_eq!((run.code, run.err.lines().count()), (Some(2), 2));
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::Duration;

    fn shell(f: &Folder, script: &str) -> Run {
        let script = script.replace("fyke", env!("CARGO_BIN_EXE_fyke"));
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).current_dir(f.path()).stdin(Stdio::null());
        command.output().map(Run::from).unwrap()
    }

    #[test]
    fn fifos_in_a_tree_are_skipped_and_named_ones_read_in_their_place() {
        let f = Folder::new(&[("d/a", b"x\n"), ("d/z", b"x\n")]);
        for threads in THREADS {
            let run = shell(
                &f,
                &format!(
                    "rm -f d/pipe pipe; mkfifo d/pipe pipe; (sleep 0.1; echo x > pipe) &
                     fyke scan {threads} -e x d pipe d/a"
                ),
            );
            run.expect(0, "d/a:x\nd/z:x\npipe:x\nd/a:x\n");
        }
    }

    #[test]
    fn many_files_need_few_descriptors() {
        let f = Folder::new(&[]);
        for i in 0..5_000 {
            f.write(&format!("d/{}/{i}", i % 50), if i % 2 == 0 { b"x\n" } else { b"y\n" });
        }
        for threads in THREADS {
            let run = shell(&f, &format!("ulimit -n 64; fyke scan {threads} -l -e x d | wc -l"));
            run.expect(0, "2500\n");
            assert_eq!(run.err, "");
        }
    }

    #[test]
    fn a_closed_pipe_ends_all_threads() {
        let f = Folder::new(&[]);
        for i in 0..50 {
            f.write(&format!("d/{i}"), &b"needle\n".repeat(20_000));
        }
        for threads in THREADS {
            for mode in ["", "--json", "-o", "--sort none"] {
                let script =
                    format!("(fyke scan -e needle {mode} {threads} d; echo code $? >&2) | head -1");
                let run = shell(&f, &script);
                assert_eq!((run.out.lines().count(), &*run.err), (1, "code 0\n"), "{script}");
            }
        }
    }

    #[test]
    fn a_full_disk_ends_all_threads() {
        let f = Folder::new(&[]);
        for i in 0..50 {
            f.write(&format!("d/{i}"), &b"needle\n".repeat(20_000));
        }
        for threads in THREADS {
            let run = shell(&f, &format!("fyke scan {threads} -e needle d > /dev/full"));
            run.expect_error(&["cannot write the output: No space left on device"]);
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
    }

    /// The full pipe holds the scan in the first file while a later one vanishes.
    #[test]
    fn a_file_that_vanishes_is_an_error_and_the_others_are_scanned() {
        let f = Folder::new(&[("d/m", b"needle\n"), ("d/z", b"needle\n")]);
        f.write("d/a", &b"needle\n".repeat(400_000));
        let mut command = f.command(["scan", "-j1", "-e", "needle", "d"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        std::fs::remove_file(f.path().join("d/m")).unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(2));
        assert!(run.err.starts_with("fyke: d/m: ") && run.err.lines().count() == 1, "{}", run.err);
        assert!(rest.ends_with("d/a:needle\nd/z:needle\n"));
    }

    /// The full pipe holds the scan in the middle of a file while the file changes.
    #[test]
    fn a_file_that_grows_is_scanned_to_its_old_length_and_one_that_shrinks_is_an_error() {
        for threads in THREADS {
            for grows in [true, false] {
                let f = Folder::new(&[("d/z", b"needle\n")]);
                let path = f.write("d/a", &b"needle in the hay\n".repeat(500_000));
                let mut command = f.command(["scan", "-e", "needle", threads, "d"]);
                let mut child =
                    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
                let mut out = BufReader::new(child.stdout.take().unwrap());
                out.read_line(&mut String::new()).unwrap();
                let file = OpenOptions::new().append(true).open(&path).unwrap();
                if grows {
                    (&file).write_all(&b"needle\n".repeat(1000)).unwrap();
                } else {
                    file.set_len(1000).unwrap();
                }
                let mut rest = String::new();
                out.read_to_string(&mut rest).unwrap();
                let run = Run::from(child.wait_with_output().unwrap());
                assert!(rest.ends_with("d/z:needle\n"), "{threads}");
                if grows {
                    assert_eq!((run.code, rest.lines().count()), (Some(0), 500_000));
                } else {
                    assert_eq!((run.code, rest.lines().count() < 500_000), (Some(2), true));
                    assert!(run.err.contains("d/a: the file shrank"), "{}", run.err);
                }
            }
        }
    }

    /// Standard input is first and waits. The others fill their buffers and wait too, with an
    /// output that is many times as large.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_bounded_while_the_first_input_is_slow() {
        let f = Folder::new(&[]);
        let first = f.write("first", &b"x\n".repeat(100_000));
        std::fs::create_dir(f.path().join("d")).unwrap();
        for i in 0..150 {
            std::fs::hard_link(&first, f.path().join(format!("d/{i}"))).unwrap();
        }
        for sort in ["path", "none"] {
            let mut command =
                f.command(["scan", "-j4", "-o", "-b", "-e", "x", "--sort", sort, "-", "d"]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(b"x\n").unwrap();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            thread::sleep(Duration::from_millis(700));
            let peak = peak_kib(child.id());
            assert!((1..100_000).contains(&peak), "{sort}: {peak} KiB");
            drop(stdin);
            let (mut lines, mut line) = (0, Vec::new());
            while out.read_until(b'\n', &mut line).unwrap() > 0 {
                lines += 1;
                line.clear();
            }
            assert_eq!((lines, child.wait().unwrap().code()), (150 * 100_000 + 1, Some(0)));
        }
    }

    /// The most memory that a process had.
    #[cfg(target_os = "linux")]
    fn peak_kib(process: u32) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}
