//! Paths as bytes.

use std::path::Path;

/// The bytes of a path, as they are on Unix.
pub fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
