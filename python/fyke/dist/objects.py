"""Objects: files of this machine, those of the stores that pyarrow knows (S3, GCS), and HTTP."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from fyke.dist import http
from fyke.dist.listed import Object


def _is_http(uri: str) -> bool:
    return uri.startswith(("http://", "https://"))


def filesystem(uri: str) -> tuple[Any, str]:
    """The store and the path in it."""
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
    if _is_http(uri):
        return http.look(uri)
    from pyarrow import fs

    store, path = filesystem(uri)
    info = store.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{uri}: there is no such object")
    return _object(uri, info)


def list_objects(uri: str) -> Iterator[Object]:
    """The object, or all objects in a folder, in the order of their names. HTTP has no folders."""
    if _is_http(uri):
        yield look(uri)
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


@contextlib.contextmanager
def _open(item: Object, start: int) -> Iterator[Any]:
    """A reader of the bytes as they are stored, from a position on."""
    if _is_http(item.uri):
        yield http.Reader(item, start)
        return
    store, path = filesystem(item.uri)
    with store.open_input_file(path) as file:
        file.seek(start)
        yield file


@contextlib.contextmanager
def open_range(item: Object, start: int) -> Iterator[Any]:
    """A reader from a position on; of what an object decompresses to, from its beginning."""
    if not item.compression:
        with _open(item, start) as reader:
            yield reader
        return
    import pyarrow

    with _open(item, 0) as reader:
        yield pyarrow.CompressedInputStream(reader, item.compression)


def read_all(uri: str) -> bytes:
    """The bytes of an object."""
    item = look(uri)
    with _open(item, 0) as reader:
        return bytes(reader.read())


def write_all(uri: str, data: bytes) -> None:
    """Makes an object, and the folders it is in."""
    store, path = filesystem(uri)
    store.create_dir(os.path.dirname(path), recursive=True)
    with store.open_output_stream(path) as file:
        file.write(data)
