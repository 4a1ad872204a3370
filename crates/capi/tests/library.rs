//! The shared library as programs see it: its name, its symbols, and programs in C and C++ that
//! use it, under valgrind too.
#![cfg(target_os = "linux")]

use fyke_testkit::require::{self, CC, VALGRIND};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");
const HEADER: &str = include_str!("../include/fyke.h");
const GUIDE: &str = include_str!("../../../docs/c.md");

/// A file of the library under test.
fn own_file(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its file");
    let folder = test.parent().expect("the test is in a folder");
    let file = [folder.join(name), folder.join("..").join(name)].into_iter().find(|f| f.is_file());
    file.expect("cargo builds the library with the tests")
}

/// What a tool prints about the shared library; an error if the tool is not there.
fn tool(name: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(name).args(arguments).arg(own_file("libfyke_capi.so")).output();
    let output = output.map_err(|e| format!("{name}: {e}"))?;
    assert!(output.status.success(), "{name} failed");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The functions that the header declares.
fn declared() -> BTreeSet<&'static str> {
    let code = HEADER.lines().filter(|line| !line.starts_with(['/', ' ', '#', 't']));
    let names = code.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let mut declared = BTreeSet::new();
    for name in names.filter(|name| name.starts_with("fyke_")) {
        assert!(declared.insert(name), "{name} is declared twice");
    }
    declared
}

#[test]
fn the_symbols_are_those_of_the_header() {
    let list = match tool("nm", &["-D", "--defined-only"]) {
        Ok(list) => list,
        Err(why) => {
            return require::refuse_without(CC, "the_symbols_are_those_of_the_header", &why);
        }
    };
    let symbols: BTreeSet<&str> = list.lines().filter_map(|l| l.split(' ').nth(2)).collect();
    assert!(declared().len() > 30, "the header has functions: {:?}", declared());
    assert_eq!(symbols, declared());
}

#[test]
fn the_library_has_its_soname() {
    match tool("readelf", &["-d", "-W"]) {
        Ok(list) => assert!(list.contains("Library soname: [libfyke.so.1]"), "{list}"),
        Err(why) => require::refuse_without(CC, "the_library_has_its_soname", &why),
    }
    let metadata = fs::read_to_string(Path::new(PACKAGE).join("Cargo.toml")).unwrap();
    let (_, library) = metadata.split_once("[package.metadata.capi.library]").unwrap();
    assert!(library.contains("version = \"1."), "cargo-c must give it the same name: {library}");
}

#[test]
fn the_debian_package_has_the_version_of_fyke() {
    let changelog = include_str!("../../../debian/changelog");
    let expected = concat!("fyke (", env!("CARGO_PKG_VERSION"), ") ");
    assert!(changelog.starts_with(expected), "{changelog}");
}

#[test]
fn the_guide_names_every_function() {
    for name in declared() {
        assert!(GUIDE.contains(&format!("`{name}`")), "docs/c.md lacks {name}");
    }
}

/// A folder with the library under its name, as a package would install it, and programs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let library = place.file("libfyke.so.1");
        fs::copy(own_file("libfyke_capi.so"), &library).unwrap();
        std::os::unix::fs::symlink(&library, place.file("libfyke.so")).unwrap();
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a program with every warning an error. An error if the compiler is not there.
    fn compile(&self, compiler: &str, standard: &str, source: &Path) -> Result<PathBuf, String> {
        let program = self.file("program");
        let mut command = Command::new(compiler);
        command.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"]);
        command.arg("-I").arg(Path::new(PACKAGE).join("include"));
        command.arg(source).arg("-o").arg(&program).arg("-L").arg(self.0.path()).arg("-lfyke");
        let status = command.status().map_err(|e| format!("{compiler}: {e}"))?;
        assert!(status.success(), "{compiler} failed");
        Ok(program)
    }

    /// Runs a command with an input.
    fn run(&self, command: &mut Command, input: &str) -> Result<Output, String> {
        command.env("LD_LIBRARY_PATH", self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("{command:?}: {e}"))?;
        // A program that does not read its input closes it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Ok(child.wait_with_output().unwrap())
    }

    /// Runs a program, by itself and under valgrind. Both must print the same.
    fn check(&self, test: &str, program: &Path, arguments: &[&str], input: &str) -> (i32, String) {
        let plain = self.run(Command::new(program).args(arguments), input).unwrap();
        let mut checked = Command::new("valgrind");
        checked.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
        // Optimized code may load a field before it knows that the field is there, which is no
        // error.
        checked.arg("--undef-value-errors=no");
        checked.args(["--errors-for-leak-kinds=definite,indirect"]).arg(program).args(arguments);
        match self.run(&mut checked, input) {
            Ok(output) => {
                assert_eq!(output.status.code(), plain.status.code(), "{output:?}");
                assert_eq!(output.stdout, plain.stdout);
            }
            Err(why) => require::refuse_without(VALGRIND, test, &why),
        }
        let text = String::from_utf8(plain.stdout).unwrap();
        (plain.status.code().unwrap(), text + &String::from_utf8(plain.stderr).unwrap())
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(PACKAGE).join("examples").join(name)
}

