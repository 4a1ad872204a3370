"""fyke finds every occurrence of every pattern of a set, in any amount of data.

>>> import fyke
>>> searcher = fyke.Searcher(["he", "she", "his", "hers"])
>>> searcher.count("ushers")
3
>>> list(searcher.scan("ushers"))
[(1, 1, 4), (0, 2, 4), (3, 2, 6)]

docs/python.md of the repository describes every call.
"""

from fyke._columns import (
    contains_any,
    count_matches,
    extract_first,
    extract_many,
    find_many,
    replace_many,
)
from fyke._database import Database
from fyke._fyke import (
    BuildError,
    Column,
    DatabaseError,
    Matches,
    Searcher,
    Stream,
    __version__,
    engines,
)
from fyke._patterns import Pattern, read_patterns

__all__ = [
    "BuildError",
    "Column",
    "Database",
    "DatabaseError",
    "Matches",
    "Pattern",
    "Searcher",
    "Stream",
    "__version__",
    "contains_any",
    "count_matches",
    "engines",
    "extract_first",
    "extract_many",
    "find_many",
    "read_patterns",
    "replace_many",
]
