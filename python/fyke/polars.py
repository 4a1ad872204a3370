"""Expressions for Polars, in the namespace `fyke`: `import fyke.polars`.

    frame.filter(pl.col("text").fyke.contains_any(patterns))

They are a plugin: Polars runs them in its own threads and without the GIL, in lazy and streaming
queries too. Patterns are a list or a `fyke.Searcher`; keywords are those of `Searcher`, such as
`match_kind="leftmost-longest"` and `nocase=True`. With `whole_words=True` only matches count that
have no letter, digit or `_` beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
from polars.plugins import register_plugin_function

import fyke
from fyke import _fyke
from fyke._columns import searcher_of

# The extension module is the plugin.
_PLUGIN = Path(_fyke.__file__)


@polars.api.register_expr_namespace("fyke")
class Expressions:
    """What `expression.fyke` gives."""

    def __init__(self, expression: polars.Expr) -> None:
        self._expression = expression

    def _call(
        self,
        name: str,
        searcher: fyke.Searcher,
        *,
        overlapping: bool = True,
        whole_words: bool = False,
        positions: str = "bytes",
        replacement: bytes | None = None,
        replacements: dict[int, bytes] | None = None,
    ) -> polars.Expr:
        # The database goes with the expression, which may be sent to another process.
        arguments = {
            "database": searcher.to_bytes(),
            "threads": searcher.threads,
            "overlapping": overlapping,
            "whole_words": whole_words,
            "chars": positions == "chars",
            "replacement": replacement,
            "replacements": replacements or {},
        }
        return register_plugin_function(
            plugin_path=_PLUGIN,
            function_name=name,
            args=[self._expression],
            kwargs=arguments,
            is_elementwise=True,
        )

    def contains_any(
        self, patterns: Any, *, whole_words: bool = False, **settings: Any
    ) -> polars.Expr:
        """Whether each row has a match. Null stays null."""
        searcher = searcher_of(patterns, settings)
        return self._call("contains_any", searcher, whole_words=whole_words)

    def count_matches(
        self,
        patterns: Any,
        *,
        overlapping: bool = True,
        whole_words: bool = False,
        **settings: Any,
    ) -> polars.Expr:
        """The number of matches of each row. Null stays null."""
        searcher = searcher_of(patterns, settings)
        return self._call(
            "count_matches", searcher, overlapping=overlapping, whole_words=whole_words
        )

    def find_many(
        self,
        patterns: Any,
        *,
        overlapping: bool = True,
        whole_words: bool = False,
        positions: str = "bytes",
        **settings: Any,
    ) -> polars.Expr:
        """The matches of each row, as a list of (pattern, start, end). Null stays null."""
        searcher = searcher_of(patterns, settings)
        # An empty column: only the arguments are checked.
        fyke.find_many([], searcher, positions=positions)
        return self._call(
            "find_many",
            searcher,
            overlapping=overlapping,
            whole_words=whole_words,
            positions=positions,
        )

    def extract_first(
        self, patterns: Any, *, whole_words: bool = False, **settings: Any
    ) -> polars.Expr:
        """What the first match of each row matched. Null without one."""
        searcher = searcher_of(patterns, settings)
        return self._call("extract_first", searcher, overlapping=False, whole_words=whole_words)

    def extract_many(
        self,
        patterns: Any,
        *,
        overlapping: bool = False,
        whole_words: bool = False,
        **settings: Any,
    ) -> polars.Expr:
        """What the matches of each row matched, as a list. Null stays null."""
        searcher = searcher_of(patterns, settings)
        return self._call(
            "extract_many", searcher, overlapping=overlapping, whole_words=whole_words
        )

    def replace_many(
        self, patterns: Any, replacements: Any, *, whole_words: bool = False, **settings: Any
    ) -> polars.Expr:
        """Each row with its matches replaced. Null stays null."""
        searcher = searcher_of(patterns, settings)
        if isinstance(replacements, Iterator):
            replacements = list(replacements)
        # An empty column: only the arguments are checked.
        fyke.replace_many([], searcher, replacements)
        if callable(replacements):
            return self._replace_by_function(searcher, replacements, whole_words)
        one, by_id = None, None
        if isinstance(replacements, (str, bytes)):
            one = _bytes(replacements)
        elif isinstance(replacements, dict):
            by_id = {int(id): _bytes(text) for id, text in replacements.items()}
        else:
            by_id = {id: _bytes(text) for id, text in enumerate(replacements)}
        return self._call(
            "replace_many",
            searcher,
            overlapping=False,
            whole_words=whole_words,
            replacement=one,
            replacements=by_id,
        )

    def _replace_by_function(
        self, searcher: fyke.Searcher, function: Any, whole_words: bool
    ) -> polars.Expr:
        """A function of Python cannot run in a plugin. The column must be one of strings."""

        def replace(rows: polars.Series) -> Any:
            if rows.dtype == polars.Binary:
                raise TypeError("a function replaces in strings: call fyke.replace_many")
            return fyke.replace_many(rows, searcher, function, whole_words=whole_words)

        return self._expression.map_batches(replace, polars.String, is_elementwise=True)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)