#[test]
fn the_c_example_runs() {
    let (test, place) = ("the_c_example_runs", Place::new());
    let program = match place.compile("cc", "-std=c99", &example("search.c")) {
        Ok(program) => program,
        Err(why) => return require::refuse_without(CC, test, &why),
    };
    let found = place.check(test, &program, &["he", "she", "hers"], "ushers");
    assert_eq!(found, (0, "she 1 4\nhe 2 4\nhers 2 6\n".into()));
    assert_eq!(place.check(test, &program, &["he"], "us").0, 1);
    let (code, said) = place.check(test, &program, &[""], "us");
    assert_eq!(code, 2);
    assert!(said.starts_with("search: FYKE_BAD_PATTERN: "), "{said}");
}

#[test]
fn the_cpp_example_runs() {
    let (test, place) = ("the_cpp_example_runs", Place::new());
    let program = match place.compile("c++", "-std=c++17", &example("search.cpp")) {
        Ok(program) => program,
        Err(why) => return require::refuse_without(CC, test, &why),
    };
    let (code, text) = place.check(test, &program, &[], "");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(code, 0, "{text}");
    assert_eq!(lines[..3], ["1 Samwise", "2 Frodo", "0 SAM"]);
    assert!(lines[3].contains("empty"), "{text}");
}

#[test]
fn the_guides_first_program_runs() {
    let (test, place) = ("the_guides_first_program_runs", Place::new());
    let (_, program) = GUIDE.split_once("```c\n").unwrap();
    let (program, rest) = program.split_once("```").unwrap();
    let (_, expected) = rest.split_once("```text\n").unwrap();
    let (expected, _) = expected.split_once("```").unwrap();
    let source = place.file("first.c");
    fs::write(&source, program).unwrap();
    match place.compile("cc", "-std=c99", &source) {
        Ok(program) => assert_eq!(place.check(test, &program, &[], ""), (0, expected.into())),
        Err(why) => require::refuse_without(CC, test, &why),
    }
}

/// A program in which a callback throws: the process must end, and nothing else.
const THROWS: &str = r#"
#include <cstdio>
#include <fyke.h>
static int thrower(const fyke_match *, size_t, void *) { throw 1; }
int main() {
    fyke_builder *builder = nullptr;
    fyke_searcher *searcher = nullptr;
    if (fyke_builder_new(&builder) || fyke_builder_add(builder, "a", 1, 0, 0) ||
        fyke_builder_build(builder, &searcher)) return 1;
    try {
        fyke_scan(searcher, "a", 1, thrower, nullptr);
    } catch (int) {
        return 2;
    }
    return 3;
}
"#;

#[test]
fn an_exception_in_a_callback_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    let source = place.file("throws.cpp");
    fs::write(&source, THROWS).unwrap();
    let program = match place.compile("c++", "-std=c++17", &source) {
        Ok(program) => program,
        Err(why) => return require::refuse_without(CC, "an_exception_in_a_callback", &why),
    };
    let output = place.run(&mut Command::new(program), "").unwrap();
    assert!(output.status.signal().is_some(), "{output:?}");
}
