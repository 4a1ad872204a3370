//! The calibration file.

use crate::warning;
use anyhow::{Context, bail};
use fyke_cpu::costs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The version of the probes. A file of another version is not comparable with the reference.
const VERSION: u32 = 5;

/// The variable that names the file.
const VARIABLE: &str = "FYKE_CALIBRATION";

/// The largest file that is read. A real one has a few KiB.
const MOST_BYTES: u64 = 1 << 20;

/// Times that a probe can take, in nanoseconds per byte.
const PLAUSIBLE: std::ops::RangeInclusive<f32> = 1e-4..=1e6;

/// The times of the reference machine. `fyke calibrate -o` writes them there.
const REFERENCE: &str = include_str!("reference.toml");

/// The times of all probes on a machine.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calibration {
    version: u32,
    machine: String,
    /// Nanoseconds per byte, by the probe's name.
    pub(super) ns: BTreeMap<String, f32>,
}

impl Calibration {
    pub(super) fn of_this_machine() -> Calibration {
        let machine = fyke_bench::machine::cpu();
        Calibration { version: VERSION, machine, ns: BTreeMap::new() }
    }

    pub(super) fn reference() -> Calibration {
        toml::from_str(REFERENCE).expect("a test reads it")
    }

    /// Writes the file whole or not at all.
    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = toml::to_string(self)?;
        let note = "# What the steps of engines cost here. `fyke calibrate` writes it.\n";
        let new = path.with_extension("toml.new");
        fs::write(&new, format!("{note}{text}"))?;
        Ok(fs::rename(&new, path)?)
    }

    fn read(path: &Path) -> anyhow::Result<Calibration> {
        let bytes = fs::metadata(path)?.len();
        if bytes > MOST_BYTES {
            bail!("it has {bytes} bytes");
        }
        let found = Calibration::parse(&fs::read_to_string(path)?)?;
        let here = fyke_bench::machine::cpu();
        if found.machine != here {
            bail!("it is of another machine: {:?}, and this is {here:?}", found.machine);
        }
        Ok(found)
    }

    fn parse(text: &str) -> anyhow::Result<Calibration> {
        /// What every version has.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let damaged = "it is damaged";
        let Versioned { version } = toml::from_str(text).context(damaged)?;
        if version != VERSION {
            bail!("it is of version {version}, and this fyke reads version {VERSION}");
        }
        let found: Calibration = toml::from_str(text).context(damaged)?;
        if let Some((name, ns)) = found.ns.iter().find(|(_, ns)| !PLAUSIBLE.contains(*ns)) {
            bail!("it is damaged: {name} is {ns} ns per byte");
        }
        Ok(found)
    }

    /// The time of a probe over that of the reference machine.
    fn ratio(&self, reference: &Calibration, probe: &str) -> Option<f32> {
        Some(self.ns.get(probe)? / reference.ns.get(probe)?)
    }
}

/// The file that commands read, if the environment does not forbid it.
pub(super) fn default_path() -> Option<PathBuf> {
    if let Some(path) = env::var_os(VARIABLE) {
        return (!path.is_empty()).then(|| path.into());
    }
    let folder = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let config = if cfg!(windows) { folder("APPDATA") } else { folder("XDG_CONFIG_HOME") };
    let config = config.or_else(|| Some(env::home_dir()?.join(".config")));
    Some(config?.join("fyke").join("calibration.toml"))
}

/// Uses the calibration of this machine, if there is one. What is wrong with it is a warning: the
/// costs of the machine's class are then used.
pub(crate) fn install() {
    let Some(path) = default_path() else { return };
    match Calibration::read(&path) {
        Ok(found) => {
            let reference = Calibration::reference();
            let done = costs::install(|probe| found.ratio(&reference, probe));
            done.expect("no set was planned before");
        }
        Err(error) if is_absent(&error) && env::var_os(VARIABLE).is_none() => {}
        Err(error) => warning::print(format_args!(
            "warning: {}: {error:#}; the calibration is ignored, `fyke calibrate` writes a new one",
            path.display()
        )),
    }
}

fn is_absent(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_cpu::costs::probe;

    #[test]
    fn the_reference_has_every_probe() {
        let reference = Calibration::reference();
        assert_eq!(reference.version, VERSION);
        // It is of x86-64, which lacks the instruction sets of others.
        let is_foreign = |name: &String| name.ends_with(".neon") || name.ends_with(".simd128");
        let probes = probe::all().into_iter().map(|probe| probe.name);
        let probes: Vec<String> = probes.filter(|name| !is_foreign(name)).collect();
        assert!(probes.iter().all(|name| reference.ns.contains_key(name)));
        assert_eq!(reference.ns.len(), probes.len());
        assert_eq!(Calibration::parse(REFERENCE).unwrap(), reference);
    }

    #[test]
    fn a_file_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("calibration.toml");
        let mut written = Calibration::of_this_machine();
        written.ns.insert("teddy.avx2".into(), 0.25);
        written.write(&path).unwrap();
        assert_eq!(Calibration::read(&path).unwrap(), written);
        written.machine = "a loom".into();
        written.write(&path).unwrap();
        let error = Calibration::read(&path).unwrap_err().to_string();
        assert!(error.contains("another machine: \"a loom\""), "{error}");
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let error = |text: &str| format!("{:#}", Calibration::parse(text).unwrap_err());
        assert!(error("version = 7").contains("it is of version 7"));
        for damaged in [
            "",
            "version",
            "version = 5",
            "version = 5\nmachine = 'x'\n[ns]\nlinks = 'a'",
            "version = 5\nmachine = 'x'\n[ns]\nlinks = nan",
            "version = 5\nmachine = 'x'\n[ns]\nlinks = -1.0",
            "version = 5\nmachine = 'x'\n[ns]\nlinks = 1e30",
            "version = 5\nmachine = 'x'\nmore = 1\n[ns]\n",
        ] {
            assert!(error(damaged).contains("damaged"), "{damaged}: {}", error(damaged));
        }
    }
}
