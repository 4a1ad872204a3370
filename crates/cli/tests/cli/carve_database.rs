//! `fyke carve list`, `export`, `extract` and `pair`: what users do with the database of a scan.

use crate::common::Folder;
use std::fs;

const CONF: &[u8] = b"a  y  20  <a>  </a>\nb  y  10  <b>\nNONE y 30 /<c+>/ </c> NEXT\n";
const IMAGE: &[u8] = b"..<a>one</a>..<b>..<ccc>three</c>..<a>two</a>..<a>cut";

/// A folder with an image, and the database `found/carve.db` of its scan.
fn scanned() -> Folder {
    let folder = Folder::new(&[("my.conf", CONF), ("disk.raw", IMAGE)]);
    let run = folder.run("carve scan -c my.conf -o found disk.raw");
    assert_eq!(run.code, Some(0), "{}", run.err);
    folder
}

#[test]
fn a_list_is_a_table_of_what_is_chosen() {
    let folder = scanned();
    let table = "\
NUMBER  TYPE  RULE  START  LENGTH  CHOPPED  VALID    INSIDE
     0  a        0      2      10  no       unknown       -
     1  a        0     35      10  no       unknown       -
     2  b        1     14      10  yes      unknown       -
     3  none     2     19      10  no       unknown       -
";
    folder.run("carve list found/carve.db").expect(0, table);
    folder.run("carve list found").expect(0, table);
    folder.run("carve list found --id 0-3 --min-size 1 --end 1M").expect(0, table);
    let lines: Vec<&str> = table.lines().collect();
    for (flags, rows) in [
        ("--type A", &[1, 2][..]),
        ("--type none,b", &[3, 4]),
        ("--rule 2", &[4]),
        ("--id 1-2,7", &[2, 3]),
        ("--start 14 --end 35", &[3, 4]),
        ("--limit 1", &[1]),
    ] {
        let expected = rows.iter().fold(format!("{}\n", lines[0]), |all, &i| all + lines[i] + "\n");
        folder.run(&format!("carve list found {flags}")).expect(0, &expected);
    }
    for flags in
        ["--type gif", "--min-size 11", "--valid yes", "--validate --valid no", "--limit 0"]
    {
        folder.run(&format!("carve list found {flags}")).expect(1, "");
    }
    folder.run("carve list found --id 5-1").expect_error(&["1-5,9"]);
}

#[test]
fn a_file_that_is_no_database_is_named() {
    let folder = scanned();
    folder.run("carve list disk.raw").expect_error(&["disk.raw", "no database"]);
    folder.run("carve list nowhere").expect_error(&["nowhere"]);
    fs::create_dir(folder.path().join("files")).unwrap();
    folder.run("carve list files").expect_error(&["carve.db does not exist", "fyke carve scan -o"]);
    let whole = fs::read(folder.path().join("found/carve.db")).unwrap();
    folder.write("cut.db", &whole[..whole.len() / 2]);
    folder.run("carve export --format csv cut.db").expect_error(&["cut.db", "truncated"]);
}

#[test]
fn exports_have_the_same_files() {
    let folder = scanned();
    let csv = folder.run("carve export found --format csv --type b");
    csv.expect(
        0,
        "number,name,extension,rule,rule_line,start,len,chopped,valid,inside,sha256\n\
         2,b-1-0/00000002.b,b,1,2,14,10,yes,unknown,,\n",
    );
    let json = folder.run("carve export found --format json");
    assert_eq!(json.out.lines().count(), 5);
    let xml = folder.run("carve export found --format dfxml");
    assert_eq!(xml.out.matches("<fileobject>").count(), 4);
    let audit = folder.run("carve export found --format audit");
    assert!(
        audit.out.contains("00000002.b           14\t\tYES              10\t\tdisk.raw"),
        "{}",
        audit.out
    );

    // The same bytes at any time and in any file.
    assert!(!audit.out.contains("Started at") && !audit.out.contains("Completed at"));
    folder.run("carve export found --format audit -o a.txt").expect(0, "");
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), audit.out);

    folder.run("carve export found --format sqlite -o copy.db").expect(0, "");
    let copy = fs::read(folder.path().join("copy.db")).unwrap();
    assert!(copy == fs::read(folder.path().join("found/carve.db")).unwrap());
    folder.run("carve export found --format json -o copy.db").expect_error(&["copy.db exists"]);
    folder.run("carve export found --format json -o copy.db --force").expect(0, "");
    folder.run("carve export found --format sqlite --type a").expect_error(&["whole database"]);
}

