"""Objects behind HTTP, read by ranges with the package obstore."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from fyke.dist.listed import ChangedError, Object


def _store(uri: str) -> tuple[Any, str]:
    """The server and the path on it."""
    try:
        from obstore.store import HTTPStore
    except ImportError as error:
        raise ImportError(f"{uri}: objects behind HTTP need obstore", name="obstore") from error
    parts = urlsplit(uri)
    options: Any = {"allow_http": parts.scheme == "http"}
    server = HTTPStore.from_url(f"{parts.scheme}://{parts.netloc}", client_options=options)
    return server, unquote(parts.path).lstrip("/")


@contextlib.contextmanager
def _named(uri: str) -> Iterator[None]:
    """Gives errors of the store the name of the object, and classes of Python."""
    from obstore.exceptions import BaseError, NotFoundError, PreconditionError

    try:
        yield
    except PreconditionError as error:
        raise ChangedError(f"{uri}: it changed since it was listed: scan it again") from error
    except (NotFoundError, FileNotFoundError) as error:
        raise FileNotFoundError(f"{uri}: there is no such object") from error
    except BaseError as error:
        raise OSError(f"{uri}: {error}") from error


def look(uri: str) -> Object:
    """The object as it is now: its ETag, or else the time of its last change."""
    server, path = _store(uri)
    with _named(uri):
        found = server.head(path)
    return Object(uri, found["size"], found["e_tag"] or found["last_modified"].isoformat())


class Reader(io.RawIOBase):
    """Reads an object by ranges, each on the condition that its ETag is still the same."""

    def __init__(self, item: Object, start: int) -> None:
        super().__init__()
        self._item, self._at = item, start
        self._server, self._path = _store(item.uri)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        end = self._item.size if size < 0 else min(self._at + size, self._item.size)
        if end <= self._at:
            return b""
        options: Any = {"range": (self._at, end)}
        if self._item.version.startswith('"'):
            options["if_match"] = self._item.version
        with _named(self._item.uri):
            data = bytes(self._server.get(self._path, options=options).bytes())
        self._at += len(data)
        return data

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
