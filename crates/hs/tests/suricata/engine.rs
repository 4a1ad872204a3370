//! One run of Suricata: which matcher it takes, what it alerts, and what it needs for that.

use crate::inputs::Inputs;
use serde_json::Value;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

const PROGRAM: &str = "suricata";

/// Suricata, if it is here and was built with Hyperscan.
///
/// # Errors
/// The reason to give when a test is refused.
pub(crate) fn program() -> Result<&'static str, String> {
    let info = Command::new(PROGRAM).arg("--build-info").output();
    let info = info.map_err(|e| format!("{PROGRAM}: {e}; install Debian's package suricata"))?;
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    let has_hyperscan = |l: &str| l.contains("Hyperscan support") && l.ends_with("yes");
    match info.lines().any(has_hyperscan) {
        true => Ok(PROGRAM),
        false => Err(format!("{PROGRAM} was built without Hyperscan")),
    }
}

/// What Suricata searches with.
pub(crate) struct Matcher {
    pub(crate) name: &'static str,
    /// Values of `mpm-algo` and `spm-algo`.
    pub(crate) algorithms: [&'static str; 2],
    /// The folder of a library that takes Hyperscan's place.
    pub(crate) library: Option<PathBuf>,
}

/// What a run gave.
pub(crate) struct Run {
    pub(crate) rules: u64,
    pub(crate) packets: u64,
    /// The alerts in order, without what differs from run to run.
    pub(crate) alerts: Vec<String>,
    start: Usage,
    start_seconds: f64,
    end: Usage,
}

/// What the process had used at some time.
#[derive(Clone, Copy, Default)]
struct Usage {
    cpu_seconds: f64,
    peak_mib: f64,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scan = self.end.cpu_seconds - self.start.cpu_seconds;
        let (rules, alerts, packets) = (self.rules, self.alerts.len(), self.packets);
        write!(f, "{rules} rules, {packets} packets, {alerts} alerts, ")?;
        let Usage { cpu_seconds, peak_mib } = self.start;
        write!(f, "start {:.2} s (CPU {cpu_seconds:.2} s), ", self.start_seconds)?;
        let rate = packets as f64 / scan;
        write!(f, "{peak_mib:.0} MiB, then CPU {scan:.2} s, {rate:.0} packets/s")
    }
}

impl Matcher {
    /// The file that the loader gives Suricata for `libhs.so.5`.
    pub(crate) fn resolved_library(&self) -> String {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("LD_TRACE_LOADED_OBJECTS=1 {PROGRAM}")]);
        let output = self.with_library(&mut command).output().expect("the loader runs");
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = list.lines().find(|line| line.contains("libhs.so.5"));
        line.unwrap_or_else(|| panic!("{PROGRAM} needs no libhs.so.5: {list}")).trim().to_owned()
    }

    fn with_library<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match &self.library {
            Some(folder) => command.env("LD_LIBRARY_PATH", folder),
            None => command.env_remove("LD_LIBRARY_PATH"),
        }
    }

    /// Runs Suricata over the captures.
    pub(crate) fn run(&self, inputs: &Inputs, out: &Path) -> Run {
        fs::create_dir(out).expect("the folder takes another one");
        let option = |name: &str, value: &str| [OsString::from(name), OsString::from(value)];
        let mut command = Command::new(PROGRAM);
        command.arg("-c").arg(inputs.config()).arg("-S").arg(inputs.rules());
        command.arg("-r").arg(inputs.captures()).arg("-l").arg(out);
        command.args(option("--runmode", "single")).args(option("-k", "none"));
        let [multi, single] = self.algorithms;
        command.args(option("--set", &format!("mpm-algo={multi}")));
        command.args(option("--set", &format!("spm-algo={single}")));
        // Its errors name the rules that need what this version of Suricata lacks.
        let log = fs::File::create(out.join("errors")).expect("the folder takes a file");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let child = self.with_library(&mut command).spawn().expect("suricata was here before");
        let mut run = watch(child);
        run.alerts = alerts(&out.join("eve.json"));
        run
    }
}

/// Waits for the end, and looks at the process when it says that it starts and ends to read.
fn watch(mut child: Child) -> Run {
    let (began, id) = (Instant::now(), child.id());
    let (mut start, mut end, mut log) = (None, None, String::new());
    let output = child.stdout.take().expect("it is piped");
    for line in BufReader::new(output).lines() {
        let line = line.expect("suricata writes text");
        if line.contains("Engine started") {
            start = Some((usage(id), began.elapsed().as_secs_f64()));
        } else if line.contains("Directory run mode complete") {
            end = Some(usage(id));
        }
        log.push_str(&line);
        log.push('\n');
    }
    let Output { status, .. } = child.wait_with_output().expect("it is a child");
    assert!(status.success(), "{status}: {log}");
    let (start, start_seconds) = start.unwrap_or_else(|| panic!("no start: {log}"));
    let end = end.unwrap_or_else(|| panic!("no end: {log}"));
    let rules = number_before(&log, " rules successfully loaded");
    let packets = number_before(&log, " packets, ");
    Run { rules, packets, alerts: Vec::new(), start, start_seconds, end }
}

/// The number that stands before a text.
fn number_before(log: &str, text: &str) -> u64 {
    let at = log.find(text).unwrap_or_else(|| panic!("no{text} in {log}"));
    let number = log[..at].rsplit(' ').next().and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no number before{text} in {log}"))
}

fn usage(id: u32) -> Usage {
    let file = |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
    let (stat, status) = (file("stat"), file("status"));
    // The program's name, in parentheses, may have spaces; user and system time are the 12th and
    // 13th fields after it, in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.split_whitespace().next()?.parse::<f64>().ok());
    Usage { cpu_seconds: ticks / 100.0, peak_mib: peak.unwrap_or(f64::NAN) / 1024.0 }
}

/// The alerts of a log, in order.
fn alerts(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("suricata wrote its alerts");
    let mut alerts: Vec<String> = text.lines().map(without_chance).collect();
    alerts.sort_unstable();
    alerts
}

/// An alert without what differs from run to run: the number of its flow, and the time if the alert
/// came when the flow was given up and not with a packet.
fn without_chance(line: &str) -> String {
    let mut event: Value = serde_json::from_str(line).expect("suricata writes JSON");
    let fields = event.as_object_mut().expect("an event is an object");
    assert!(fields.contains_key("alert"), "{line}");
    fields.remove("flow_id");
    if fields.get("pkt_src").is_some_and(|source| source != "wire/pcap") {
        fields.remove("timestamp");
    }
    event.to_string()
}