#[test]
fn extracted_files_are_what_the_list_says() {
    let folder = scanned();
    let done = folder.run("carve extract found -o out --sha256 --type a,none");
    done.expect(0, "3 files written, 30 bytes\n");
    let read = |path: &str| fs::read(folder.path().join("out").join(path)).unwrap();
    assert_eq!(read("a-0-0/00000000.a"), b"<a>one</a>");
    assert_eq!(read("a-0-0/00000001.a"), b"<a>two</a>");
    assert_eq!(read("NONE-2-0/00000003"), b"<ccc>three");
    assert_eq!(read("SHA256SUMS").iter().filter(|&&b| b == b'\n').count(), 3);

    let again = folder.run("carve extract found -o out");
    again.expect_error(&["00000000.a exists", "--resume keeps", "--force"]);
    folder
        .run("carve extract found -o out --resume")
        .expect(0, "1 file written, 10 bytes, 3 files kept\n");
    folder.run("carve extract found -o out --type gif").expect(1, "");
}

#[test]
fn files_go_to_one_folder_and_have_no_extensions() {
    let folder = scanned();
    folder
        .run("carve extract found -o out -O -n --type a")
        .expect(0, "2 files written, 20 bytes\n");
    let out = folder.path().join("out");
    assert_eq!(fs::read(out.join("00000001")).unwrap(), b"<a>two</a>");
    assert_eq!(fs::read_dir(out).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn an_interrupted_extraction_says_how_to_go_on() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    let image = [b"BIG", &[b'x'; (60 << 20) - 3][..]].concat();
    let folder = Folder::new(&[("my.conf", b"big y 62914560 BIG\n"), ("disk.raw", &image)]);
    assert_eq!(folder.run("carve scan -c my.conf -o found disk.raw").code, Some(0));
    let part = folder.path().join("out/big-0-0/00000000.big.fyke-part");
    let mut interrupted = 0;
    // The last byte may have been written before the signal arrives: then there is a file.
    for _ in 0..20 {
        let mut command = Command::new("env");
        command.arg("--default-signal=INT").arg(env!("CARGO_BIN_EXE_fyke"));
        command.args(["carve", "extract", "found", "-o", "out", "--force", "--sha256"]);
        command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        while !part.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let id = child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!part.exists(), "no part of a file is left");
        if output.status.signal().is_some() && !error.is_empty() {
            assert!(error.contains("extract found -o out --sha256 --resume"), "{error}");
            let complete =
                |n| error.contains(&format!("interrupted; {n} files are complete; to go on:"));
            assert!(complete(0) || complete(1), "{error}");
            interrupted += usize::from(complete(0));
        }
        if interrupted == 3 {
            break;
        }
    }
    assert!(interrupted > 0, "every extraction ended before its signal");
    let done = folder.run("carve extract found -o out --resume");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(fs::read(folder.path().join("out/big-0-0/00000000.big")).unwrap() == image);
}

