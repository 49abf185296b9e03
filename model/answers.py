"""Computes the rows that each kind of query returns, from the file slices of `kernel/reads.py` and the rows in `data`.

`data` has three levels: requested time of a write -> (file group, log version) -> key -> record. A key is opaque and
belongs to one file group. If partitions can contain equal record keys, a key must include its partition.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple, get_args

from .kernel.merge import Fold, Merger, Ranked, evaluate, logs_of
from .kernel.reads import ReadRules, changes, read_optimized
from .kernel.table import Log, Table

Kind = Literal["snapshot", "as_of", "incremental", "changes", "read_optimized"]


@dataclass(frozen=True, slots=True)
class Query:
    """One query of the table. `until` is the time of an as-of read, or the end of an incremental window. `after` is the
    exclusive start of an incremental window; None means 0.
    """

    kind: Kind = "snapshot"
    after: int | None = None
    until: int | None = None

    @property
    def begins(self) -> int | None:
        """The oldest time on which the answer depends: the start of an incremental window, or the time of an as-of
        read. The result is None for a query that reads the current table.
        """
        if self.kind in ("incremental", "changes"):
            return self.after or 0
        return self.until if self.kind == "as_of" else None

    @property
    def times(self) -> tuple[int, ...]:
        """The times stated in the query: the time of an as-of read, or the start and end of an incremental window."""
        stated = (self.until,) if self.kind == "as_of" else (self.begins, self.until)
        return tuple(time for time in stated if time is not None)


class Record(NamedTuple):
    """A row version or a delete. In an answer, `requested` is the requested time of the write that wrote the row.

    `sets` names the columns set by a partial update; each of them gets the value `value`. In the answer of a table with
    partial updates, `value` lists the value of each column.
    """

    ordering: int
    value: Any
    deleted: bool = False
    requested: int | None = None
    sets: tuple[str, ...] = ()


class Change(NamedTuple):
    """One row of a change log: the row of a key before and after the window. `before` is None if the key has no row at
    the start of the window. `after` is None if the key has no row at the end of the window.
    """

    before: Record | None
    after: Record | None


class Several(NamedTuple):
    """Several records of one key, returned by an incremental read of a table with partial updates or a merge function.
    """

    records: tuple[Record, ...]


Key = Hashable
Data = Mapping[int, Mapping[tuple[int, int], Mapping[Any, Record]]]


class Cleaned(ValueError):
    """Raised if a read's time is before the cleaning horizon, or if a file that the read needs has been deleted."""


class BadInput(ValueError):
    """Raised if a read's time is later than the settled time, earlier than the first commit, or equal to an instant's
    requested time.
    """


class NoAnswer(ValueError):
    """Raised if the protocol refuses a read. For a given reason, all systems compared by the simulator raise `NoAnswer`
    with the same message.
    """


PENDING = "as of a time at or after the request of a pending write"


class AnswerRules(ReadRules):
    """The rule that converts the winning record of a key to a row of the answer."""

    def shown_row(self, table: Table, query: Query) -> Callable[[Fold, Ranked], Record]:
        """Return the function that converts a winning record. By default, it returns the record as it was written."""

        def show(fold: Fold, winner: Ranked) -> Record:
            record: Record = winner.content
            return record

        return show


def answer(
    rules: AnswerRules, table: Table, groups: int, query: Query, settled: int, data: Data, merger: Merger
) -> dict[Key, Record | Change | Several]:
    """Return the answer to a query: a mapping from each key to its row. A query for a change log maps each changed key
    to a `Change`. The answer to an incremental query also contains deletes, as records whose field `deleted` is True.

    An incremental query returns `Several` for a key if the table merges several records into one row. A query without
    an end time ends at `settled`.

    Raises:
        NoAnswer: the protocol refuses the read.
    """
    window = (query.after or 0, settled if query.until is None else query.until)
    if query.kind == "as_of" and rules.is_refused(table, window[1]):
        raise NoAnswer(PENDING)
    rows: dict[Key, Record | Change | Several] = {}
    show = rules.shown_row(table, query)
    for group in range(groups):
        rows.update(_in_group(rules, table, query.kind, window, Lookup(data, group, merger, show)))
    return rows


class Lookup:
    """Computes the rows of one file group from a `Fold` (the merge tree of its base and log files)."""

    def __init__(self, data: Data, group: int, merger: Merger, show: Callable[[Fold, Ranked], Record]) -> None:
        self.data, self.group, self.merger, self.show = data, group, merger, show

    def file(self, log: Log) -> Mapping[Any, Record]:
        return self.data.get(log[0], {}).get((self.group, log[1]), {})

    def rows(self, fold: Fold, deletes: bool = False) -> dict[Key, Record]:
        """Return the row of each key after merging the base and log files in `fold`. If `deletes` is True, keys whose
        winning record is a delete are included.
        """
        keys = {key for log in logs_of(fold) for key in self.file(log)}
        if self.merger.combination:
            return {key: row for key in sorted(keys, key=str) for row in self._combined(fold, key, window=False)}
        winners = ((key, evaluate(fold, self._record_of(key), self.merger)) for key in sorted(keys, key=str))
        return {key: self.show(fold, best) for key, best in winners if best and (deletes or not best.deleted)}

    def window(self, fold: Fold) -> Mapping[Key, Record | Several]:
        if not self.merger.combination:
            return self.rows(fold, deletes=True)
        keys = sorted({key for log in logs_of(fold) for key in self.file(log)}, key=str)
        rows = {key: Several(tuple(self._combined(fold, key, window=True))) for key in keys}
        return {key: several for key, several in rows.items() if several.records}

    def _combined(self, fold: Fold, key: Key, window: bool) -> Iterator[Record]:
        combination = self.merger.combination
        assert combination is not None, "a row of one record needs no combination"
        row = combination.read(fold, lambda log: self.file(log).get(key), self.merger, deletes=window)
        if row is None:
            return iter(())
        return combination.records_of(row, lambda log: self.file(log)[key], window)

    def _record_of(self, key: Key) -> Callable[[Log], Ranked | None]:
        def record_of(log: Log) -> Ranked | None:
            record = self.file(log).get(key)
            if record is None:
                return None
            return Ranked(record.ordering, 0, record.deleted, record._replace(requested=log[0]))

        return record_of


def _in_group(
    rules: ReadRules, table: Table, kind: str, window: tuple[float, float], lookup: Lookup
) -> Iterator[tuple[Key, Record | Change | Several]]:
    group = lookup.group
    after, until = window
    match kind:
        case "snapshot":
            yield from lookup.rows(rules.as_of(table, group, inf)).items()
        case "as_of":
            yield from lookup.rows(rules.as_of(table, group, until)).items()
        case "read_optimized":
            yield from lookup.rows(read_optimized(rules, table, group, inf)).items()
        case "incremental":
            yield from lookup.window(rules.incremental(table, group, after, until)).items()
        case "changes":
            before, now = map(lookup.rows, changes(rules, table, group, after, until))
            for key in sorted(before.keys() | now.keys(), key=str):
                change = Change(before.get(key), now.get(key))
                if not _same(change):
                    yield key, change
        case _:
            raise ValueError(f"unknown kind of query {kind!r}; known: {', '.join(KINDS)}")


KINDS = get_args(Kind)


def _same(change: Change) -> bool:
    if change.before is None or change.after is None:
        return change.before is change.after
    return change.before._replace(requested=None) == change.after._replace(requested=None)
