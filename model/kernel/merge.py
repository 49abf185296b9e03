"""Merges the records of one key into one row. The winner may be a delete.

If the table merges by event time, the record with the greatest ordering value wins. If the table merges by commit time,
the record of the write that completed last wins.

RFC-66 does not say how a compaction handles deletes. With event-time ordering, a write with a smaller ordering value
than a delete may complete after the compaction of that delete. Without a tombstone in the base file, such a write would
undo the delete. With commit-time ordering, the write that completes last wins, so no tombstone is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from ..machine.marks import Marks
from .table import Log


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


class MergeRules:
    """The rule that decides how the records of a key are merged."""

    def merger(self, world: Any) -> Merger:
        """Return the merge rules of the table of a world."""
        event_time = world.merge_mode == "EVENT_TIME_ORDERING"
        return Merger(event_time, keeps_tombstones=event_time)


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


def keeps_tombstones(fold: Fold, merger: Merger) -> bool:
    """True if the base file of a merge tree retains deletes. The base files of a foreign engine may lack deletes."""
    return merger.keeps_tombstones and not (fold.base is not None and fold.base.drops_deletes)


def logs_of(fold: Fold) -> Iterator[Log]:
    """Yield every log file of a merge tree, including the logs that compactions merged into the base file."""
    if fold.base is not None:
        yield from logs_of(fold.base)
    for log in fold.logs:
        yield from logs_of(log) if isinstance(log, Fold) else (log,)
    if fold.files is not None:
        yield from fold.files.logs()


def evaluate(fold: Fold, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
    """Return the winning record of one key, which may be a delete; None if the key has no record. `record_of` returns
    the key's record in a log. The record of the base file is merged before the records of the logs. The exception is a
    delete in the base file under `logs_first` (see `Fold`).
    """
    if fold.files is not None:
        return fold.files.winner(record_of, merger)
    base = evaluate(fold.base, record_of, merger) if fold.base is not None else None
    if base is not None:
        # Before every log. Its place among the logs that were compacted does not count.
        base = base._replace(place=-1.0)
        if base.deleted and not keeps_tombstones(fold, merger):
            base = None
    if (fold.logs_first or merger.logs_first) and base is not None and base.deleted:
        # Half a place, so that the delete comes between two logs and ties with none.
        base = base._replace(place=fold.logs_before_tombstones - 0.5)
    winner = base
    for place, log in enumerate(fold.logs):
        record, name = (evaluate(log, record_of, merger), None) if isinstance(log, Fold) else (record_of(log), log)
        if record is not None:
            record = Ranked(record.ordering, float(place), record.deleted, record.content, record.log or name)
            winner = merge(winner, record, merger.event_time)
    return winner if winner is None or _is_shown(fold, winner) else None


def _is_shown(fold: Fold, winner: Ranked) -> bool:
    return (fold.shown is None or winner.log in fold.shown) and (fold.deletes or not winner.deleted)


class Combination(Protocol):
    """Merges several records of a key into one row: column by column, or with a user-defined merge function."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that partial updates may set; () if every record is a whole row."""

    def read(self, fold: Fold, content: Callable[[Log], Any], merger: Merger, deletes: bool) -> Any:
        """Return the merged value of one key; None if the result of the query contains no row for the key."""

    def by_definition(self, logs: Iterable[Log], rows: Mapping[Log, Any], merger: Merger, deletes: bool) -> Any:
        """Return the expected value of one key: all its log records, merged in merge order. The expected value does not
        depend on file slices or base files.
        """

    def records_of(self, made: Any, records: Callable[[Log], Any], window: bool) -> Iterator[Any]:
        """Yield the records of one key that belong in the result of a query. If `window` is True, the query is
        incremental.
        """

    def merged_on(
        self, logs: tuple[Log, ...], rows: Mapping[Log, Any], state: Any, window: Any, merger: Merger
    ) -> Any:
        """Merge `window`, the result of an incremental query for one key, into `state`, an earlier value of the key."""


class Window(Protocol):
    """An incremental query that also reads base files. Records from base files and records from log files are merged by
    different rules.
    """

    def logs(self) -> Iterator[Log]:
        """Yield every log file whose records the incremental query merges."""

    def winner(self, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
        """Return the winning record of one key, which may be a delete. Return None if the query reads no record of the
        key.
        """

    def renamed(self, rename: Callable[[Fold], Fold]) -> Window:
        """Return a copy of the query in which each merge tree is replaced by the result of `rename`."""