/// A ZIP archive of members that are stored.
fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let offset = file.len() as u32;
        let mut fields = b"\x14\0\0\0\0\0\0\0\x21\x58\0\0\0\0".to_vec();
        fields.extend([data.len() as u32; 2].iter().flat_map(|n| n.to_le_bytes()));
        fields.extend([name.len() as u8, 0, 0, 0]);
        file.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), data].concat());
        directory.extend([b"PK\x01\x02\x14\0", &fields[..], &[0; 10]].concat());
        directory.extend([&offset.to_le_bytes(), name.as_bytes()].concat());
    }
    let (offset, len) = (file.len() as u32, directory.len() as u32);
    let count = (members.len() as u16).to_le_bytes();
    file.extend([&directory, &b"PK\x05\x06\0\0\0\0"[..], &count, &count].concat());
    file.extend([len.to_le_bytes(), offset.to_le_bytes()].concat());
    file.extend([0; 2]);
    file
}

#[test]
fn members_of_archives_are_marked_and_left_out_on_request() {
    let gif = b"GIF89a\x01\x00\x01\x00\x00\x00\x00\x2c\0\0\0\0\x01\0\x01\0\0\x02\x01\x44\x00\x3b";
    let archive = zip(&[("a.gif", gif), ("b", b"hello"), ("c", b""), ("d", b"1")]);
    let cut = &archive[..archive.len() - 60];
    let document = zip(&[("[Content_Types].xml", b"<Types/>"), ("word", b"text")]);
    let image = [b"....", cut, &archive, b"....", &document, gif].concat();
    let folder = Folder::new(&[("disk.raw", &image)]);
    let scan = folder.run("carve scan -o found --validate disk.raw");
    assert!(scan.out.contains(" valid, "), "{}", scan.out);
    let rows = |flags: &str| {
        let run = folder.run(&format!("carve export found --format csv {flags}"));
        let rows = run.out.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[2].to_owned(), cells[5].parse().unwrap(), cells[8] == "yes", cells[9].to_owned())
        });
        (rows.collect::<Vec<(String, usize, bool, String)>>(), run.err)
    };
    let (all, told) = rows("");
    assert!(told.is_empty() && all.len() > 10, "{told} {all:?}");
    let (top, told) = rows("--no-embedded");
    let left_out = all.len() - top.len();
    assert_eq!(left_out, 6, "a GIF and three members, a document as ZIP and its member: {all:?}");
    assert_eq!(told, format!("fyke: --no-embedded leaves out {left_out} files of {}\n", all.len()));
    assert!(top.iter().all(|row| all.contains(row) && row.3.is_empty()));
    let whole = 4 + cut.len();
    let valid: Vec<(&str, usize)> =
        top.iter().filter(|row| row.2).map(|row| (&row.0[..], row.1)).collect();
    let at_document = whole + archive.len() + 4;
    // The GIF in the archive that is cut is whole too.
    let in_cut = 4 + cut.windows(gif.len()).position(|window| window == gif).unwrap();
    let behind = at_document + document.len();
    let expected = [("gif", in_cut), ("gif", behind), ("ooxml", at_document), ("zip", whole)];
    assert_eq!(valid, expected, "{all:?}");

    // The image is not read again; a scan without --validate needs it.
    fs::rename(folder.path().join("disk.raw"), folder.path().join("moved.raw")).unwrap();
    assert_eq!(rows("--no-embedded").0, top);
    assert_eq!(folder.run("carve scan -o plain moved.raw").code, Some(0));
    let run = folder.run("carve export plain --format csv --no-embedded");
    assert_eq!(run.out.lines().count(), top.len() + 1);
    let none = folder.run("carve list plain");
    assert!(none.out.lines().skip(1).all(|line| line.ends_with('-')), "{}", none.out);
}

