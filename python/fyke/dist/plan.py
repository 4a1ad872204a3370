"""From objects to tasks, and from a task to rows. Every engine runs the same tasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from fyke import Searcher
from fyke._database import version_of
from fyke.dist import objects
from fyke.dist.counts import Counts
from fyke.dist.listed import ChangedError, Object

# Bytes of a range, if nothing else is asked for.
RANGE = 64 << 20

# Bytes of one read.
READ = 4 << 20

# Rows after which a batch is passed on.
BATCH_ROWS = 1 << 16


# The database that this process loaded last, and its version.
_loaded: dict[tuple[str, str | bytes], Searcher] = {}


def load(database: str) -> Searcher:
    """The searcher of a database, loaded once in a process. A file is mapped into memory."""
    is_local = "://" not in database
    # A database that was replaced is loaded again.
    version = version_of(database) if is_local else objects.look(database).version
    searcher = _loaded.get((database, version))
    if searcher is None:
        if is_local:
            searcher = Searcher.load(database)
        else:
            searcher = Searcher.from_bytes(objects.read_all(database))
        if searcher.semantics != "all":
            raise ValueError(
                f"{database}: it reports matches of semantics {searcher.semantics}, which depend "
                'on what is before a range: compile it with semantics="all"'
            )
        _loaded.clear()
        _loaded[database, version] = searcher
    return searcher


@dataclass(frozen=True)
class ScanTask:
    """A range of an object, and the database of patterns. It owns the matches that end in it."""

    object: Object
    lo: int
    hi: int
    database: str
    # Bytes before the range that a match which ends in it may begin in.
    overlap: int

    def run(self, searcher: Searcher | None = None) -> Iterator[Any]:
        """The matches as Arrow batches (path, offset, pattern), by end, start, pattern.

        A worker that has the database in memory gives its searcher.

        Raises ChangedError if the object changed since it was listed, and OSError with its name if
        it cannot be read.
        """
        return self._scan(_Rows, searcher)

    def counts(self, searcher: Searcher | None = None) -> Iterator[Any]:
        """The number of matches of each pattern that has some, as a batch (path, pattern, count).

        Raises what `run` raises.
        """
        return self._scan(Counts, searcher)

    def batches(self, counts: bool, searcher: Searcher | None = None) -> Iterator[Any]:
        """What `counts` or else `run` gives."""
        return self.counts(searcher) if counts else self.run(searcher)

    def _scan(self, kind: type[_Rows | Counts], searcher: Searcher | None) -> Iterator[Any]:
        try:
            yield from self._batches(kind, searcher or load(self.database))
        except OSError as error:
            if self.object.uri in str(error):
                raise
            raise OSError(f"{self.object.uri}: {error}") from error

    def _batches(self, kind: type[_Rows | Counts], searcher: Searcher) -> Iterator[Any]:
        objects.check(self.object)
        # A compressed object is one range, from its beginning to where it ends.
        whole = self.object.compression is not None
        first = 0 if whole else max(self.lo - self.overlap, 0)
        rows = kind(self.object.uri, first)
        stream = searcher.stream()
        with objects.open_range(self.object, first, self.hi) as reader:
            for chunk in _chunks(reader, None if whole else self.hi - first):
                self._add(rows, stream.feed(chunk), first)
                if rows.count >= BATCH_ROWS:
                    yield rows.take()
        if not whole and stream.offset != self.hi - first:
            raise ChangedError(f"{self.object.uri}: it ends before byte {self.hi}: scan it again")
        self._add(rows, stream.finish(), first)
        objects.check(self.object)
        yield rows.take()

    def _add(self, rows: _Rows | Counts, matches: Any, first: int) -> None:
        """Gives `rows` the matches that the range owns."""
        import pyarrow
        import pyarrow.compute as compute

        if not matches:
            return
        found = pyarrow.record_batch(pyarrow.array(matches))
        if first < self.lo:
            found = found.filter(compute.greater(found["end"], self.lo - first))
        rows.add(found)

    def count(self) -> int:
        """The number of matches."""
        import pyarrow.compute as compute

        return sum(compute.sum(batch["count"]).as_py() or 0 for batch in self.counts())


def _chunks(reader: Any, size: int | None) -> Iterator[Any]:
    """The next bytes of a reader: `size`, or all."""
    while size is None or size > 0:
        chunk = reader.read(READ if size is None else min(READ, size))
        if not chunk:
            return
        if size is not None:
            size -= len(chunk)
        yield chunk


class _Rows:
    """Collects the rows of a task."""

    def __init__(self, uri: str, first: int) -> None:
        self.uri, self.first = uri, first
        self.parts: list[Any] = []
        self.count = 0

    def add(self, owned: Any) -> None:
        """Takes matches of the task."""
        import pyarrow.compute as compute

        self.parts.append((compute.add(owned["start"], self.first), owned["pattern"]))
        self.count += owned.num_rows

    def take(self) -> Any:
        """The rows so far as a batch."""
        import pyarrow

        starts = [start for start, _ in self.parts]
        patterns = [pattern for _, pattern in self.parts]
        empty = (pyarrow.array([], "int64"), pyarrow.array([], "uint32"))
        offset = pyarrow.concat_arrays(starts or [empty[0]])
        pattern = pyarrow.concat_arrays(patterns or [empty[1]])
        indices = pyarrow.repeat(pyarrow.scalar(0, "int32"), len(offset))
        path = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([self.uri]))
        self.parts, self.count = [], 0
        columns = [path.cast("string"), offset, pattern]
        return pyarrow.record_batch(columns, schema=schema())


def schema() -> Any:
    """The columns of the rows."""
    import pyarrow

    return pyarrow.schema(
        [
            pyarrow.field("path", pyarrow.string(), nullable=False),
            pyarrow.field("offset", pyarrow.int64(), nullable=False),
            pyarrow.field("pattern", pyarrow.uint32(), nullable=False),
        ]
    )


@dataclass(frozen=True)
class Plan:
    """The tasks of a scan, in the order of their rows."""

    tasks: list[ScanTask]

    @property
    def size(self) -> int:
        """Bytes of all objects, as they are stored."""
        return sum(task.hi - task.lo for task in self.tasks)

    def to_json(self) -> bytes:
        """The tasks as JSON, one a line, for workers that cannot be sent objects of Python."""
        return b"".join(json.dumps(asdict(task)).encode() + b"\n" for task in self.tasks)

    @classmethod
    def from_json(cls, data: bytes) -> Plan:
        """The tasks that `to_json` wrote."""
        fields = map(json.loads, data.splitlines())
        return cls([ScanTask(**{**task, "object": Object(**task["object"])}) for task in fields])


def make_plan(uris: Iterable[str], database: str, longest: int, size: int = RANGE) -> Plan:
    """The tasks for some objects and folders. `longest` is the length of the longest pattern."""
    if size < 1:
        raise ValueError(f"the size of a range is {size}: give 1 byte or more")
    tasks = [task for uri in uris for task in _tasks_of(uri, database, longest, size)]
    return Plan(tasks)


def _tasks_of(uri: str, database: str, longest: int, size: int) -> Iterator[ScanTask]:
    for item in objects.list_objects(uri):
        overlap = max(longest - 1, 0)
        if item.compression is not None:
            yield ScanTask(item, 0, item.size, database, overlap)
            continue
        for lo in range(0, item.size, size):
            yield ScanTask(item, lo, min(lo + size, item.size), database, overlap)
