//! `fyke devices`, with whatever devices this machine has, and with none.

use crate::common::{Folder, Run};
use serde_json::Value;

/// Runs a command where neither driver finds a device: OpenCL's loader is led to no driver, CUDA's is shown no device.
fn run_without_devices(f: &Folder, line: &str) -> Run {
    let mut command = f.command(line.split_whitespace());
    command.env("OCL_ICD_VENDORS", "/nonexistent").env("CUDA_VISIBLE_DEVICES", "");
    command.output().map(Run::from).unwrap()
}

fn records(run: &Run) -> Vec<Value> {
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn every_backend_has_devices_or_a_reason() {
    let f = Folder::new(&[]);
    let records = records(&f.run("devices --json"));
    for backend in ["cuda", "opencl"] {
        let types: Vec<&str> = records
            .iter()
            .filter(|r| r["backend"] == backend)
            .map(|r| r["type"].as_str().unwrap())
            .collect();
        assert!(
            types == ["missing"] || types.iter().all(|t| *t == "device"),
            "{backend}: {types:?}"
        );
        assert!(!types.is_empty(), "{backend}");
    }
    let table = f.run("devices");
    assert_eq!(table.code, Some(0));
    let devices = records.iter().filter(|r| r["type"] == "device");
    for (number, device) in devices.enumerate() {
        assert_eq!(device["number"], number);
        assert!(device["memory"].as_u64() > Some(0) && device["compute_units"].as_u64() > Some(0));
        let line = format!("device={number}  {}", device["name"].as_str().unwrap());
        assert!(table.out.lines().any(|l| l == line), "{line}: {}", table.out);
    }
}

#[test]
fn without_a_device_the_list_says_how_to_get_one() {
    let f = Folder::new(&[]);
    let records = records(&run_without_devices(&f, "devices --json"));
    let missing: Vec<&str> = records.iter().map(|r| r["backend"].as_str().unwrap()).collect();
    assert_eq!(missing, ["cuda", "opencl"]);
    let table = run_without_devices(&f, "devices");
    table.expect(0, &table.out);
    for part in ["no cuda: ", "no opencl: ", "driver"] {
        assert!(table.out.contains(part), "{part}: {}", table.out);
    }
}

#[test]
fn without_a_device_engines_are_listed_and_refuse_with_a_hint() {
    let f = Folder::new(&[("data", b"a needle")]);
    let list = run_without_devices(&f, "engines");
    let line = list.out.lines().find(|l| l.starts_with("gpu-ac0 ")).unwrap();
    assert!(line.contains("not available: no device; `fyke devices`"), "{line}");
    let scan = run_without_devices(&f, "scan --engine gpu-ac0 -e needle data");
    scan.expect_error(&[
        "engine gpu-ac0: no device",
        "cuda: ",
        "opencl: ",
        "needs an OpenCL loader",
    ]);
    let scan = run_without_devices(&f, "scan --engine gpu-ac0:device=7 -e needle data");
    scan.expect_error(&["engine gpu-ac0:device=7: no device"]);
    run_without_devices(&f, "scan -c -e needle data").expect(0, "1\n");
}
