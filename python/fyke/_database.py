"""Databases: compiled sets as files."""

from __future__ import annotations

import functools
import os
from typing import Union

from fyke._fyke import Searcher

_Path = Union[str, "os.PathLike[str]"]


class Database:
    """A compiled set that can be saved, and loaded without compiling it again."""

    def __init__(self, searcher: Searcher) -> None:
        if not isinstance(searcher, Searcher):
            raise TypeError(f"searcher is a {type(searcher).__name__}: give a fyke.Searcher")
        self.searcher = searcher

    @classmethod
    def load(cls, path: _Path, *, threads: int = 1) -> Database:
        """Opens a file. It is mapped into memory if nobody else may write to it."""
        return cls(Searcher.load(path, threads=threads))

    def save(self, path: _Path) -> None:
        """Writes a file. Nobody sees a part of it, and a failure leaves the old one."""
        self.searcher.save(path)


# Bytes of the header, which has a hash of the whole content: see docs/database-file.md.
_HEADER = 64


def version_of(path: str) -> bytes:
    """What differs if a database was replaced, however soon after it was read."""
    try:
        with open(path, "rb") as file:
            return file.read(_HEADER)
    except FileNotFoundError:
        # Not all engines show the name that the error has beside its text.
        raise FileNotFoundError(f"{path}: there is no such database") from None


@functools.lru_cache(maxsize=16)
def _of_version(path: str, version: bytes) -> Searcher:
    del version
    return Searcher.load(path)


def load_once(path: str) -> Searcher:
    """The searcher of a database, for functions that are called with its path again and again."""
    # A file that was replaced is loaded again.
    return _of_version(path, version_of(path))
