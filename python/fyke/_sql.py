"""What the functions of SQL engines share: they are called with a column and a column of paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fyke
from fyke._database import load_once


def with_database(function: Callable[[Any, fyke.Searcher], Any]) -> Callable[[Any, Any], Any]:
    """A function of a column and of the path of a database, which is the same in every row."""

    def call(column: Any, paths: Any) -> Any:
        import pyarrow
        import pyarrow.compute as compute

        different = compute.unique(paths).to_pylist()
        if len(different) > 1 or different == [None]:
            given = ", ".join(map(repr, different[:2]))
            raise ValueError(f"the database is {given}: give one path for all rows")
        if not different:
            # No rows: the type of the result does not depend on the patterns.
            return function(column, fyke.Searcher(["a"]))
        result = function(column, load_once(different[0]))
        return result if isinstance(result, pyarrow.ChunkedArray) else pyarrow.array(result)

    return call