#[test]
fn another_image_is_refused() {
    let folder = scanned();
    fs::rename(folder.path().join("disk.raw"), folder.path().join("moved.raw")).unwrap();
    folder.run("carve extract found -o out").expect_error(&["disk.raw", "--image"]);
    folder.write("short.raw", &IMAGE[1..]);
    let run = folder.run("carve extract found -o out --image short.raw");
    run.expect_error(&["52 bytes", "53", "another image"]);
    assert!(!folder.path().join("out").exists());
    folder
        .run("carve extract found -o out --image moved.raw")
        .expect(0, "4 files written, 40 bytes\n");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_complete_files_and_a_command_to_go_on() {
    let conf = b"big y 300000 BIG\nsmall y 100 BIG\n";
    let mut image = b"BIG".to_vec();
    image.resize(300_000, b'x');
    let folder = Folder::new(&[("my.conf", conf), ("disk.raw", &image)]);
    assert_eq!(folder.run("carve scan -c my.conf -o found disk.raw").code, Some(0));
    // A limit on the length of files stands for a full disk.
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" carve extract found -o out";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_fyke")]).current_dir(folder.path());
    let output = shell.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("00000000.big") && message.contains("--resume"), "{message}");
    let out = folder.path().join("out");
    assert!(!out.join("big-0-0/00000000.big.fyke-part").exists());
    assert!(!out.join("big-0-0/00000000.big").exists());
    let done = folder.run("carve extract found -o out --resume");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(fs::read(out.join("big-0-0/00000000.big")).unwrap(), image);
    assert_eq!(fs::read(out.join("small-1-0/00000001.small")).unwrap(), image[..100]);
}

#[test]
fn hits_are_paired_again_without_the_image() {
    let folder = scanned();
    fs::remove_file(folder.path().join("disk.raw")).unwrap();
    folder.write("new.conf", b"x  y  40  <a>  </a> REVERSE\nb y 5 <b> </c>\n");
    folder.run("carve pair found -c new.conf -b -o new.db").expect(0, "3 files\n");
    let list = folder.run("carve export new.db --format csv");
    let rows: Vec<&str> = list.out.lines().skip(1).collect();
    assert_eq!(rows[0], "0,x-0-0/00000000.x,x,0,1,2,43,no,unknown,,");
    assert_eq!(rows[2], "2,b-1-0/00000002.b,b,1,2,14,5,yes,unknown,,");

    folder.run("carve pair found -c new.conf -o new.db").expect_error(&["new.db exists"]);
    folder.run("carve pair found -c new.conf -d -o new.db").expect_error(&["new.db exists"]);
    assert!(!folder.path().join("new.hfd").exists());
    folder.run("carve pair found -c new.conf -d -o new.db --force").expect(0, "2 files\n");
    let hits = fs::read_to_string(folder.path().join("new.hfd")).unwrap();
    assert_eq!(hits, "x\n3\n2\n35\n47\n2\n8\n41\nb\n1\n14\n1\n29\n");
    folder.write("other.conf", b"y y 9 <a>\nz y 9 <q>\n");
    let run = folder.run("carve pair found -c other.conf -o other.db");
    run.expect_error(&["<q> (line 2)", "not searched", "scan the image"]);
    assert!(!folder.path().join("other.db").exists());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = scanned();
    let script =
        "\"$0\" carve export found --format json | true; \"$0\" carve list found | head -n 1";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_fyke")]).current_dir(folder.path());
    let output = shell.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.stdout.starts_with(b"NUMBER"));
}

#[test]
fn the_default_rules_are_used_and_printed() {
    let folder =
        Folder::new(&[("disk.raw", b"..GIF89a\x01\x00\x01\x00\x00\x00\x00\x2c\x00\x3b..")]);
    assert_eq!(folder.run("carve scan -o found disk.raw").code, Some(0));
    let list = folder.run("carve list found");
    assert!(
        list.out.lines().nth(1).unwrap().split_whitespace().nth(1) == Some("gif"),
        "{}",
        list.out
    );
    let printed = folder.run("carve check-conf --print-default");
    assert_eq!(printed.code, Some(0));
    folder.write("my.conf", printed.out.as_bytes());
    assert_eq!(folder.run("carve check-conf my.conf").code, Some(0));
    folder.run("carve pair found -c my.conf -o new.db").expect(0, "1 file\n");
}
