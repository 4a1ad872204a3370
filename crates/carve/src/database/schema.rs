//! The tables of a database, for SQLite.

/// Says in the header of the file whose database it is: "fyke".
pub(super) const APPLICATION_ID: u32 = 0x6679_6b65;

/// The version of the tables. It grows with each change that an older program cannot read.
pub(super) const VERSION: u32 = 1;

/// Settings that the bytes of the file depend on. The file is written once, under another name, so
/// it needs no journal.
pub(super) const SETTINGS: &str = "
PRAGMA page_size = 4096;
PRAGMA encoding = 'UTF-8';
PRAGMA auto_vacuum = NONE;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -16384;
";

/// Settings to read a file that somebody else may have written.
pub(super) const CAUTION: &str = "
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
";

/// The tables and views. Comments stay in the file, for those who read it with other programs.
pub(super) const TABLES: &str = "
-- What was searched, and with what.
CREATE TABLE info(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE options(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE needles(
    id INTEGER PRIMARY KEY,
    bytes BLOB,       -- of a string; NULL for a regular expression
    wildcards BLOB,   -- a byte 1 for each byte of the string that matches any byte; NULL if none does
    regex TEXT,       -- of a regular expression; NULL for a string
    nocase INTEGER NOT NULL,
    hit_len INTEGER   -- of each hit; NULL if hits have their own lengths
);

-- Lengths are unsigned numbers of 64 bits: one of 2^63 or more reads as negative.
CREATE TABLE rules(
    id INTEGER PRIMARY KEY,
    line INTEGER NOT NULL,
    extension TEXT,
    min_len INTEGER NOT NULL,
    max_len INTEGER NOT NULL,
    header INTEGER NOT NULL REFERENCES needles,
    footer INTEGER REFERENCES needles,
    mode TEXT NOT NULL -- forward, next or reverse
);

-- Up to 128 hits of a needle in a row. The view `hits` decodes them.
CREATE TABLE hit_blocks(
    id INTEGER PRIMARY KEY,  -- in the order of needles and starts
    needle INTEGER NOT NULL REFERENCES needles,
    first INTEGER NOT NULL,  -- the start of the first hit
    count INTEGER NOT NULL,
    deltas BLOB NOT NULL,    -- from each start to the next, as LEB128: 7 bits a byte, the low ones first
    lengths TEXT             -- a JSON array, if the needle has no hit_len
);

-- Each byte and its value, for the view `hits`.
CREATE TABLE byte_values(byte BLOB PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE VIEW hits(needle, start, len) AS
WITH RECURSIVE step(block, at, hit, start, delta, shift) AS (
    SELECT id, 1, 0, first, 0, 0 FROM hit_blocks
    UNION ALL
    SELECT s.block, s.at + 1, s.hit + (v.value < 128),
        s.start + CASE WHEN v.value < 128 THEN s.delta + (v.value << s.shift) ELSE 0 END,
        CASE WHEN v.value < 128 THEN 0 ELSE s.delta + ((v.value & 127) << s.shift) END,
        CASE WHEN v.value < 128 THEN 0 ELSE s.shift + 7 END
    FROM step s JOIN hit_blocks b ON b.id = s.block
        JOIN byte_values v ON v.byte = substr(b.deltas, s.at, 1)
)
SELECT b.needle, s.start, coalesce(n.hit_len, b.lengths ->> s.hit)
FROM step s JOIN hit_blocks b ON b.id = s.block JOIN needles n ON n.id = b.needle
WHERE s.shift = 0;

-- The carved files. `valid` is 1, 0, or NULL if it is not known.
CREATE TABLE files(
    number INTEGER PRIMARY KEY,
    rule INTEGER NOT NULL REFERENCES rules,
    start INTEGER NOT NULL,
    len INTEGER NOT NULL,
    chopped INTEGER NOT NULL,
    valid INTEGER
);

CREATE VIEW file_list AS
SELECT f.number, r.extension, f.start, f.len, f.chopped,
    CASE f.valid WHEN 1 THEN 'yes' WHEN 0 THEN 'no' ELSE 'unknown' END AS valid,
    f.rule, r.line AS rule_line
FROM files f JOIN rules r ON r.id = f.rule;

-- Ranges of the image that could not be read; `end` is the offset after the last byte.
CREATE TABLE bad_ranges(start INTEGER PRIMARY KEY, \"end\" INTEGER NOT NULL);
";

/// The names of the tables.
pub(super) const TABLE_NAMES: [&str; 8] =
    ["info", "options", "needles", "rules", "hit_blocks", "byte_values", "files", "bad_ranges"];

/// The tables themselves, and the rows of each in a fixed order, for the digest of the contents.
pub(super) const ALL_ROWS: [&str; 9] = [
    "SELECT * FROM sqlite_schema ORDER BY rowid",
    "SELECT * FROM info WHERE key <> 'sha256' ORDER BY key",
    "SELECT * FROM options ORDER BY name",
    "SELECT * FROM needles ORDER BY id",
    "SELECT * FROM rules ORDER BY id",
    "SELECT * FROM hit_blocks ORDER BY id",
    "SELECT * FROM byte_values ORDER BY byte",
    "SELECT * FROM files ORDER BY number",
    "SELECT * FROM bad_ranges ORDER BY start",
];
