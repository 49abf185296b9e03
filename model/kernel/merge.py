"""Merges the records of one key into one row. The winner may be a delete.

If the table merges by event time, the record with the greatest ordering value wins. If the table merges by commit time,
the record of the write that completed last wins. The module `tombstones` decides whether a compaction retains a winning
delete in its base file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.marks import Marks
from .table import Log
from .tombstones import keeps_deletes, needs_tombstones

if TYPE_CHECKING:
    from ..combination import Combination, Window


class Ranked(NamedTuple):
    """One of the records that a merge combines for a key. `place` is the record's position in merge order."""

    ordering: int
    place: float
    deleted: bool
    content: Any
    log: Log | None = None  # its log file, set within a merge


class Merger(NamedTuple):
    """The merge rules of one table under one protocol. If `event_time` is True, the record with the greatest ordering
    value wins. If `keeps_tombstones` is True, compactions retain deletes. If `logs_first` is True, logs merge with each
    other first, and then with the base file. `combination` merges several records into one row; None if each record is
    a whole row.
    """

    event_time: bool
    keeps_tombstones: bool = True
    logs_first: bool = False
    combination: Combination | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that partial updates may set; () if every record is a whole row."""
        return self.combination.columns if self.combination else ()


def merger_of(world: Any) -> Merger:
    event_time = world.merge_mode == "EVENT_TIME_ORDERING"
    return Merger(event_time, keeps_tombstones=needs_tombstones(event_time))


def rank(record: Ranked, event_time: bool) -> tuple[float, ...]:
    """Return the sort key of a record; the record with the greatest sort key wins."""
    return (record.ordering, record.place) if event_time else (record.place,)


def merge(one: Ranked | None, other: Ranked | None, event_time: bool) -> Ranked | None:
    """Return the record that wins the merge. An absent record is None."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda record: rank(record, event_time))


def combined(records: Iterable[Any]) -> Any:
    """Return the record with the greatest ordering value. Writers refuse a batch with ties."""
    return max(records, key=lambda record: record.ordering)


class Fold(NamedTuple):
    """The merge tree of one file group: the base file, then the logs in merge order. A merge tree contains no rows.

    `base` is the merge tree of the compaction that wrote the base file. A nested `Fold` in `logs` is the merge tree of
    a log that a log compaction wrote. If `logs_first` is True, a delete in the base file is merged after the first
    `logs_before_tombstones` logs. If `shown` is not None, a winning record is returned only if one of the logs in
    `shown` contains the record. If `deletes` is False, a winning delete is not returned. `logs_first` and
    `drops_deletes` are True if a foreign engine ran the compaction and did not follow the table's merge rules. If
    `files` is not None, `files.winner` replaces all these rules: an incremental query then also reads base files.
    """

    base: Fold | None
    logs: tuple[Log | Fold, ...]
    logs_before_tombstones: int = 0
    shown: tuple[Log, ...] | None = None
    deletes: bool = True
    logs_first: bool = False
    drops_deletes: bool = False
    files: Window | None = None
    marks: Marks = ()


NOTHING = Fold(None, ())


def logs_of(shape: Fold) -> Iterator[Log]:
    """Yield every log file of a merge tree, including the logs that compactions merged into the base file."""
    if shape.base is not None:
        yield from logs_of(shape.base)
    for log in shape.logs:
        yield from logs_of(log) if isinstance(log, Fold) else (log,)
    if shape.files is not None:
        yield from shape.files.logs()


def evaluate(shape: Fold, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
    """Return the winning record of one key, which may be a delete; None if the key has no record. `record_of` returns
    the key's record in a log. The record of the base file is merged before the records of the logs. The exception is a
    delete in the base file under `logs_first` (see `Fold`).
    """
    if shape.files is not None:
        return shape.files.winner(record_of, merger)
    base = evaluate(shape.base, record_of, merger) if shape.base is not None else None
    if base is not None:
        base = base._replace(place=-1.0)
        if base.deleted and not keeps_deletes(shape, merger):
            base = None
    if (shape.logs_first or merger.logs_first) and base is not None and base.deleted:
        base = base._replace(place=shape.logs_before_tombstones - 0.5)
    winner = base
    for place, log in enumerate(shape.logs):
        record, name = (evaluate(log, record_of, merger), None) if isinstance(log, Fold) else (record_of(log), log)
        if record is not None:
            record = Ranked(record.ordering, float(place), record.deleted, record.content, record.log or name)
            winner = merge(winner, record, merger.event_time)
    return winner if winner is None or _is_shown(shape, winner) else None


def _is_shown(shape: Fold, winner: Ranked) -> bool:
    return (shape.shown is None or winner.log in shape.shown) and (shape.deletes or not winner.deleted)
