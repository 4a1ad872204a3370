//! Databases of one library that share a scratch.

use fyke_core::Block;

use super::database::{Database, HsScanner};
use crate::rival::{Memory, Refusal, Scanner, Tally, Work};
use crate::sets::{BuiltSets, SetCall, SetsScanner};

/// Databases of one library that share a scratch.
pub(super) struct Databases(pub(super) Vec<Database>);

impl BuiltSets for Databases {
    fn scanner(&self) -> Result<Box<dyn SetsScanner + '_>, Refusal> {
        Ok(Box::new(HsSetsScanner { databases: &self.0, scanner: self.scratch()? }))
    }

    fn memory(&self) -> Option<Memory> {
        let bytes = self.0.iter().map(Database::size).sum::<u64>() + self.scratch().ok()?.size();
        Some(Memory { bytes, from: "hs_database_size() + hs_scratch_size()" })
    }
}

impl Databases {
    /// A scanner whose scratch serves every database.
    fn scratch(&self) -> Result<HsScanner<'_>, Refusal> {
        let none = || Refusal("there is no set to scan with".into());
        let mut scanner = self.0.first().ok_or_else(none)?.scratch()?;
        self.0.iter().try_for_each(|database| database.grow_scratch(&mut scanner))?;
        Ok(scanner)
    }
}

/// Scans with any of its databases, which are those that the scanner's scratch was grown for.
struct HsSetsScanner<'a> {
    databases: &'a [Database],
    scanner: HsScanner<'a>,
}

impl SetsScanner for HsSetsScanner<'_> {
    fn scan_calls(&mut self, calls: &[SetCall<'_>], work: Work) -> Result<Tally, Refusal> {
        let databases = self.databases;
        calls.iter().try_fold(Tally::default(), |tally, call| {
            self.scanner.database = &databases[call.set];
            Ok(tally.plus(self.scanner.scan(Block::whole(call.haystack), work)?))
        })
    }
}
