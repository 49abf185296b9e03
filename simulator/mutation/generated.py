"""The shape of a generated mutant."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple


class Place(NamedTuple):
    """What a mutant changes: an action of the table, or one of these lines of a file."""

    action: str = ""
    file: str = ""
    lines: range = range(0)


@dataclass(frozen=True, slots=True)
class Generated:
    """`name` says where and what, in words that survive other changes of the file; `operator` the kind of change.

    `applied()` is a context within which the model is the mutant. A search that never comes to `place` is, in the
    mutant, the same search; None: nobody knows where it is.
    """

    name: str
    operator: str
    applied: Callable[[], AbstractContextManager[None]]
    place: Place | None = None
