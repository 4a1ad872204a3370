"""What pickled searchers are loaded with."""

from fyke._fyke import Searcher


def load_searcher(data: bytes, threads: int) -> Searcher:
    """The searcher of a database in memory."""
    return Searcher.from_bytes(data, threads=threads)
