"""Pattern files, as the command `fyke` reads them."""

from __future__ import annotations

import os
import warnings
from typing import NamedTuple, Union

from fyke import _fyke

# Bad rules that an exception names.
_NAMED = 5


class Pattern(NamedTuple):
    """A pattern of a file."""

    #: Its position among the patterns of the file, from 0.
    id: int
    pattern: bytes
    #: Whether ASCII case is ignored.
    nocase: bool
    #: Where it comes from, such as `sid 7 (web.rules:12)`.
    origin: str


def read_patterns(
    path: Union[str, "os.PathLike[str]"],
    format: str = "lines",
    *,
    nocase: bool = False,
    skip_bad_rules: bool = False,
    commented_rules: bool = False,
) -> list[Pattern]:
    """The patterns of a file. A pattern that is repeated is left out, and its number with it."""
    rows, errors, notes = _fyke.read_patterns(path, format, nocase, commented_rules)
    if errors and not skip_bad_rules:
        more = [f"... and {len(errors) - _NAMED} more"] if len(errors) > _NAMED else []
        advice = "correct them, or skip them with skip_bad_rules"
        raise _fyke.BuildError("\n".join([*errors[:_NAMED], *more, advice]))
    for text in [*notes, *(f"{error}: the rule is skipped" for error in errors)]:
        warnings.warn(text, stacklevel=2)
    return [Pattern(*row) for row in rows]
