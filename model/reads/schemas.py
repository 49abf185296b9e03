"""The columns of a table over time, as a number: how many were added so far (each change adds one, that may be null).

A change is an instant of its own, and what it says is there before that: from the time that it took under the lock on,
the table has the column. Whoever opened the table before goes on without it. `schemas` are those times.

    what a read shows   of a snapshot the columns of now; as of a time those that the table had then
    what a row has      the columns that its writer knew, of those the ones that every base file on its way has kept
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from ..merging.fold import Fold, logs_of
from ..protocol import Protocol
from ..table import Altered, Log, Table, Write


def had_at(schemas: Iterable[int], time: float) -> int:
    """How many columns a table had been given by a time."""
    return sum(since <= time for since in schemas)


def shown_at(table: Table, time: float, protocol: Protocol) -> int:
    """How many of them a read as of `time` shows; inf: a snapshot."""
    if protocol.columns_shown == "of_now":
        return len(table.schemas)
    if protocol.columns_shown == "of_time":
        return had_at(table.schemas, time)
    commits: list[Write | Altered] = [*table.writes, *table.altered]
    done = (each for each in commits if each.completed is not None and each.completed <= time)
    return max(((each.requested, each.columns) for each in done), default=(0, 0))[1]


def kept_of(shape: Fold, log: Log) -> float:
    """How many columns of a log's rows are left in what a fold reads; those of a log itself are all there."""
    if log in shape.logs:
        return inf
    for part in (*((shape.base,) if shape.base else ()), *(each for each in shape.logs if isinstance(each, Fold))):
        if log in logs_of(part):
            return min(inf if part.columns is None else part.columns, kept_of(part, log))
    return 0


def told(value: str, own: float, shown: int) -> str:
    """A row's value in each of the columns that are shown, of which it has its own: `w1.1 c1:w1.1 c2:-`."""
    return " ".join((value, *(f"c{n}:{value if n <= own else '-'}" for n in range(1, shown + 1))))


def columns_in(table: Table, schemas: tuple[int, ...], published: Iterable[Any]) -> Table:
    """The table with its columns, and the commits that say so."""
    return table._replace(schemas=schemas, altered=tuple(each for each in published if isinstance(each, Altered)))


def columns_of(writes: Iterable[Write], log: Log) -> int:
    """How many columns the writer of a log knew."""
    return next((write.columns for write in writes if write.requested == log[0]), 0)
