"""Objects of S3, GCS, Azure and HTTP, read with the package obstore.

The version of an object is its ETag, or its time where a store has no ETags. Every read is compared
with the listing. Stores take their settings from the environment.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import io
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit

from fyke.dist.listed import ChangedError, Object

# Bytes of one request.
PIECE = 4 << 20

# Requests of one reader that are in flight: they hide the latency of a store.
AHEAD = 4

# The schemes, and what the names of their settings in the environment begin with.
SCHEMES = {
    "abfs": "AZURE_",
    "abfss": "AZURE_",
    "az": "AZURE_",
    "gs": "GOOGLE_",
    "http": "",
    "https": "",
    "s3": "AWS_",
    "s3a": "AWS_",
}


def _scheme(uri: str) -> str:
    return uri.partition("://")[0] if "://" in uri else ""


def is_remote(uri: str) -> bool:
    """Whether a store has the object, and not this machine."""
    return _scheme(uri) in SCHEMES


def _is_http(uri: str) -> bool:
    return is_remote(uri) and not SCHEMES[_scheme(uri)]


@functools.cache
def _store(root: str) -> Any:
    """A bucket, container or server. It keeps connections and credentials."""
    try:
        from obstore import store
    except ImportError as error:
        raise ImportError(
            f"{root}: objects of stores and HTTP need obstore", name="obstore"
        ) from error
    with _named(root):
        if _is_http(root):
            options: Any = {"allow_http": root.startswith("http:")}
            return store.HTTPStore.from_url(root, client_options=options)
        return store.from_url(root)


def _split(uri: str) -> tuple[str, str]:
    """The URI of the store, and the path in it. Only HTTP has escapes in paths."""
    scheme, _, rest = uri.partition("://")
    place, _, path = rest.partition("/")
    if _is_http(uri):
        parts = urlsplit(uri)
        if parts.query:
            raise ValueError(
                f"{uri}: objects behind HTTP have no query: leave out what follows `?`"
            )
        place, path = parts.netloc, unquote(parts.path).lstrip("/")
    return f"{scheme}://{place}", path


@contextlib.contextmanager
def _named(uri: str) -> Iterator[None]:
    """Gives errors of the store the name of the object, and classes of Python."""
    from obstore import exceptions

    try:
        yield
    except exceptions.PreconditionError as error:
        raise _changed(uri) from error
    except (exceptions.NotFoundError, FileNotFoundError) as error:
        raise FileNotFoundError(f"{uri}: there is no such object") from error
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
        raise PermissionError(f"{uri}: {_reason(error)}{_advice(uri)}") from error
    except exceptions.BaseError as error:
        raise OSError(f"{uri}: {_reason(error)}{_advice(uri)}") from error


def _reason(error: Exception) -> str:
    """The message in one line, without the structures of Rust that follow it."""
    return " ".join(str(error).partition("\n\nDebug source")[0].split())


def _advice(uri: str) -> str:
    settings = SCHEMES[_scheme(uri)]
    return f": check the name, and {settings}* in the environment" if settings else ""


def _changed(uri: str) -> ChangedError:
    return ChangedError(f"{uri}: it changed since it was listed: scan it again")


def _version(found: Any) -> str:
    """The ETag, or else the time of the last change."""
    tag = found["e_tag"]
    if tag is None:
        return str(found["last_modified"].isoformat())
    # Azure lists ETags without the quotes that it answers with.
    return tag if tag.startswith(('"', "W/")) else f'"{tag}"'


def look(uri: str) -> Object:
    """The object as it is now.

    Raises FileNotFoundError if there is none.
    """
    root, path = _split(uri)
    store = _store(root)
    with _named(uri):
        found = store.head(path)
    return Object(uri, found["size"], _version(found))


def list_objects(uri: str) -> Iterator[Object]:
    """The object, or all objects in a folder, in the order of their names. HTTP has no folders."""
    root, path = _split(uri)
    if path and not path.endswith("/") or _is_http(uri):
        try:
            item = look(uri)
        except FileNotFoundError:
            if _is_http(uri):
                raise
        else:
            yield item
            return
    store = _store(root)
    with _named(uri):
        found = [item for chunk in store.list(path.rstrip("/") or None) for item in chunk]
    if path and not found:
        raise FileNotFoundError(f"{uri}: there is no such object or folder")
    for item in sorted(found, key=lambda item: str(item["path"])):
        yield Object(f"{root}/{item['path']}", item["size"], _version(item))


def write_all(uri: str, data: bytes) -> None:
    """Makes an object."""
    root, path = _split(uri)
    store = _store(root)
    with _named(uri):
        store.put(path, data)


class Reader(io.RawIOBase):
    """Reads a range of an object in pieces, of which some are requested ahead.

    Raises ChangedError if the object is not what was listed.
    """

    def __init__(self, item: Object, lo: int, hi: int) -> None:
        super().__init__()
        root, path = _split(item.uri)
        self._item, self._path, self._store = item, path, _store(root)
        self._pieces = self._ahead(lo, hi)
        self._rest = memoryview(b"")

    def _get(self, lo: int, hi: int) -> bytes:
        options: Any = {"range": (lo, hi)}
        if self._item.version.startswith('"'):
            options["if_match"] = self._item.version
        with _named(self._item.uri):
            found = self._store.get(self._path, options=options)
            # A server may ignore the condition.
            if (found.meta["size"], _version(found.meta)) != (self._item.size, self._item.version):
                raise _changed(self._item.uri)
            return bytes(found.bytes())

    def _ahead(self, lo: int, hi: int) -> Generator[bytes]:
        if hi - lo <= PIECE:
            if lo < hi:
                yield self._get(lo, hi)
            return
        running: collections.deque[Future[bytes]] = collections.deque()
        pool = ThreadPoolExecutor(AHEAD)
        try:
            for at in range(lo, hi, PIECE):
                running.append(pool.submit(self._get, at, min(at + PIECE, hi)))
                if len(running) > AHEAD:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            data = b"".join([self._rest, *self._pieces])
            self._rest = memoryview(b"")
            return data
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        data, self._rest = bytes(self._rest[:size]), self._rest[size:]
        return data

    def readall(self) -> bytes:
        return self.read()

    def close(self) -> None:
        self._pieces.close()
        super().close()
