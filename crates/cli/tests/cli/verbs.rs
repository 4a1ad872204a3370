//! Help, the exit code of wrong usage, and the verbs other than `scan`.

use crate::common::{Folder, Run};
use serde_json::Value;
use std::fs;

#[test]
fn help_and_version() {
    let f = Folder::new(&[]);
    let help = f.run("--help");
    assert!(help.code == Some(0) && help.out.contains("scan") && help.out.contains("explain"));
    let scan = f.run("scan --help");
    for flag in
        ["-e", "-f", "-i", "-c", "-l", "-o", "-b", "-n", "-q", "-j", "-z", "--json", "--stats"]
    {
        assert!(scan.out.contains(flag), "{flag}");
    }
    assert!(f.run("--version").out.starts_with("fyke "));
    for wrong in ["", "scam", "scan --no-such-flag", "scan -e x --json -o ."] {
        assert_eq!(f.run(wrong).code, Some(2), "{wrong}");
    }
}

#[test]
fn wrong_flags_and_engines_get_tips_that_help() {
    let f = Folder::new(&[]);
    f.run("scan --pcre2 -e x").expect_error(&["fyke has no --pcre2: patterns are literal"]);
    f.run("scan --passthru -e x").expect_error(&["write -C with a large number"]);
    f.run("scan --coount -e x").expect_error(&["a similar argument exists: '--count'"]);
    let unknown = f.run("scan --zzz -e x");
    unknown.expect_error(&["unexpected argument '--zzz'"]);
    assert!(!unknown.err.contains("tip"), "{}", unknown.err);
    f.run("scan --engine ac-dfx -e x").expect_error(&["a similar value exists: 'ac-dfa'"]);
    for shell in ["bash", "zsh", "fish"] {
        let script = f.run(&format!("generate completions {shell}")).out;
        assert!(script.contains("qgram-sampling"), "{shell}");
    }
}

#[test]
fn engines_as_json_have_every_field() {
    let f = Folder::new(&[]);
    let run = f.run("engines --json");
    let entries: Vec<Value> = run.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let names: Vec<&str> = entries.iter().map(|e| e["name"].as_str().unwrap()).collect();
    for name in ["auto", "naive", "ac-nfa", "ac-dfa"] {
        assert!(names.contains(&name), "{name}");
        assert!(f.run("engines").out.contains(name));
        assert!(f.run("scan --engine help").out.contains(name));
    }
    let mut fields: Vec<&str> =
        entries[0].as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["about", "available", "device", "family", "name", "reason", "source"]);
    assert!(entries.iter().all(|e| e["available"] == e["reason"].is_null()));
}

#[test]
fn explain_names_the_engine_and_its_memory() {
    let f = Folder::new(&[("words", b"one\ntwo\n")]);
    let run = f.run("explain -f words");
    assert!(
        run.code == Some(0) && run.out.contains("taken") && run.out.contains("memory"),
        "{}",
        run.out
    );
    assert_eq!(f.run("explain -f words --memory-limit 1").code, Some(2));
}

#[test]
fn a_calibration_that_does_not_fit_is_ignored_with_a_warning() {
    let folder = Folder::new(&[
        ("patterns", b"needle\n"),
        ("haystack", b"a needle\n"),
        ("damaged", b"version = 5\nmachine = "),
        ("newer", b"version = 99\n"),
        ("foreign", b"version = 5\nmachine = 'a loom'\n[ns]\n"),
    ]);
    let scan = |file: &str| {
        let mut command = folder.command(["scan", "-f", "patterns", "haystack", "-c"]);
        command.env("FYKE_CALIBRATION", file).output().map(Run::from).unwrap()
    };
    let says = [
        ("damaged", "it is damaged"),
        ("newer", "it is of version 99"),
        ("foreign", "it is of another machine: \"a loom\""),
        ("absent", "absent"),
    ];
    for (file, what) in says {
        let run = scan(file);
        assert_eq!((run.code, &*run.out), (Some(0), "1\n"), "{}", run.err);
        assert!(run.err.starts_with(&format!("fyke: warning: {file}: ")), "{}", run.err);
        assert!(run.err.contains(what) && run.err.contains("`fyke calibrate`"), "{}", run.err);
    }
    assert_eq!(scan("").err, "");
}

#[test]
fn generate_writes_everything() {
    let f = Folder::new(&[("docs/keep", b"")]);
    assert!(f.run("generate man").out.contains(".SH NAME"));
    let page = f.run("generate man scan").out;
    for part in [".SH EXAMPLES", "fyke scan \\-e error", "[default: auto]", "[default: 0]"] {
        assert!(page.contains(part), "{part}");
    }
    let page = f.run("generate man carve-scan").out;
    assert!(page.contains(".SH EXAMPLES") && page.contains("fyke carve scan \\-o found"), "{page}");
    f.run("generate man scam").expect_error(&["there is no verb scam"]);
    f.run("generate man --folder docs").expect(0, "");
    let pages = fs::read_dir(f.path().join("docs")).unwrap().count() - 1;
    assert!(pages > 6, "{pages}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(f.run(&format!("generate completions {shell}")).out.contains("scan"), "{shell}");
    }
    f.run("generate docs").expect(0, "");
    for name in ["cli.md", "json.md", "engines.md", "coming-from-ripgrep.md"] {
        assert!(fs::read_to_string(f.path().join("docs").join(name)).unwrap().len() > 500);
    }
    f.run("generate docs nowhere").expect_error(&["cannot write nowhere"]);
}

/// The documents describe the command line with all features.
#[cfg(feature = "papers")]
#[test]
fn documents_are_not_stale() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let f = Folder::new(&[("docs/keep", b"")]);
    f.run("generate docs").expect(0, "");
    for name in ["cli.md", "json.md", "engines.md", "coming-from-ripgrep.md"] {
        let text = fs::read_to_string(f.path().join("docs").join(name)).unwrap();
        let kept = fs::read_to_string(docs.join(name)).unwrap_or_default();
        assert!(
            kept == text,
            "docs/{name} is stale: run `fyke generate docs` in the root of the workspace"
        );
    }
}
