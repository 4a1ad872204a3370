"""The names of the package ahocorasick_rs: `from fyke.ahocorasick_rs import AhoCorasick`."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

from fyke._fyke import Searcher


class MatchKind(enum.Enum):
    """Which of several overlapping matches are reported."""

    Standard = "standard"
    LeftmostFirst = "leftmost-first"
    LeftmostLongest = "leftmost-longest"


MATCHKIND_STANDARD = MatchKind.Standard
MATCHKIND_LEFTMOST_FIRST = MatchKind.LeftmostFirst
MATCHKIND_LEFTMOST_LONGEST = MatchKind.LeftmostLongest


class Implementation(enum.Enum):
    """The automata of ahocorasick_rs. fyke takes them and chooses an engine itself."""

    NoncontiguousNFA = "noncontiguous-nfa"
    ContiguousNFA = "contiguous-nfa"
    DFA = "dfa"


class _Finder:
    def __init__(self, patterns: Iterable[Any], matchkind: MatchKind) -> None:
        self._standard = matchkind is MatchKind.Standard
        self._searcher = Searcher(patterns, match_kind=matchkind.value)

    def _check(self, overlapping: bool) -> None:
        if overlapping and not self._standard:
            raise ValueError("overlapping=True needs matchkind=MatchKind.Standard")

    def find_matches_as_indexes(
        self, haystack: Any, overlapping: bool = False
    ) -> list[tuple[int, int, int]]:
        """The matches as (index of the pattern, start, end)."""
        self._check(overlapping)
        return self._searcher.find_matches_as_indexes(haystack, overlapping)


class AhoCorasick(_Finder):
    """Searches str for several str."""

    def __init__(
        self,
        patterns: Iterable[str],
        matchkind: MatchKind = MatchKind.Standard,
        store_patterns: bool | None = None,
        implementation: Implementation | None = None,
    ) -> None:
        # Patterns are always stored once, in the compiled set.
        del store_patterns, implementation
        super().__init__(patterns, matchkind)

    def find_matches_as_strings(self, haystack: str, overlapping: bool = False) -> list[str]:
        """The matched strings."""
        self._check(overlapping)
        return self._searcher.find_matches_as_strings(haystack, overlapping)


class BytesAhoCorasick(_Finder):
    """Searches bytes for several bytes."""

    def __init__(
        self,
        patterns: Iterable[Any],
        matchkind: MatchKind = MatchKind.Standard,
        implementation: Implementation | None = None,
    ) -> None:
        del implementation
        super().__init__(patterns, matchkind)
