//! The shared library as programs see it: its name, its symbols, and a C program that uses it.

mod common;

use common::own_file;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The functions of Hyperscan 5.4.
const FUNCTIONS: [&str; 40] = [
    "hs_alloc_scratch",
    "hs_clone_scratch",
    "hs_close_stream",
    "hs_compile",
    "hs_compile_ext_multi",
    "hs_compile_lit",
    "hs_compile_lit_multi",
    "hs_compile_multi",
    "hs_compress_stream",
    "hs_copy_stream",
    "hs_database_info",
    "hs_database_size",
    "hs_deserialize_database",
    "hs_deserialize_database_at",
    "hs_expand_stream",
    "hs_expression_ext_info",
    "hs_expression_info",
    "hs_free_compile_error",
    "hs_free_database",
    "hs_free_scratch",
    "hs_open_stream",
    "hs_populate_platform",
    "hs_reset_and_copy_stream",
    "hs_reset_and_expand_stream",
    "hs_reset_stream",
    "hs_scan",
    "hs_scan_stream",
    "hs_scan_vector",
    "hs_scratch_size",
    "hs_serialize_database",
    "hs_serialized_database_info",
    "hs_serialized_database_size",
    "hs_set_allocator",
    "hs_set_database_allocator",
    "hs_set_misc_allocator",
    "hs_set_scratch_allocator",
    "hs_set_stream_allocator",
    "hs_stream_size",
    "hs_valid_platform",
    "hs_version",
];

/// A program that declares what it uses of the headers, and scans a text.
const PROGRAM: &str = r#"
#include <stdio.h>
typedef struct hs_database hs_database_t;
typedef struct hs_scratch hs_scratch_t;
typedef struct { char *message; int expression; } hs_compile_error_t;
typedef int (*match_event_handler)(unsigned, unsigned long long, unsigned long long, unsigned, void *);
int hs_compile_multi(const char *const *, const unsigned *, const unsigned *, unsigned, unsigned,
                     const void *, hs_database_t **, hs_compile_error_t **);
int hs_alloc_scratch(const hs_database_t *, hs_scratch_t **);
int hs_scan(const hs_database_t *, const char *, unsigned, unsigned, hs_scratch_t *,
            match_event_handler, void *);
int hs_free_scratch(hs_scratch_t *);
int hs_free_database(hs_database_t *);
int hs_free_compile_error(hs_compile_error_t *);
const char *hs_version(void);

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *ctx) {
    printf("%u %llu %llu\n", id, from, to);
    return 0;
}

int main(void) {
    const char *texts[] = {"needle", "\\x68ay", "n[e]{2}d"};
    unsigned flags[] = {0, 1 | 256, 0}, ids[] = {7, 9, 1};
    hs_database_t *db = 0;
    hs_scratch_t *scratch = 0;
    hs_compile_error_t *error = 0;
    printf("%s\n", hs_version());
    if (hs_compile_multi(texts, flags, ids, 3, 1, 0, &db, &error) != -4) return 1;
    printf("refused %d\n", error->expression);
    hs_free_compile_error(error);
    if (hs_compile_multi(texts, flags, ids, 2, 1, 0, &db, &error)) return 2;
    if (hs_alloc_scratch(db, &scratch)) return 3;
    if (hs_scan(db, "a needle in HAY", 15, 0, scratch, on_match, 0)) return 4;
    return hs_free_scratch(scratch) | hs_free_database(db);
}
"#;

/// What a tool prints; an error if it is not there.
fn tool(name: &str, arguments: &[&str], file: &Path) -> Result<String, String> {
    let output = Command::new(name).args(arguments).arg(file).output();
    let output = output.map_err(|e| format!("{name}: {e}"))?;
    assert!(output.status.success(), "{name} failed");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn refuse(test: &str, why: &str) {
    fyke_testkit::require::refuse_without(fyke_testkit::require::CC, test, why);
}

#[test]
fn the_symbols_are_those_of_hyperscan() {
    let list = match tool("nm", &["-D", "--defined-only"], &own_file()) {
        Ok(list) => list,
        Err(why) => return refuse("the_symbols_are_those_of_hyperscan", &why),
    };
    let mut names: Vec<&str> = list.lines().filter_map(|l| l.split(' ').nth(2)).collect();
    names.sort_unstable();
    assert_eq!(names, FUNCTIONS);
}

#[test]
fn the_library_has_the_name_of_hyperscan() {
    let list = match tool("readelf", &["-d", "-W"], &own_file()) {
        Ok(list) => list,
        Err(why) => return refuse("the_library_has_the_name_of_hyperscan", &why),
    };
    assert!(list.contains("Library soname: [libhs.so.5]"), "{list}");
}

#[test]
fn a_c_program_takes_the_library_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("main.c"), folder.path().join("main"));
    fs::write(&source, PROGRAM).unwrap();
    let library = folder.path().join("libhs.so.5");
    fs::copy(own_file(), &library).unwrap();
    let built = Command::new("cc").arg("-o").args([&program, &source, &library]).status();
    match built {
        Ok(status) => assert!(status.success(), "cc failed"),
        Err(why) => return refuse("a_c_program", &format!("cc: {why}")),
    }
    let output = Command::new(&program).env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("5.4.0 fyke "), "{text}");
    assert_eq!(lines[1..], ["refused 2", "7 0 8", "9 12 15"]);
}
