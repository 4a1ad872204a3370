"""Functions for DuckDB: `fyke.duckdb.register(connection)`.

    fyke_contains_any(column, database)   BOOLEAN: whether there is a match
    fyke_count(column, database)          UBIGINT: the number of matches
    fyke_find(column, database)           a list of STRUCT(pattern, start, end), in bytes

The database is the path of a file that `Searcher.save` or `fyke compile` wrote. It is loaded once.
DuckDB calls the functions with columns of Arrow. Null in, null out.
"""

from __future__ import annotations

from typing import Any

import duckdb

import fyke
from fyke._sql import with_database


def register(connection: duckdb.DuckDBPyConnection | None = None) -> None:
    """Makes the functions known to a connection, or to the default one."""
    target: Any = connection or duckdb.default_connection()
    match = duckdb.struct_type({"pattern": "UINTEGER", "start": "BIGINT", "end": "BIGINT"})
    functions: list[tuple[str, Any, Any]] = [
        ("fyke_contains_any", fyke.contains_any, "BOOLEAN"),
        ("fyke_count", fyke.count_matches, "UBIGINT"),
        ("fyke_find", fyke.find_many, duckdb.list_type(match)),
    ]
    for name, function, kind in functions:
        target.create_function(
            name,
            with_database(function),
            ["VARCHAR", "VARCHAR"],
            kind,
            type="arrow",
            null_handling="special",
        )
