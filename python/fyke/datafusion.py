"""Functions for DataFusion: `fyke.datafusion.register(context)`.

    fyke_contains_any(column, database)   whether there is a match
    fyke_count(column, database)          the number of matches
    fyke_find(column, database)           a list of structs of pattern, start and end, in bytes
    fyke_scan(database, uri, ...)         a table of the matches in objects and folders

The database is the path of a file that `Searcher.save` or `fyke compile` wrote. It is loaded once.
The table has the columns path, offset and pattern. Its rows are made while the query reads them.
"""

from __future__ import annotations

from typing import Any

import pyarrow
from datafusion import SessionContext, Table, udf, udtf

import fyke
from fyke._sql import with_database
from fyke.dist import local
from fyke.dist.plan import load, make_plan, schema

_MATCH = pyarrow.struct(
    [
        pyarrow.field("pattern", pyarrow.uint32(), nullable=False),
        pyarrow.field("start", pyarrow.int64(), nullable=False),
        pyarrow.field("end", pyarrow.int64(), nullable=False),
    ]
)
_MATCHES = pyarrow.large_list(pyarrow.field("item", _MATCH, nullable=False))


def _text(value: Any) -> str:
    """A literal of SQL."""
    try:
        text = value.python_value().as_py()
    except Exception as error:
        raise TypeError(f"fyke_scan: {value} is no literal: give texts") from error
    if not isinstance(text, str):
        raise TypeError(f"fyke_scan: {text!r} is no text: give a database and URIs")
    return text


def _scan(database: Any, *uris: Any) -> Any:
    """The table of a scan of this process."""
    import pyarrow.dataset as dataset

    path = _text(database)
    if not uris:
        raise ValueError("fyke_scan: there is nothing to scan: give URIs after the database")
    plan = make_plan(map(_text, uris), path, load(path).max_len)
    reader = pyarrow.RecordBatchReader.from_batches(schema(), local.run(plan, 1))
    return Table(dataset.InMemoryDataset(reader))


def register(context: SessionContext) -> None:
    """Makes the functions known to a session."""
    functions: list[tuple[str, Any, Any]] = [
        ("fyke_contains_any", fyke.contains_any, pyarrow.bool_()),
        ("fyke_count", fyke.count_matches, pyarrow.uint64()),
        ("fyke_find", fyke.find_many, _MATCHES),
    ]
    takes = [pyarrow.string(), pyarrow.string()]
    for name, function, kind in functions:
        context.register_udf(udf(with_database(function), takes, kind, "immutable", name))
    context.register_udtf(udtf(_scan, "fyke_scan"))
