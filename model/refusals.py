"""Refusals of reads: which times a table does not answer, and the class of the refusal (docs/contract.md, ANSWER)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from .answers import BadInput, Cleaned, Kind
from .mechanisms.restores.rules import Restore, hides


class ReadBounds(NamedTuple):
    """What decides which times can be read.

    `settled`: the greatest time that is settled. `first`: when the first write completed; None before that. `horizon`:
    see `Model.horizon`. `pinned`: the times of savepoints, as of which reads are answered before the horizon as well.
    """

    settled: int
    first: int | None
    horizon: int = 0
    restores: tuple[Restore, ...] = ()
    pinned: frozenset[int] = frozenset()


def refusal_of(
    kind: Kind, times: Sequence[float], bounds: ReadBounds, requests: Container[float]
) -> BadInput | Cleaned | None:
    """Why a read is refused because of its times; None if it is not.

    `times`: see `Query.times`. `requests`: the requested times of the instants with data files, except those at which
    another instant completed.
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
        return BadInput(f"a read as of t{times[0]} is refused: no write had completed by then")
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
