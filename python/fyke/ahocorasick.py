"""The names of the package pyahocorasick: `import fyke.ahocorasick as ahocorasick`.

The methods that walk the trie itself (`longest_prefix`, wildcards in `keys`, `dump`) are missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fyke._fyke import Searcher

EMPTY, TRIE, AHOCORASICK = 0, 1, 2
STORE_INTS, STORE_LENGTH, STORE_ANY = 10, 20, 30

_MISSING = object()


class Automaton:
    """Words with values, found by `iter`."""

    def __init__(self, store: int = STORE_ANY) -> None:
        if store not in (STORE_INTS, STORE_LENGTH, STORE_ANY):
            raise ValueError("store must be STORE_ANY, STORE_INTS or STORE_LENGTH")
        self.store = store
        self._values: dict[str, Any] = {}
        self._list: list[Any] = []
        self._all: Searcher | None = None
        self._longest: Searcher | None = None

    @property
    def kind(self) -> int:
        """EMPTY, TRIE before `make_automaton`, AHOCORASICK after it."""
        if self._all is not None:
            return AHOCORASICK
        return TRIE if self._values else EMPTY

    def _changed(self) -> None:
        self._all = self._longest = None

    def add_word(self, key: str, value: Any = _MISSING) -> bool:
        """Adds a word, or changes its value. Whether the word is new."""
        if not isinstance(key, str):
            raise TypeError(f"key is a {type(key).__name__}: give a str")
        if not key:
            return False
        is_new = key not in self._values
        self._values[key] = self._value(key, value)
        self._changed()
        return is_new

    def _value(self, key: str, value: Any) -> Any:
        if self.store == STORE_LENGTH:
            return len(key)
        if value is not _MISSING:
            return value
        if self.store == STORE_INTS:
            return len(self._values) + 1
        raise ValueError("a value is needed as the second argument")

    def remove_word(self, key: str) -> bool:
        """Removes a word. Whether there was one."""
        removed = self._values.pop(key, _MISSING) is not _MISSING
        if removed:
            self._changed()
        return removed

    def pop(self, key: str) -> Any:
        """Removes a word and returns its value."""
        value = self._values.pop(key)
        self._changed()
        return value

    def clear(self) -> None:
        """Removes all words."""
        self._values.clear()
        self._changed()

    def make_automaton(self, **settings: Any) -> None:
        """Compiles the words. The keywords are those of `fyke.Searcher`."""
        if self._values:
            words = list(self._values)
            self._list = list(self._values.values())
            # Both share nothing but the words, so the second one is compiled when it is needed.
            self._all = Searcher(words, **settings)
            self._longest = None
            self._settings = settings

    def _compiled(self) -> Searcher:
        if self._all is None:
            raise AttributeError("not an automaton yet: call make_automaton() first")
        return self._all

    def iter(self, string: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, Any]]:
        """Every occurrence, as (index of its last character, value)."""
        start, end, _ = slice(start, end).indices(len(string))
        searcher = self._compiled()
        part = string if (start, end) == (0, len(string)) else string[start:end]
        for word, _, stop in searcher.find_overlapping_iter(part):
            yield start + stop - 1, self._list[word]

    def iter_long(
        self, string: str, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        """The longest words from the left, which do not overlap.

        pyahocorasick misses some: it finds nothing in "ba" for the words "babb" and "a".
        """
        start, end, _ = slice(start, end).indices(len(string))
        self._compiled()
        if self._longest is None:
            words = list(self._values)
            self._longest = Searcher(words, match_kind="leftmost-longest", **self._settings)
        for word, _, stop in self._longest.find_iter(string[start:end]):
            yield start + stop - 1, self._list[word]

    def find_all(self, string: str, callback: Any, start: int = 0, end: int | None = None) -> None:
        """Calls a function with (index of the last character, value) for every occurrence."""
        for at, value in self.iter(string, start, end):
            callback(at, value)

    def get(self, key: str, default: Any = _MISSING) -> Any:
        """The value of a word."""
        value = self._values.get(key, default)
        if value is _MISSING:
            raise KeyError(key)
        return value

    def exists(self, key: str) -> bool:
        """Whether there is such a word."""
        return key in self._values

    def match(self, key: str) -> bool:
        """Whether a word begins with the key."""
        return any(word.startswith(key) for word in self._values)

    def keys(self) -> Iterator[str]:
        """The words."""
        return iter(list(self._values))

    def values(self) -> Iterator[Any]:
        """The values."""
        return iter(list(self._values.values()))

    def items(self) -> Iterator[tuple[str, Any]]:
        """The words with their values."""
        return iter(list(self._values.items()))

    def __iter__(self) -> Iterator[str]:
        return self.keys()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values
