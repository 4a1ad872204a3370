//! `fyke devices`, with whatever devices this machine has, and with none.

use crate::common::{Folder, Run};
use fyke_testkit::devices::{AbsentBackend, DeviceTests};
use fyke_testkit::require::REQUIRE;
use serde_json::Value;

/// Runs a command that finds no device: OpenCL's loader gets no driver, CUDA's driver no device.
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
    let paper = cfg!(feature = "papers").then_some("gpu-ac0");
    for engine in ["gpu-filter"].into_iter().chain(paper) {
        let line = list.out.lines().find(|l| l.starts_with(&format!("{engine} "))).unwrap();
        assert!(line.contains("not available: no device, see `fyke devices`"), "{line}");
        let scan = run_without_devices(&f, &format!("scan --engine {engine} -e needle data"));
        let refusal = format!("engine {engine}: no device");
        scan.expect_error(&[&refusal, "cuda: ", "opencl: ", "needs an OpenCL loader"]);
        let seventh = format!("{engine}:device=7");
        let scan = run_without_devices(&f, &format!("scan --engine {seventh} -e needle data"));
        scan.expect_error(&[&format!("engine {seventh}: no device")]);
    }
    run_without_devices(&f, "scan -c -e needle data").expect(0, "1\n");
}

/// The tests of the calling function, with the backends that `records` call missing.
#[track_caller]
fn device_tests(records: &[Value]) -> DeviceTests {
    let missing = |name: &'static str| {
        let is_it = |r: &&Value| r["backend"] == name && r["type"] == "missing";
        let why = records.iter().find(is_it)?["reason"].as_str().unwrap().to_owned();
        Some(AbsentBackend { name, why })
    };
    DeviceTests::new(REQUIRE, ["cuda", "opencl"].into_iter().filter_map(missing).collect())
}

#[test]
fn the_engine_gpu_uses_any_device_and_warns_if_it_is_the_cpu() {
    let f = Folder::new(&[("data", b"a needle")]);
    let records = records(&f.run("devices --json"));
    let mut tests = device_tests(&records);
    // The tests print that nothing was checked, or fail if a device is required.
    let Some(device) = records.iter().find(|r| r["type"] == "device") else { return };
    let scan = f.run("scan -c --engine gpu -e needle data");
    scan.expect(0, "1\n");
    let warned = scan.err.contains("is OpenCL on the CPU: correct but slow");
    assert_eq!(warned, device["is_cpu"] == true, "{}", scan.err);
    let explained = f.run("explain --engine gpu -e needle");
    assert_eq!(explained.code, Some(0), "{}", explained.err);
    for part in ["gpu-filter", "ns/B", "compiled   gpu-"] {
        assert!(explained.out.contains(part), "{part}: {}", explained.out);
    }
    f.run("scan --engine gpu:engine=x -e needle data")
        .expect_error(&["takes only backend, device"]);
    tests.checked(device["name"].as_str().unwrap());
}

#[test]
fn without_a_device_the_engine_gpu_refuses_and_auto_does_not() {
    let f = Folder::new(&[("data", b"a needle")]);
    let scan = run_without_devices(&f, "scan --engine gpu -e needle data");
    scan.expect_error(&["engine gpu: no device", "cuda: ", "opencl: "]);
    let explained = run_without_devices(&f, "explain -e needle --input-size 1000000G -j 1");
    // Whether a GPU would be faster depends on the CPU of this machine.
    assert!(explained.out.contains("gpu        not: "), "{}", explained.out);
    assert!(explained.out.contains("taken "), "{}", explained.out);
}

#[test]
fn an_explanation_forecasts_the_device() {
    let f = Folder::new(&[]);
    let unknown = f.run("explain -e needle -j 2");
    assert!(unknown.out.contains("gpu        not: the size of the input is unknown"));
    assert!(unknown.out.lines().any(|l| l.starts_with("gpu-filter ") && l.contains("the kernel")));
    let small = f.run("explain -e needle -j 2 --input-size 1M");
    assert!(small.out.contains("the CPU takes 0.00 s on 2 threads"), "{}", small.out);
    let excluded = f.run("explain --engine auto:gpu=no -e needle --input-size 100G");
    assert!(excluded.out.contains("gpu        not: excluded"), "{}", excluded.out);
}

/// With `LD_DEBUG` the dynamic loader names the libraries that a program opens.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_small_file_opens_no_driver() {
    let f = Folder::new(&[("data", b"a needle")]);
    let opened = |line: &str| {
        let mut command = f.command(line.split_whitespace());
        let run = command.env("LD_DEBUG", "files").output().map(Run::from).unwrap();
        assert_eq!(run.code, Some(0), "{line}");
        ["libcuda", "libOpenCL"].map(|library| run.err.contains(library))
    };
    assert_eq!(opened("scan -c -e needle data"), [false; 2]);
    assert_eq!(opened("explain -e needle"), [false; 2]);
    assert_ne!(opened("devices"), [false; 2], "the test sees libraries that are opened");
}
