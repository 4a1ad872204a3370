"""Counts of matches by object and pattern: workers send these in place of rows."""

from __future__ import annotations

from typing import Any

# Rows that are summed at a time, beside those that have been summed.
SUM_ROWS = 1 << 20


def schema() -> Any:
    """The columns of counts."""
    import pyarrow

    return pyarrow.schema(
        [
            pyarrow.field("path", pyarrow.string(), nullable=False),
            pyarrow.field("pattern", pyarrow.uint32(), nullable=False),
            pyarrow.field("count", pyarrow.int64(), nullable=False),
        ]
    )


class Sums:
    """Sums counts by object and pattern. It keeps a row for each of both, not each batch."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._rows = 0
        self._summed = 0

    def add(self, batch: Any) -> None:
        self._parts.append(batch)
        self._rows += batch.num_rows
        if self._rows > 2 * self._summed + SUM_ROWS:
            self._sum()

    def _sum(self) -> Any:
        import pyarrow

        table = pyarrow.Table.from_batches(self._parts, schema())
        table = table.group_by(["path", "pattern"]).aggregate([("count", "sum")])
        table = table.select(["path", "pattern", "count_sum"])
        table = table.rename_columns(schema().names).cast(schema())
        self._parts = table.to_batches()
        self._rows = self._summed = table.num_rows
        return table

    def table(self) -> Any:
        """The sums, in the order of paths and patterns."""
        return self._sum().sort_by([("path", "ascending"), ("pattern", "ascending")])


class Counts:
    """Counts the matches of a task, which gives them once all is scanned."""

    count = 0

    def __init__(self, uri: str, _first: int) -> None:
        self.uri = uri
        self._sums = Sums()

    def add(self, owned: Any) -> None:
        """Takes matches of the task."""
        import pyarrow

        counted = owned["pattern"].value_counts()
        path = pyarrow.repeat(self.uri, len(counted))
        columns = [path, counted.field("values"), counted.field("counts")]
        self._sums.add(pyarrow.RecordBatch.from_arrays(columns, schema=schema()))

    def take(self) -> Any:
        """The counts as a batch."""
        import pyarrow

        columns = [column.combine_chunks() for column in self._sums.table().columns]
        return pyarrow.RecordBatch.from_arrays(columns, schema=schema())
