//! Facts about a run: the machine, the code and the date. Figures without them mean nothing.

use std::env;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::SystemTime;

use crate::timing::memory::largest_cache;

/// The fact that names the GPU of a run.
pub const DEVICE: &str = "device";

/// Facts about a run, as names and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(pub Vec<(String, String)>);

impl Facts {
    /// The facts that hold before anything is measured.
    pub fn gather() -> Self {
        let mut facts = Self::default();
        facts.add("date", date());
        facts.add("commit", commit());
        facts.add("fyke", env!("CARGO_PKG_VERSION"));
        facts.add("rustc", env!("FYKE_RUSTC_VERSION"));
        facts.add("profile", env!("FYKE_PROFILE"));
        facts.add("cpu", cpu_model());
        facts.add("cpu features", features());
        facts.add("cores", cores().to_string());
        facts.add("largest cache KiB", (largest_cache() >> 10).to_string());
        facts.add("memory MiB", (memory() >> 20).to_string());
        facts.add("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
        facts.add("kernel", first_line("/proc/sys/kernel/osrelease"));
        facts
    }

    /// Adds a fact.
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// The value of a fact; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }

    /// The folder of this machine's records: its GPU if one was measured, else its CPU and cores.
    pub fn machine(&self) -> String {
        match self.get(DEVICE) {
            "" => slug(&format!("{} {} cores", self.get("cpu"), self.get("cores"))),
            device => slug(device),
        }
    }
}

/// Lower-case letters, digits and single dashes.
fn slug(text: &str) -> String {
    let text = text.replace("(R)", "").replace("(TM)", "").to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// CPUs that this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Bytes of main memory; 0 if the system does not report it.
pub fn memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("MemTotal:"));
    let kib = line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Clock rate of the first CPU in GHz; 0 if the system does not report it.
pub fn gigahertz() -> f64 {
    cpu_info("cpu MHz").parse::<f64>().unwrap_or(0.0) / 1e3
}

/// The day and time in UTC.
fn date() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// `FYKE_COMMIT` if it is set, else the commit of the working directory.
fn commit() -> String {
    if let Ok(named) = env::var("FYKE_COMMIT") {
        return named;
    }
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".into() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    if changed.is_some_and(|c| c.is_empty()) { commit } else { format!("{commit} with changes") }
}

/// The CPU: its model and the instruction sets that matchers use.
pub fn cpu() -> String {
    format!("{}: {}", cpu_model(), features())
}

fn cpu_model() -> String {
    let model = cpu_info("model name");
    if model.is_empty() { std::env::consts::ARCH.into() } else { model }
}

/// The instruction sets that matchers use.
fn features() -> String {
    const NAMED: &[&str] = &["ssse3", "avx2", "avx512bw", "avx512vbmi", "gfni", "asimd", "sve"];
    let flags = cpu_info("flags") + &cpu_info("Features");
    let has = |name: &&&str| flags.split_whitespace().any(|f| f == **name);
    NAMED.iter().filter(has).copied().collect::<Vec<_>>().join(" ")
}

fn cpu_info(name: &str) -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |l: &&str| l.split(':').next().is_some_and(|n| n.trim() == name);
    let line = text.lines().find(named).and_then(|l| l.split_once(':'));
    line.map_or(String::new(), |(_, value)| value.trim().into())
}

fn first_line(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().next().unwrap_or("").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_plain_names() {
        assert_eq!(
            slug("Intel(R) Xeon(R) CPU @ 2.00GHz 2 cores"),
            "intel-xeon-cpu-2-00ghz-2-cores"
        );
        let facts = Facts::gather();
        assert!(!facts.machine().is_empty());
        assert!(facts.get("date").starts_with("20") && facts.get("no such").is_empty());
        let gpu = Facts(vec![("cpu".into(), "c".into()), (DEVICE.into(), "NVIDIA H200".into())]);
        assert_eq!(gpu.machine(), "nvidia-h200");
    }
}
