"""Decides from the times of a read whether the table refuses it, and with which error (promise ANSWER in
docs/contract.md).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from .answers import BadInput, Cleaned, Kind
from .mechanisms.restores.rules import Restore, hides


class ReadBounds(NamedTuple):
    """Determines as of which times a table can be read.

    `settled` is the greatest time that can be read. `first` is the completion time of the table's first commit, which
    may have added a column only; None if there is no commit. `horizon` is the cleaning horizon (see `Model.horizon`).
    `pinned` contains the times of savepoints. A read as of the time of a savepoint is answered even if that time is
    before the horizon.
    """

    settled: int
    first: int | None
    horizon: int = 0
    restores: tuple[Restore, ...] = ()
    pinned: frozenset[int] = frozenset()


def refusal_of(
    kind: Kind, times: Sequence[float], bounds: ReadBounds, requests: Container[float]
) -> BadInput | Cleaned | None:
    """Return the error with which a read at `times` is refused; None if it is answered.

    `requests` contains the requested times of instants with data files, except those equal to a completion time. A read
    as of such a requested time is refused.
    """
    return _no_point_in_history(kind, times, bounds, requests) or _no_longer_retained(kind, times, bounds)


def _no_point_in_history(
    kind: Kind, times: Sequence[float], bounds: ReadBounds, requests: Container[float]
) -> BadInput | None:
    if unsettled := [time for time in times if time > bounds.settled]:
        return BadInput(f"a read of t{max(unsettled)} is refused: the greatest settled time is t{bounds.settled}")
    if kind != "as_of":
        return None
    if bounds.first is None or times[0] < bounds.first:
        return BadInput(f"a read as of t{times[0]} is refused: no commit had completed by then")
    if times[0] in requests:
        return BadInput(f"a read as of t{times[0]} is refused: that is the requested time of an instant")
    return None


def _no_longer_retained(kind: Kind, times: Sequence[float], bounds: ReadBounds) -> Cleaned | None:
    pinned = bounds.pinned if kind == "as_of" else ()
    if times and times[0] < bounds.horizon and times[0] not in pinned:
        return Cleaned(f"a read of t{times[0]} is refused: cleaning has published the horizon t{bounds.horizon}")
    for time in times:
        if undone := hides(bounds.restores, time):
            restore = f"the restore of t{undone.requested} went back to t{undone.at}"
            return Cleaned(f"a read of t{time} is refused: {restore}")
    return None
