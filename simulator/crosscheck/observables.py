"""What model and system must agree on, as plain values. Names of files, tokens and sizes may differ.

An observable is a name and two ways to get it: from the model's state and from the system.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from nbcc.model import Change, Query, Record
from nbcc.model.answers import Cleaned, Several, answer
from nbcc.model.promises.view import answers

from ..systems import System
from .symbols import Symbols

Batch = Mapping[tuple[int, int], Mapping[str, Record]]
"""What one write puts into its log files: (group, version) -> key -> record; the value names the write."""


class Observable(NamedTuple):
    """Something that can be looked at between any two steps."""

    name: str
    of_model: Callable[[Any, Any], tuple[Any, ...]]  # model, state
    of_system: Callable[[System], tuple[Any, ...]]
    says: Callable[[Symbols, Any], str]  # one entry in words


def model_timeline(model: Any, state: Any) -> tuple[Any, ...]:
    """``(action, state, requested, completed)`` of each instant, by requested time."""
    return tuple((i.action, i.state, i.requested, i.completed) for i in model.timeline(state))


def model_slices(model: Any, state: Any, as_of: int | None = None) -> tuple[Any, ...]:
    """``(group, barrier, base, logs)`` of each file slice, by group and barrier; now, or as they were at a time."""
    there = model.slices(state) if as_of is None else model.slices(state, as_of)
    found = [(s.group, s.barrier, s.base, tuple(s.logs)) for s in there]
    return tuple(sorted(found, key=lambda slice_: (slice_[0], slice_[1] or 0)))


EVERY_STEP: Final[list[Observable]] = [
    Observable("timeline", model_timeline, lambda system: system.timeline(), Symbols.instant),
    Observable("slices", model_slices, lambda system: system.slices(), Symbols.slice),
]


def model_rows(model: Any, state: Any, query: Query, data: Mapping[int, Batch]) -> tuple[Any, ...]:
    """The answer of a read as the system gives it, by key; a change log has two records a key; or `refused`."""
    try:
        return canonical_rows(model.rows(state, query, data))
    except Cleaned as error:
        return refused(error)


def refused(error: Exception) -> tuple[Any, ...]:
    """A refusal in place of rows: the class of the error, which model and system call by the same name."""
    return (("refused", type(error).__name__),)


def is_answer(rows: Any) -> bool:
    """Whether there are rows, if none at all, and no refusal in their place."""
    return isinstance(rows, tuple) and not (rows and rows[0][0] == "refused")


def reader_rows(model: Any, state: Any, reader: str, data: Mapping[int, Batch]) -> tuple[Any, ...]:
    """What a reader actor that has answered read: the table is made of the instants that it kept. Or `refused`.

    Of a consumer: the window that it has read last.
    """
    own = model.component(state, reader)
    if own.step == "refused":
        return refused(Cleaned())
    if reader in model.actors_of("consumer"):
        window = Query("incremental", after=own.after, until=own.until)
        return canonical_rows(model.window_rows(state, own.kept, window, data))
    table = next(table for name, _, table in answers(model, state) if name == reader)
    kept = answer(model.rules, table, model.world.groups, Query("snapshot"), 0, data, model.merger)
    return canonical_rows(kept)


def canonical_rows(rows: Mapping[Any, Any]) -> tuple[Any, ...]:
    """By key: ``(key, ordering, value, requested)``, the value of a delete is None; ``(key, op, before, after)``, where
    a row of a change is ``(ordering, value)`` or None. A key has several records in a window of partial updates.
    """
    return tuple((key, *cells) for key in sorted(rows) for cells in _entries(rows[key]))


def _entries(row: Record | Change | Several) -> list[tuple[Any, ...]]:
    if isinstance(row, Several):
        return sorted((_cells(record) for record in row.records), key=lambda cells: (cells[2], cells[1] is None))
    return [_cells(row)]


def _cells(row: Record | Change) -> tuple[Any, ...]:
    if isinstance(row, Record):
        return (row.ordering, None if row.deleted else row.value, row.requested)
    op = "i" if row.before is None else "d" if row.after is None else "u"
    return (op, *(None if record is None else (record.ordering, record.value) for record in row))


def final_queries(timeline: tuple[Any, ...], change_logs: bool = True, most_windows: int = 6) -> Iterator[Query]:
    """Every read that is compared when a history has ended: all as-of points, windows, and the read-optimised one.

    Incremental windows are all pairs of completion times (and the beginning, 0) while there are at most
    ``most_windows`` of them, else the consecutive ones and the full one; of change logs, which compose, always those.
    Whoever keeps the promises may make its change log from the keys that the window's writes touched, and no others; so
    under settings that break promises change logs are not compared.
    """
    ends = sorted(completed for action, _, _, completed in timeline if completed is not None and action != "savepoint")
    first = min((completed for action, _, _, completed in timeline if completed and action != "rollback"), default=None)
    for end in ends if first else ():
        if end >= first:  # before the first write a table has no rows, and engines may say so in an error
            yield Query("as_of", until=end)
    points = [0, *ends]
    if not ends:
        return
    every = list(itertools.combinations(points, 2))
    few = list(dict.fromkeys([*itertools.pairwise(points), (0, ends[-1])]))
    for after, until in every if len(every) <= most_windows else few:
        yield Query("incremental", after=after, until=until)
    for after, until in few if change_logs else ():
        yield Query("changes", after=after, until=until)
    yield Query("read_optimized")
