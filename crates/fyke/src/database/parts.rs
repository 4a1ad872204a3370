//! Compiled tables as sections: a list of the parts of the set, and their tables.

use super::error::DatabaseError;
use super::format::Name;
use super::{ENGINES, INDICES, Sections, TABLES, set_sections};
use fyke_core::stored::{LoadedPart, StoredPart};
use fyke_core::table::bytes_of;
use fyke_core::wire::{Reader, Writer};
use fyke_core::{PatternSet, PatternTables};

/// The maximum number of parts of a set, and of tables of a part. A set has one or two parts, and
/// a part a few tables.
const MOST_PARTS: u32 = 16;
const MOST_TABLES: u32 = 64;

/// The parts of a set, to be written.
pub(super) struct PartSections<'a> {
    list: Vec<u8>,
    parts: Vec<(StoredPart<'a>, PatternTables)>,
}

impl<'a> PartSections<'a> {
    pub(super) fn new(parts: Vec<StoredPart<'a>>) -> PartSections<'a> {
        let mut list = Writer::default();
        list.number(parts.len() as u64);
        for part in &parts {
            list.text(part.engine).number(u64::from(part.layout));
            list.number(part.numbers.len() as u64);
            part.numbers.iter().for_each(|number| _ = list.number(*number));
            list.number(part.tables.len() as u64).number(u64::from(part.indices.is_empty()));
            list.number(u64::from(part.set.has_shared_spans())).bytes(&part.plan);
        }
        let of_own = |part: &StoredPart<'_>| match part.indices {
            [] => PatternTables::default(),
            _ => part.set.tables(),
        };
        let parts = parts.into_iter().map(|part| (of_own(&part), part));
        PartSections { list: list.finish(), parts: parts.map(|(set, part)| (part, set)).collect() }
    }

    /// The sections; none if there are no parts.
    pub(super) fn sections(&self) -> Vec<(Name, &[u8])> {
        let mut sections = Vec::new();
        if self.parts.is_empty() {
            return sections;
        }
        sections.push((Name { kind: ENGINES, part: 0 }, &self.list[..]));
        for ((part, set), number) in self.parts.iter().zip(1..) {
            let name = |kind: u32| Name { kind, part: number };
            sections.extend(set_sections(set, number));
            sections.push((name(INDICES), bytes_of(part.indices)));
            let tables = part.tables.iter().zip(TABLES..);
            sections.extend(tables.map(|(table, kind)| (name(kind), *table)));
        }
        sections.retain(|(_, bytes)| !bytes.is_empty());
        sections
    }
}

/// The parts of a file. There are none if it has no tables.
pub(super) fn load(
    all: &Sections<'_>,
    whole: &PatternSet,
) -> Result<Vec<LoadedPart>, DatabaseError> {
    let list = all.bytes(ENGINES, 0);
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let damaged = || all.damaged(ENGINES, 0, "it cannot be read");
    let mut from = Reader::new(list);
    let count = from.number().and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= MOST_PARTS);
    let mut parts = Vec::new();
    for number in 1..=count.ok_or_else(damaged)? {
        let listed = Listed::read(&mut from).ok_or_else(damaged)?;
        let set = match listed.whole {
            true => whole.clone(),
            false => all.set(number, listed.shared_spans)?,
        };
        let tables = (TABLES..TABLES + listed.tables).map(|kind| all.table(kind, number));
        parts.push(LoadedPart {
            engine: listed.engine,
            layout: listed.layout,
            numbers: listed.numbers,
            tables: tables.collect::<Result<_, _>>()?,
            set,
            indices: all.table(INDICES, number)?,
            plan: listed.plan,
        });
    }
    from.is_empty().then_some(parts).ok_or_else(damaged)
}

/// A part as the list has it.
struct Listed {
    engine: String,
    layout: u32,
    numbers: Vec<u64>,
    tables: u32,
    whole: bool,
    shared_spans: bool,
    plan: Vec<u8>,
}

impl Listed {
    fn read(from: &mut Reader<'_>) -> Option<Listed> {
        let (engine, layout) = (from.text()?.to_owned(), u32::try_from(from.number()?).ok()?);
        let numbers = (0..from.count(8)?).map(|_| from.number()).collect::<Option<_>>()?;
        let tables = u32::try_from(from.number()?).ok().filter(|n| *n <= MOST_TABLES)?;
        let (whole, shared_spans) = (from.flag()?, from.flag()?);
        let plan = from.bytes()?.to_vec();
        Some(Listed { engine, layout, numbers, tables, whole, shared_spans, plan })
    }
}
