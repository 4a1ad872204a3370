"""Objects: files of this machine, and those of the stores that pyarrow knows (S3, GCS, Azure ...)."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Ends of names whose objects are decompressed, and so are read whole.
COMPRESSED = {".bz2": "bz2", ".gz": "gzip", ".lz4": "lz4", ".zst": "zstd"}


@dataclass(frozen=True)
class Object:
    """An object as it was when it was listed."""

    uri: str
    size: int
    # Changes with the content: the time of the last change, in nanoseconds.
    version: int

    @property
    def compression(self) -> str | None:
        """How it is compressed, by its name."""
        return COMPRESSED.get(pathlib.PurePosixPath(self.uri).suffix)


def _filesystem(uri: str) -> tuple[Any, str]:
    """The store and the path in it."""
    from pyarrow import fs  # type: ignore[import-untyped]

    if "://" in uri:
        store, path = fs.FileSystem.from_uri(uri)
        return store, path
    return fs.LocalFileSystem(), os.path.abspath(uri)


def _object(uri: str, info: Any) -> Object:
    return Object(uri, info.size, info.mtime_ns or 0)


def look(uri: str) -> Object:
    """The object as it is now.

    Raises FileNotFoundError if there is none.
    """
    from pyarrow import fs

    store, path = _filesystem(uri)
    info = store.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{uri}: there is no such object")
    return _object(uri, info)


def list_objects(uri: str) -> Iterator[Object]:
    """The object, or all objects in a folder, in the order of their names."""
    from pyarrow import fs

    store, path = _filesystem(uri)
    info = store.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{uri}: there is no such file or folder")
    if info.type != fs.FileType.Directory:
        yield _object(uri, info)
        return
    base, prefix = path.rstrip("/"), uri.rstrip("/")
    found = store.get_file_info(fs.FileSelector(path, recursive=True))
    for info in sorted(found, key=lambda info: str(info.path)):
        if info.type == fs.FileType.File:
            yield _object(prefix + info.path[len(base) :], info)


@contextlib.contextmanager
def open_range(item: Object, start: int) -> Iterator[Any]:
    """A reader from a position on; of what an object decompresses to, from its beginning."""
    import pyarrow

    store, path = _filesystem(item.uri)
    if item.compression:
        with store.open_input_file(path) as file:
            yield pyarrow.CompressedInputStream(file, item.compression)
        return
    with store.open_input_file(path) as file:
        file.seek(start)
        yield file
