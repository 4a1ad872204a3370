use super::cpu::{CpuColumns, CpuRecord, CpuRow};
use super::file::Heading;
use super::row::Status;
use crate::machine::Facts;

#[test]
fn records_of_one_run_in_parts_are_put_together() {
    let part = |section: &str, cell: &str, ns: f64| {
        let mut facts = Facts::default();
        facts.add("cpu", "c");
        facts.add("date", cell);
        let heading = Heading { name: section.into(), ..Heading::default() };
        let row = CpuRow { cell: cell.into(), median_ns: ns, ..CpuRow::default() };
        CpuRecord { facts, sections: vec![heading], rows: vec![row] }
    };
    let mut record = part("g", "g/1", 1.0);
    record.add(part("h", "h/1", 2.0)).unwrap();
    record.add(part("g", "g/1", 3.0)).unwrap();
    assert_eq!((record.sections.len(), record.rows.len()), (2, 2));
    assert_eq!((record.facts.get("date"), record.rows[1].median_ns), ("g/1", 3.0));
    let parts = |r: &CpuRecord| {
        let facts = r.facts.0.iter().filter(|(name, _)| name == "part");
        facts.map(|(_, part)| part.clone()).collect::<Vec<_>>()
    };
    assert_eq!(parts(&record), ["g of g/1", "h of h/1"], "the third has the date of the first");
    let mut whole = part("i", "i/1", 4.0);
    whole.add(record.clone()).unwrap();
    assert_eq!(parts(&whole), ["i of i/1", "g of g/1", "h of h/1"]);
    let mut other = part("g", "g/1", 1.0);
    other.facts.0[0].1 = "d".into();
    assert!(record.add(other).unwrap_err().to_string().contains("cpu"));
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let mut facts = Facts::default();
    facts.add("cpu", "Some CPU: fast");
    facts.add("cores", "2");
    facts.add("date", "2026-01-02T03:04:05Z");
    let extra = CpuColumns { taken: "a+b".into(), ratio: 0.125, ..CpuColumns::default() };
    let row = CpuRow {
        section: "g".into(),
        cell: "g/1".into(),
        reason: "a, \"b\"".into(),
        median_ns: 12.5,
        spread: Some(0.25),
        status: Status::Wrong,
        extra,
        ..CpuRow::default()
    };
    let heading = Heading { name: "g".into(), axis: "count".into(), about: "a: b".into() };
    let record = CpuRecord { facts, sections: vec![heading], rows: vec![row] };
    assert_eq!(CpuRecord::parse(&record.to_csv().unwrap()).unwrap(), record);
    let folder = tempfile::tempdir().unwrap();
    let first = record.save(folder.path(), "cells").unwrap();
    assert!(first.ends_with("some-cpu-fast-2-cores/2026-01-02-cells.csv"), "{first:?}");
    let second = record.save(folder.path(), "cells").unwrap();
    assert!(second.ends_with("2026-01-02-cells-2.csv"), "{second:?}");
    assert_eq!(CpuRecord::load(&first).unwrap(), record);
}

#[test]
fn files_of_another_form_are_named() {
    let names = "cell,contender,median_ns";
    for (text, named) in [
        ("", "no line begins with"),
        ("# cpu: c\na,cell\n1,2\n", "no column contender"),
        (&format!("# cpu: c\n{names}\na,b,c\n"), "field 2: invalid float"),
        (&format!("# cpu: c\n{names}\na,b\n"), "2 fields"),
    ] {
        let why = format!("{:#}", CpuRecord::parse(text).err().unwrap());
        assert!(why.contains(named), "{why}");
    }
    assert!(CpuRecord::parse("# cpu: c\n").unwrap().rows.is_empty());
}
