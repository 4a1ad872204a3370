"""Column functions for Spark: `df.filter(fyke.spark.contains_any("text", searcher))`.

They are those of the package, as UDFs that Spark calls with columns of Arrow. The patterns are
compiled once, by the driver, and sent to the workers as a database. They need PySpark 4.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as spark_functions

import fyke
from fyke._columns import searcher_of


def _apply(call: Callable[[Any], Any], column: Any, kind: str, arrow_type: str) -> Column:
    # Spark would infer from type hints what kind of UDF it is.
    def run(values):  # type: ignore[no-untyped-def]
        import pyarrow

        return pyarrow.array(call(values)).cast(arrow_type)

    return spark_functions.arrow_udf(run, kind)(column)


def contains_any(column: Any, patterns: Any, **settings: Any) -> Column:
    """Whether each row has a match. Null stays null."""
    searcher = searcher_of(patterns, settings)
    return _apply(lambda rows: fyke.contains_any(rows, searcher), column, "boolean", "bool")


def count_matches(
    column: Any, patterns: Any, *, overlapping: bool = True, **settings: Any
) -> Column:
    """The number of matches of each row. Null stays null."""
    searcher = searcher_of(patterns, settings)

    def call(rows: Any) -> Any:
        return fyke.count_matches(rows, searcher, overlapping=overlapping)

    return _apply(call, column, "bigint", "int64")
