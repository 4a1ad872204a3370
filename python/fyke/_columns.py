"""The column functions, for every library whose columns have the Arrow C interface."""

from __future__ import annotations

import sys
from typing import Any

from fyke import _fyke
from fyke._fyke import Searcher


def searcher_of(patterns: Any, settings: dict[str, Any]) -> Searcher:
    """Patterns as a searcher; a searcher stays what it is."""
    if not isinstance(patterns, Searcher):
        return Searcher(patterns, **settings)
    if settings:
        names = ", ".join(sorted(settings))
        raise TypeError(f"{names}: patterns is a Searcher, which has its settings already")
    return patterns


def _arrow(column: Any) -> Any:
    """The column as an object that the extension reads."""
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        return column
    # Arrow arrays within pandas, which are read without a copy.
    array = getattr(column, "array", None)
    return array if hasattr(array, "__arrow_array__") and _is_arrow(array) else column


def _is_arrow(array: Any) -> bool:
    return hasattr(array, "__arrow_c_stream__") or hasattr(array, "__arrow_c_array__")


def _as_library_of(column: Any, result: _fyke.Column) -> Any:
    """The result as a column of the library that the column comes from."""
    library = type(column).__module__.partition(".")[0]
    # A column of a library exists, so the library was imported.
    module: Any = sys.modules.get(library)
    if library == "polars" and isinstance(column, module.Series):
        return module.Series(result).alias(column.name)
    if library == "pyarrow":
        array = module.array(result)
        return module.chunked_array([array]) if isinstance(column, module.ChunkedArray) else array
    if library == "pandas" and isinstance(column, (module.Series, module.Index)):
        return _as_pandas(module, column, result)
    return result


def _as_pandas(pandas: Any, column: Any, result: _fyke.Column) -> Any:
    index = column.index if isinstance(column, pandas.Series) else None
    try:
        import pyarrow
    except ImportError:
        return pandas.Series(result.to_pylist(), index=index, name=column.name, dtype=object)
    array = pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array([pyarrow.array(result)]))
    return pandas.Series(array, index=index, name=column.name)


def contains_any(
    column: Any, patterns: Any, *, whole_words: bool = False, **settings: Any
) -> Any:
    """Whether each row has a match. Null stays null."""
    searcher = searcher_of(patterns, settings)
    return _as_library_of(column, _fyke.contains_any(_arrow(column), searcher, whole_words))


def count_matches(
    column: Any,
    patterns: Any,
    *,
    overlapping: bool = True,
    whole_words: bool = False,
    **settings: Any,
) -> Any:
    """The number of matches of each row. Null stays null."""
    searcher = searcher_of(patterns, settings)
    counts = _fyke.count_matches(_arrow(column), searcher, overlapping, whole_words)
    return _as_library_of(column, counts)


def find_many(
    column: Any,
    patterns: Any,
    *,
    overlapping: bool = True,
    whole_words: bool = False,
    positions: str = "bytes",
    **settings: Any,
) -> Any:
    """The matches of each row, as a list of (pattern, start, end). Null stays null."""
    searcher = searcher_of(patterns, settings)
    found = _fyke.find_many(_arrow(column), searcher, overlapping, whole_words, positions)
    return _as_library_of(column, found)


def extract_first(
    column: Any, patterns: Any, *, whole_words: bool = False, **settings: Any
) -> Any:
    """What the first match of each row matched. Null without one."""
    searcher = searcher_of(patterns, settings)
    return _as_library_of(column, _fyke.extract_first(_arrow(column), searcher, whole_words))


def extract_many(
    column: Any,
    patterns: Any,
    *,
    overlapping: bool = False,
    whole_words: bool = False,
    **settings: Any,
) -> Any:
    """What the matches of each row matched, as a list. Null stays null."""
    searcher = searcher_of(patterns, settings)
    parts = _fyke.extract_many(_arrow(column), searcher, overlapping, whole_words)
    return _as_library_of(column, parts)


def replace_many(
    column: Any,
    patterns: Any,
    replacements: Any,
    *,
    whole_words: bool = False,
    **settings: Any,
) -> Any:
    """Each row with its matches replaced. Null stays null."""
    searcher = searcher_of(patterns, settings)
    replaced = _fyke.replace_many(_arrow(column), searcher, replacements, whole_words)
    return _as_library_of(column, replaced)
