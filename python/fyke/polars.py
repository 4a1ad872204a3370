"""Expressions for Polars, in the namespace `fyke`: `import fyke.polars`.

    frame.filter(pl.col("text").fyke.contains_any(patterns))

They run in lazy and streaming queries too. Patterns are a list or a `fyke.Searcher`; keywords are
those of `Searcher`, such as `match_kind="leftmost-longest"` and `nocase=True`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars

import fyke
from fyke._columns import searcher_of

_MATCH = polars.Struct(
    {"pattern": polars.UInt32, "start": polars.Int64, "end": polars.Int64},
)


@polars.api.register_expr_namespace("fyke")
class Expressions:
    """What `expression.fyke` gives."""

    def __init__(self, expression: polars.Expr) -> None:
        self._expression = expression

    def _map(self, function: Callable[[polars.Series], Any], kind: Any) -> polars.Expr:
        return self._expression.map_batches(function, kind, is_elementwise=True)

    def contains_any(self, patterns: Any, **settings: Any) -> polars.Expr:
        """Whether each row has a match. Null stays null."""
        searcher = searcher_of(patterns, settings)
        return self._map(lambda rows: fyke.contains_any(rows, searcher), polars.Boolean)

    def count_matches(
        self, patterns: Any, *, overlapping: bool = True, **settings: Any
    ) -> polars.Expr:
        """The number of matches of each row. Null stays null."""
        searcher = searcher_of(patterns, settings)

        def count(rows: polars.Series) -> Any:
            return fyke.count_matches(rows, searcher, overlapping=overlapping)

        return self._map(count, polars.UInt64)

    def find_many(
        self,
        patterns: Any,
        *,
        overlapping: bool = True,
        positions: str = "bytes",
        **settings: Any,
    ) -> polars.Expr:
        """The matches of each row, as a list of (pattern, start, end). Null stays null."""
        searcher = searcher_of(patterns, settings)

        def find(rows: polars.Series) -> Any:
            return fyke.find_many(rows, searcher, overlapping=overlapping, positions=positions)

        return self._map(find, polars.List(_MATCH))

    def extract_first(self, patterns: Any, **settings: Any) -> polars.Expr:
        """What the first match of each row matched. Null without one."""
        searcher = searcher_of(patterns, settings)
        return self._map(lambda rows: fyke.extract_first(rows, searcher), polars.String)

    def extract_many(
        self, patterns: Any, *, overlapping: bool = False, **settings: Any
    ) -> polars.Expr:
        """What the matches of each row matched, as a list. Null stays null."""
        searcher = searcher_of(patterns, settings)

        def extract(rows: polars.Series) -> polars.Series:
            found = fyke.find_many(rows, searcher, overlapping=overlapping)
            return _matched(rows, found)

        return self._map(extract, polars.List(polars.String))

    def replace_many(self, patterns: Any, replacements: Any, **settings: Any) -> polars.Expr:
        """Each row with its matches replaced. Null stays null."""
        searcher = searcher_of(patterns, settings)

        def replace(rows: polars.Series) -> Any:
            return fyke.replace_many(rows, searcher, replacements)

        return self._map(replace, polars.String)


def _matched(rows: polars.Series, found: polars.Series) -> polars.Series:
    """The matched parts of each row."""
    parts = [
        None
        if matches is None
        else [text.encode()[m["start"] : m["end"]].decode() for m in matches]
        for text, matches in zip(rows, found.to_list(), strict=True)
    ]
    return polars.Series(rows.name, parts, polars.List(polars.String))
