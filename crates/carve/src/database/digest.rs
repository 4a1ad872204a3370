//! The digest of a database's contents. It detects a file that was damaged or changed.

use super::schema;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

/// The SHA-256 of all rows of all tables, in hexadecimal digits.
pub(super) fn of(connection: &Connection) -> rusqlite::Result<String> {
    let mut hasher = Sha256::new();
    for query in schema::ALL_ROWS {
        hasher.update(query);
        let mut statement = connection.prepare(query)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            (0..columns).try_for_each(|i| row.get_ref(i).map(|value| add(&mut hasher, value)))?;
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Adds a value with its type and length, so that no two rows give the same bytes.
fn add(hasher: &mut Sha256, value: ValueRef<'_>) {
    let (kind, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(n) => (1, &n.to_le_bytes()),
        ValueRef::Real(n) => (2, &n.to_le_bytes()),
        ValueRef::Text(text) => (3, text),
        ValueRef::Blob(blob) => (4, blob),
    };
    hasher.update([kind]);
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}
