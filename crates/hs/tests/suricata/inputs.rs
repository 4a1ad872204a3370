//! What Suricata reads: rules, captures and its configuration, in a folder of the test.

use flate2::read::GzDecoder;
use fyke_testkit::require;
use lzma_rust2::XzReader;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The rules, in the data outside the repository.
const RULES: &str = "rules/et-open-2016.tar.xz";
/// The captures, in the same data.
const CAPTURES: &str = "pcaps.tar.xz";

/// Variables that the rules use. Every address counts as home, because the captures have many.
const ADDRESSES: &str = "HOME_NET EXTERNAL_NET HTTP_SERVERS SMTP_SERVERS SQL_SERVERS DNS_SERVERS \
    TELNET_SERVERS AIM_SERVERS DC_SERVERS DNP3_SERVER DNP3_CLIENT MODBUS_CLIENT MODBUS_SERVER \
    ENIP_CLIENT ENIP_SERVER";
const PORTS: [(&str, &str); 8] = [
    ("HTTP_PORTS", "80"),
    ("SHELLCODE_PORTS", "!80"),
    ("ORACLE_PORTS", "1521"),
    ("SSH_PORTS", "22"),
    ("DNP3_PORTS", "20000"),
    ("MODBUS_PORTS", "502"),
    ("FILE_DATA_PORTS", "[80,110,143]"),
    ("FTP_PORTS", "21"),
];

/// The files of a run.
pub(crate) struct Inputs {
    folder: PathBuf,
}

impl Inputs {
    /// Unpacks the data into a folder, with `copies` copies of each capture.
    ///
    /// # Errors
    /// The reason, if the data is absent.
    pub(crate) fn unpack(folder: &Path, copies: u64) -> Result<Inputs, String> {
        let rules = require::data_with(RULES)?.join(RULES);
        let captures = require::data_with(CAPTURES)?.join(CAPTURES);
        let inputs = Inputs { folder: folder.to_owned() };
        write_rules(&rules, &inputs.rules()).expect("the rules can be unpacked");
        write_captures(&captures, &inputs.captures(), copies).expect("captures can be unpacked");
        fs::write(inputs.config(), config()).expect("the folder takes a file");
        Ok(inputs)
    }

    /// All rules in one file.
    pub(crate) fn rules(&self) -> PathBuf {
        self.folder.join("all.rules")
    }

    /// The folder of the captures.
    pub(crate) fn captures(&self) -> PathBuf {
        self.folder.join("captures")
    }

    /// The configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.folder.join("suricata.yaml")
    }
}

fn write_rules(archive: &Path, to: &Path) -> io::Result<()> {
    let mut all = File::create(to)?;
    for entry in tar::Archive::new(XzReader::new(File::open(archive)?, true)).entries()? {
        let mut entry = entry?;
        if entry.path()?.extension().is_some_and(|e| e == "rules") {
            io::copy(&mut entry, &mut all)?;
        }
    }
    Ok(())
}

fn write_captures(archive: &Path, to: &Path, copies: u64) -> io::Result<()> {
    fs::create_dir(to)?;
    for copy in 0..copies {
        let mut archive = tar::Archive::new(XzReader::new(File::open(archive)?, true));
        for (index, entry) in (0u64..).zip(archive.entries()?) {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            let Some(name) = path.file_name() else { continue };
            let name = to.join(format!("{copy}-{}", name.to_string_lossy()));
            let Some(file) = write_capture(&mut entry, &name)? else { continue };
            // Suricata reads the oldest file of a folder first.
            let age = Duration::from_secs(1_000_000 + copy * 1000 + index);
            file.set_modified(SystemTime::UNIX_EPOCH + age)?;
        }
    }
    Ok(())
}

/// Writes a capture, without compression, which Suricata does not read.
fn write_capture(from: &mut dyn Read, to: &Path) -> io::Result<Option<File>> {
    let extension = to.extension().and_then(|e| e.to_str());
    match extension {
        Some("pcap" | "pcapng") => {
            let mut file = File::create(to)?;
            io::copy(from, &mut file)?;
            Ok(Some(file))
        }
        Some("gz") => write_capture(&mut GzDecoder::new(from), &to.with_extension("")),
        _ => Ok(None),
    }
}

/// A configuration that writes alerts and nothing else.
///
/// Captures of different years follow each other, so a thread that ends old flows by the clock
/// would make some alerts a matter of chance: flows never grow old.
fn config() -> String {
    let addresses = ADDRESSES.split_whitespace().map(|name| format!("    {name}: any\n"));
    let ports = PORTS.iter().map(|(name, ports)| format!("    {name}: \"{ports}\"\n"));
    let never = 1_000_000_000;
    let ages = format!("new: {never}, established: {never}, closed: {never}, bypassed: {never}");
    let flows = ["default", "tcp", "udp", "icmp"].map(|kind| format!("  {kind}: {{ {ages} }}\n"));
    [
        "%YAML 1.1\n---\nvars:\n  address-groups:\n",
        &addresses.collect::<String>(),
        "  port-groups:\n",
        &ports.collect::<String>(),
        "flow-timeouts:\n",
        &flows.concat(),
        "outputs:\n  - eve-log: { enabled: yes, filename: eve.json, types: [alert] }\n",
        "stats: { enabled: no }\nunix-command: { enabled: no }\n",
    ]
    .concat()
}
