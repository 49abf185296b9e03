"""The observables: values, such as the timeline, that must be equal in the model and in the system. File names, write
tokens and sizes are not compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nbcc.model import Change, Query, Record
from nbcc.model.answers import BadInput, Cleaned, Several, answer
from nbcc.model.kernel.merge import combined
from nbcc.model.mechanisms.consumers import CONSUMER
from nbcc.model.mechanisms.queries import QUERIER
from nbcc.model.promises.view import answers

if TYPE_CHECKING:
    from .lockstep.systems import System
from .symbols import Symbols

Batch = Mapping[tuple[int, int], Mapping[str, Any]]
"""The rows of one write by log file: (group, version) -> key -> record. A record's value names the write.

A user's batch may hold several records of a key: then it has `Several` in the place of the record, in their order.
"""


def records_in(entry: Record | Several) -> tuple[Record, ...]:
    """Return the records of one key, in the order in which the batch contains them."""
    return entry.records if isinstance(entry, Several) else (entry,)


def as_written(batch: Batch) -> Batch:
    """Return the rows that a writer stores: for each key of the batch, the record with the greatest ordering value."""
    if not any(isinstance(entry, Several) for records in batch.values() for entry in records.values()):
        return batch
    return {
        file: {key: combined(records_in(entry)) for key, entry in records.items()}
        for file, records in batch.items()
    }


class Observable(NamedTuple):
    """A property of the table, such as its timeline, that is read from both the model and the system and compared after
    each step.
    """

    name: str
    of_model: Callable[[Any, Any], tuple[Any, ...]]  # model, state
    of_system: Callable[[System], tuple[Any, ...]]
    says: Callable[[Symbols, Any], str]  # one entry in words


def model_timeline(model: Any, state: Any) -> tuple[Any, ...]:
    """Return ``(action, state, requested, completed)`` for each instant, sorted by requested time."""
    return tuple((i.action, i.state, i.requested, i.completed) for i in model.timeline(state))


def model_slices(model: Any, state: Any, as_of: int | None = None) -> tuple[Any, ...]:
    """Return ``(group, barrier, base, logs)`` for each file slice, now or as of a time, sorted by group and barrier."""
    slices = model.slices(state) if as_of is None else model.slices(state, as_of)
    entries = [(s.group, s.barrier, s.base, tuple(s.logs)) for s in slices]
    return tuple(sorted(entries, key=lambda slice_: (slice_[0], slice_[1] or 0)))


EVERY_STEP: Final[list[Observable]] = [
    Observable("timeline", model_timeline, lambda system: system.timeline(), Symbols.instant),
    Observable("slices", model_slices, lambda system: system.slices(), Symbols.slice),
]


def model_rows(model: Any, state: Any, query: Query, data: Mapping[int, Batch]) -> tuple[Any, ...]:
    """Return the model's answer to a read in canonical form. If the model refuses the read, return the refusal."""
    try:
        return canonical_rows(model.rows(state, query, data))
    except (BadInput, Cleaned) as error:
        return refused(error)


def refused(error: Exception | str) -> tuple[Any, ...]:
    """Return the value that represents a refused read: the name of its error class. Model and system have the same
    class names.
    """
    return (("refused", error if isinstance(error, str) else type(error).__name__),)


def is_answer(rows: Any) -> bool:
    """True if an answer consists of rows (possibly none); false if the read was refused."""
    return isinstance(rows, tuple) and not (rows and rows[0][0] == "refused")


def reader_rows(model: Any, state: Any, reader: str, data: Mapping[int, Batch]) -> tuple[Any, ...]:
    """Return the rows that a reader in the model returns, computed from the instants that the reader has listed. For a
    refused read, return the value of `refused`.

    For a consumer (incremental reader), return the rows of its latest incremental read. For a querier (an actor that
    runs arbitrary reads), return the rows of its latest query.
    """
    own = model.component(state, reader)
    if reader in model.actors_of(QUERIER):
        return refused(own.refusal) if own.refusal else query_rows(model, own, data)
    if own.step == "refused":
        return refused(Cleaned())
    if reader in model.actors_of(CONSUMER):
        window = Query("incremental", after=own.after, until=own.until)
        return canonical_rows(model.window_rows(state, own.kept, window, data))
    table = next(table for name, _, table in answers(model, state) if name == reader)
    rows = answer(model.rules, table, model.world.groups, Query("snapshot"), 0, data, model.merger)
    return canonical_rows(rows)


def query_rows(model: Any, own: Any, data: Mapping[int, Batch]) -> tuple[Any, ...]:
    """Return the answer to the newest query of a querier, an actor that runs arbitrary reads."""
    return canonical_rows(answer(model.rules, own.table, model.world.groups, own.query, 0, data, model.merger))


def canonical_rows(rows: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return the rows of an answer as tuples sorted by key, so that answers can be compared.

    A record becomes ``(key, ordering, value, requested)``; the value of a delete is None. A change becomes ``(key, op,
    before, after)``, where before and after are ``(ordering, value)`` or None. An incremental read of partial updates
    can return several records of one key.
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
    """Yield the reads that are compared at the end of a history: as-of, incremental, change-log and read-optimised
    reads.

    The basic time ranges are the full range, which begins at 0, and each range from one completion time to the next.
    Change-log reads cover the basic ranges. Incremental reads cover the range between every two times, or only the
    basic ranges if there are more than ``most_windows`` ranges. ``change_logs=False`` omits change-log reads, which may
    be wrong under protocols that break promises.
    """
    ends = sorted(completed for action, _, _, completed in timeline if completed is not None and action != "savepoint")
    first = min((completed for action, _, _, completed in timeline if completed and action != "rollback"), default=None)
    for end in ends if first else ():
        if end >= first:  # before the first write an engine may refuse instead of returning no row
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


LONG_AFTER: Final = 1000
"""How long after the newest time a time in the future is, in ticks."""


def other_queries(timeline: tuple[Any, ...], settled: int, most: int = 4) -> Iterator[Query]:
    """Yield as-of, incremental and change-log reads at times other than completion times: requested times, times before
    the first write, and future times.

    A write can no longer complete at or before the time ``settled``. The times of at most ``most`` as-of reads are
    evenly distributed between 1 and ``settled``.
    """
    ends = {completed for _, _, _, completed in timeline}
    times = [time for time in range(1, settled + 1) if time not in ends]
    for time in times[len(times) % 2 :: max(1, -(-len(times) // most))]:
        yield Query("as_of", until=time)
    yield Query("as_of", until=settled + LONG_AFTER)
    yield Query("incremental", after=settled, until=settled + LONG_AFTER)
    if times:
        yield Query("incremental", after=times[len(times) // 2], until=times[-1])
        yield Query("changes", after=times[0], until=times[len(times) // 2])
