"""An object as it was when it was listed, and the error for one that is another now."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

# Ends of names whose objects are decompressed, and so are read whole.
COMPRESSED = {".bz2": "bz2", ".gz": "gzip", ".lz4": "lz4", ".zst": "zstd"}


class ChangedError(RuntimeError):
    """An object is not what it was when it was listed."""


@dataclass(frozen=True)
class Object:
    """An object as it was when it was listed."""

    uri: str
    size: int
    # Changes with the content: an ETag, or the time of the last change.
    version: str

    @property
    def compression(self) -> str | None:
        """How it is compressed, by its name."""
        return COMPRESSED.get(pathlib.PurePosixPath(self.uri).suffix)
