"""Objects: those of remote stores, and files, which pyarrow reads."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from fyke.dist import stores
from fyke.dist.listed import ChangedError, Object


def filesystem(uri: str) -> tuple[Any, str]:
    """The file system of pyarrow and the path in it."""
    from pyarrow import fs

    if "://" in uri:
        store, path = fs.FileSystem.from_uri(uri)
        return store, path
    return fs.LocalFileSystem(), os.path.abspath(uri)


def _object(uri: str, info: Any) -> Object:
    return Object(uri, info.size, str(info.mtime_ns or 0))


def look(uri: str) -> Object:
    """The object as it is now.

    Raises FileNotFoundError if there is none.
    """
    if stores.is_remote(uri):
        return stores.look(uri)
    from pyarrow import fs

    store, path = filesystem(uri)
    info = store.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{uri}: there is no such object")
    return _object(uri, info)


def list_objects(uri: str) -> Iterator[Object]:
    """The object, or all objects in a folder, in the order of their names."""
    if stores.is_remote(uri):
        yield from stores.list_objects(uri)
        return
    from pyarrow import fs

    store, path = filesystem(uri)
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


def check(item: Object) -> None:
    """Raises ChangedError if a file changed since it was listed. Stores check each read."""
    if stores.is_remote(item.uri):
        return
    now = look(item.uri)
    if now != item:
        raise ChangedError(
            f"{item.uri}: it changed since it was listed: it had {item.size} bytes, and has "
            f"{now.size}: scan it again"
        )


@contextlib.contextmanager
def _open(item: Object, lo: int, hi: int) -> Iterator[Any]:
    """A reader of the bytes as they are stored, from a position to `hi` or beyond it."""
    if stores.is_remote(item.uri):
        with stores.Reader(item, lo, hi) as reader:
            yield reader
        return
    store, path = filesystem(item.uri)
    with store.open_input_file(path) as file:
        file.seek(lo)
        yield file


@contextlib.contextmanager
def open_range(item: Object, lo: int, hi: int) -> Iterator[Any]:
    """A reader of a range; of all that an object decompresses to, if it is compressed."""
    if not item.compression:
        with _open(item, lo, hi) as reader:
            yield reader
        return
    import pyarrow

    with _open(item, 0, item.size) as reader:
        yield pyarrow.CompressedInputStream(reader, item.compression)


def read_all(uri: str) -> bytes:
    """The bytes of an object."""
    item = look(uri)
    with _open(item, 0, item.size) as reader:
        return bytes(reader.read())


def write_all(uri: str, data: bytes) -> None:
    """Makes an object, and the folders it is in."""
    if stores.is_remote(uri):
        stores.write_all(uri, data)
        return
    store, path = filesystem(uri)
    store.create_dir(os.path.dirname(path), recursive=True)
    with store.open_output_stream(path) as file:
        file.write(data)
